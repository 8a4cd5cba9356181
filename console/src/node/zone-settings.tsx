/** What the nodes of a zone do towards visitors of all its sites. */
import { redirectStatuses } from '#contract/limits.ts';
import { settingPanel, type SettingOfLevels } from '../kit/setting.tsx';
import { t } from '../kit/text.ts';
import { OneZone } from './one-zone.tsx';

const http2: SettingOfLevels = {
  name: 'http2',
  at: { zone: '/client/zone/{id}/setting/http2' },
  fields: [{ name: 'enable', kind: 'switch', help: 'http2' }],
};
const forceSSLRedirectCode: SettingOfLevels = {
  name: 'forceSSLRedirectCode',
  at: { zone: '/client/zone/{id}/setting/forceSSLRedirectCode' },
  fields: [{ name: 'code', label: 'statusCode', kind: 'segments', values: redirectStatuses, help: 'forceSSLRedirectCode' }],
};

const Http2 = settingPanel(http2, 'zone');
const ForceSSLRedirectCode = settingPanel(forceSSLRedirectCode, 'zone');

export default function ZoneSettings() {
  return (
    <OneZone note={t('zoneSetting.note')} call="GET /client/zone/{id}/setting/http2">
      {id => (
        <div key={id}>
          <h2 className="section-title">{t('tab.http2')}</h2>
          <Http2 params={{ id }} />
          <h2 className="section-title">{t('tab.forceSSLRedirectCode')}</h2>
          <ForceSSLRedirectCode params={{ id }} />
        </div>
      )}
    </OneZone>
  );
}
