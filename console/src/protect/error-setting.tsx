/** What the operator sets for the sites of all its zones: error pages, and how often visitors may ask. */
import { Page } from '../kit/page.tsx';
import type { Tab } from '../kit/screens.ts';
import { tabContent, Tabs } from '../kit/tabs.tsx';
import { t } from '../kit/text.ts';

const tabs: readonly Tab[] = [
  {
    name: 'errorPages',
    order: 10,
    call: 'GET /client/setting/errorPages',
    Content: tabContent(async () => (await import('./error-pages.tsx')).SystemErrorPages),
  },
  {
    name: 'frequencies',
    order: 20,
    call: 'GET /client/setting/frequency',
    Content: tabContent(async () => (await import('./frequencies.tsx')).SystemFrequencies),
  },
];
const none = {};

export default function ErrorSetting() {
  return (
    <Page>
      <Tabs tabs={tabs} params={none} label={t('menu.errorSetting')} />
    </Page>
  );
}
