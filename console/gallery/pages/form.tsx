import { BatchForm } from '../../src/kit/batch-form.tsx';
import { ConflictPanel } from '../../src/kit/conflict.tsx';
import { ResourceForm } from '../../src/kit/form.tsx';
import type { Values } from '../../src/kit/resource.ts';
import { t } from '../../src/kit/text.ts';
import { ViewDrawer } from '../../src/kit/view-drawer.tsx';
import { site } from '../fake.ts';
import type { Example } from '../pieces.ts';
import { long, say, unbroken } from '../words.ts';
import { blacklists, fields } from './list.tsx';

const values = { ips: ['203.0.113.7', '2001:db8::/32'], blockType: 'deny', expiredAt: null, memo: 'office', enabled: true };
const form =
  (more: Values, props: { isReadOnly?: boolean } = {}) =>
  (close: () => void) => (
    <ResourceForm
      title={t('form.edit', { name: t('noun.blacklists') })}
      call="PUT /{area}/site/{siteID}/firewall/setting/blacklists"
      params={{ siteID: site.some }}
      fields={fields}
      values={{ ...values, ...more }}
      body={changed => ({ id: 1, ...changed })}
      isEdit
      history={{ resource: '/site/{siteID}/firewall/setting/blacklists', id: 1 }}
      success={t('message.updateSuccess')}
      onClose={close}
      {...props}
    />
  );
const row = (id: number, more: object = {}) => ({ ...values, id, ...more });
const side = (name: string, theirs: unknown, mine: unknown) => ({ name, label: name, theirs, mine, isMine: true });
const conflict = (text: string) => (
  <ConflictPanel
    conflict={{
      version: 4,
      now: {},
      by: 'ops@example.com',
      at: '2026-11-20T08:00:00Z',
      sides: [side('memo', text, 'office'), side('ips', ['203.0.113.7', '203.0.113.8'], ['203.0.113.9'])],
    }}
    fields={fields}
    isBusy={false}
    onSettle={() => {}}
    onBack={() => {}}
  />
);

export default [
  { state: 'normal', open: form({}) },
  { state: 'readOnly', open: form({}, { isReadOnly: true }) },
  {
    state: 'readOnly',
    note: { zh_TW: '沒有權限的人看到的內容', zh_CN: '没有权限的人看到的内容', en_US: 'what those see who may not change it' },
    open: close => (
      <ViewDrawer
        title="203.0.113.7"
        why={t('view.noRight')}
        row={row(1)}
        columns={blacklists.columns as never}
        fields={fields}
        values={values}
        params={{ siteID: site.some }}
        onClose={close}
      />
    ),
  },
  {
    state: 'invalid',
    note: { zh_TW: '儲存後顯示訊息', zh_CN: '保存后显示消息', en_US: 'saved, it says what is wrong' },
    open: form({ ips: ['300.1.1.1', 'not an address'] }),
  },
  { state: 'long', open: form({ memo: say(long), ips: [unbroken] }) },
  {
    state: 'many',
    note: { zh_TW: '多筆一起修改', zh_CN: '多条一起修改', en_US: 'several rows in one form' },
    open: close => (
      <BatchForm
        title={t('confirm.title', { verb: t('action.edit'), count: 12 })}
        call="PUT /{area}/site/{siteID}/firewall/setting/blacklists"
        params={{ siteID: site.some }}
        fields={fields.slice(1)}
        rows={Array.from({ length: 12 }, (_, id) => row(id, { memo: `memo ${id}`, enabled: id % 2 === 0 }))}
        valuesOf={one => ({ ...one })}
        success={t('message.updateSuccess')}
        onClose={close}
      />
    ),
  },
  {
    state: 'normal',
    note: { zh_TW: '兩個人同時修改', zh_CN: '两个人同时修改', en_US: 'two people changed it' },
    show: () => conflict('home'),
  },
  { state: 'long', show: () => conflict(`${say(long)} ${unbroken}`) },
] satisfies Example[];
