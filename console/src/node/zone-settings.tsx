/** What the nodes of a zone do towards visitors of all its sites. */
import { redirectStatuses } from '#contract/limits.ts';
import type { Tab } from '../kit/screens.ts';
import { settingPanel, type SettingOfLevels } from '../kit/setting.tsx';
import { tabContent, Tabs } from '../kit/tabs.tsx';
import { t } from '../kit/text.ts';
import { CanaryBanner } from './canary.tsx';
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
const proxyProtocol: SettingOfLevels = {
  name: 'proxyProtocol',
  at: { zone: '/client/zone/{id}/setting/proxyProtocol' },
  fields: [
    { name: 'networks', label: 'balancers', kind: 'lines', help: 'networks', isOptional: true, placeholder: '192.0.2.0/28' },
    { name: 'httpPort', label: 'balancerHTTP', kind: 'number', help: 'balancerPort', isOptional: true },
    { name: 'httpsPort', label: 'balancerHTTPS', kind: 'number', help: 'balancerPort', isOptional: true },
  ],
};
const forceSSLRedirectCode: SettingOfLevels = {
  name: 'forceSSLRedirectCode',
  at: { zone: '/client/zone/{id}/setting/forceSSLRedirectCode' },
  fields: [{ name: 'code', label: 'statusCode', kind: 'segments', values: redirectStatuses, help: 'forceSSLRedirectCode' }],
};

const resource: SettingOfLevels = {
  name: 'resource',
  at: { zone: '/client/zone/{id}/setting/resource' },
  fields: [
    { name: 'cpu', kind: 'number', unit: 'percent', help: 'resourceCPU' },
    { name: 'memory', kind: 'number', unit: 'percent', help: 'resourceMemory' },
    { name: 'disk', kind: 'number', unit: 'percent', help: 'resourceDisk' },
  ],
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
    name: 'resource',
    order: 25,
    call: 'GET /client/zone/{id}/setting/resource',
    Content: settingPanel(resource, 'zone'),
  },
  {
    name: 'proxyProtocol',
    order: 40,
    call: 'GET /client/zone/{id}/setting/proxyProtocol',
    Content: settingPanel(proxyProtocol, 'zone'),
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
      {id => (
        <>
          <CanaryBanner zoneID={id} />
          <Tabs key={id} tabs={tabs} params={{ id }} label={t('menu.zoneSetting')} />
        </>
      )}
    </OneZone>
  );
}
