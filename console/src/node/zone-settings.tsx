/** What the nodes of a zone do towards visitors of all its sites. */
import { redirectStatuses } from '#contract/limits.ts';
import type { Tab } from '../kit/screens.ts';
import { settingPanel, type SettingOfLevels } from '../kit/setting.tsx';
import { tabContent, Tabs } from '../kit/tabs.tsx';
import { t } from '../kit/text.ts';
import { OneZone } from './one-zone.tsx';

const http2: SettingOfLevels = {
  name: 'http2',
  at: { zone: '/client/zone/{id}/setting/http2' },
  fields: [{ name: 'enable', kind: 'switch', help: 'http2' }],
};
const http3: SettingOfLevels = {
  name: 'http3',
  at: { zone: '/client/zone/{id}/setting/http3' },
  fields: [{ name: 'enable', kind: 'switch', help: 'http3' }],
};
const forceSSLRedirectCode: SettingOfLevels = {
  name: 'forceSSLRedirectCode',
  at: { zone: '/client/zone/{id}/setting/forceSSLRedirectCode' },
  fields: [{ name: 'code', label: 'statusCode', kind: 'segments', values: redirectStatuses, help: 'forceSSLRedirectCode' }],
};

const tabs: readonly Tab[] = [
  { name: 'http2', order: 10, call: 'GET /client/zone/{id}/setting/http2', Content: settingPanel(http2, 'zone') },
  { name: 'http3', order: 15, call: 'GET /client/zone/{id}/setting/http3', Content: settingPanel(http3, 'zone') },
  {
    name: 'forceSSLRedirectCode',
    order: 20,
    call: 'GET /client/zone/{id}/setting/forceSSLRedirectCode',
    Content: settingPanel(forceSSLRedirectCode, 'zone'),
  },
  {
    name: 'zonePorts',
    order: 30,
    call: 'GET /client/zone/{id}/setting/ports',
    Content: tabContent(async () => (await import('./zone-ports.tsx')).ZonePorts),
  },
];

export default function ZoneSettings() {
  return (
    <OneZone note={t('zoneSetting.note')} call="GET /client/zone/{id}/setting/http2">
      {id => <Tabs key={id} tabs={tabs} params={{ id }} label={t('menu.zoneSetting')} />}
    </OneZone>
  );
}
