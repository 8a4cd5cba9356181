/** What the operator sets for the sites of all its zones: error pages, and how often visitors may ask. */
import { Page } from '../kit/page.tsx';
import type { Tab } from '../kit/screens.ts';
import { Tabs } from '../kit/tabs.tsx';
import { t } from '../kit/text.ts';
import { SystemErrorPages } from './error-pages.tsx';
import { SystemFrequencies } from './frequencies.tsx';

const tabs: readonly Tab[] = [
  { name: 'errorPages', order: 10, call: 'GET /client/setting/errorPages', Content: SystemErrorPages },
  { name: 'frequencies', order: 20, call: 'GET /client/setting/frequency', Content: SystemFrequencies },
];
const none = {};

export default function ErrorSetting() {
  return (
    <Page title={t('menu.errorSetting')}>
      <Tabs tabs={tabs} params={none} label={t('menu.errorSetting')} />
    </Page>
  );
}
