import { HistoryDrawer, RemovedDrawer } from '../../src/kit/history-drawers.tsx';
import HistoryPanel from '../../src/kit/history.tsx';
import { site } from '../fake.ts';
import type { Example } from '../pieces.ts';
import { blacklists, fields } from './list.tsx';

const resource = '/site/{siteID}/firewall/setting/blacklists';
const panel = (id: number) => (
  <HistoryPanel of={{ resource, id }} fields={fields} params={{ siteID: site.some }} onRestore={() => {}} />
);

export default [
  { state: 'normal', show: () => panel(site.some) },
  {
    state: 'normal',
    open: close => (
      <HistoryDrawer
        title="203.0.113.7"
        of={{ resource, id: site.some }}
        fields={fields}
        params={{ siteID: site.some }}
        onClose={close}
      />
    ),
  },
  {
    state: 'normal',
    note: { zh_TW: '已刪除的項目', zh_CN: '已删除的项目', en_US: 'rows that were removed' },
    open: close => <RemovedDrawer resource={blacklists as never} params={{ siteID: site.some }} onClose={close} />,
  },
  { state: 'empty', show: () => panel(site.none) },
  { state: 'loading', show: () => panel(site.never) },
  { state: 'failed', show: () => panel(site.broken) },
  { state: 'long', show: () => panel(site.long) },
] satisfies Example[];
