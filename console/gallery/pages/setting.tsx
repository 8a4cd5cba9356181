import { SettingPanel, type SettingScreen } from '../../src/kit/setting.tsx';
import { bytes } from '../../src/kit/units.ts';
import { site } from '../fake.ts';
import type { Example } from '../pieces.ts';

const gzip: SettingScreen = {
  name: 'gzip',
  level: 'site',
  path: '/{area}/site/{siteID}/setting/gzip',
  fields: [
    { name: 'enabled', kind: 'switch', help: 'compression' },
    { name: 'types', kind: 'lines', help: 'mediaTypes' },
    { name: 'minLength', kind: 'number', unit: 'bytes', help: 'minLength' },
  ],
  shown: { minLength: bytes },
};
const panel = (siteID: number) => <SettingPanel setting={gzip} params={{ siteID }} />;

export default [
  { state: 'normal', show: () => panel(site.some) },
  {
    state: 'normal',
    note: { zh_TW: '沿用上層的設定', zh_CN: '沿用上层的设置', en_US: 'inherited' },
    show: () => panel(site.many),
  },
  { state: 'failed', show: () => panel(site.broken) },
  { state: 'long', show: () => panel(site.long) },
] satisfies Example[];
