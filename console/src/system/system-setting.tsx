/** What an operator sets for all it has, in sections; each is seen by who may read it. */
import { Page } from '../kit/page.tsx';
import { Sections } from '../kit/sections.tsx';
import { t } from '../kit/text.ts';
import { sections } from './sections.ts';

const none = {};

export default function SystemSetting() {
  return (
    <Page>
      <Sections sections={sections} params={none} label={t('menu.systemSetting')} />
    </Page>
  );
}
