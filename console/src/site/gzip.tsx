/** Compression of what visitors are sent. */
import { settingPanel, type SettingOfLevels } from '../kit/setting.tsx';
import { t } from '../kit/text.ts';
import { bytes } from '../kit/units.ts';

const gzip: SettingOfLevels = {
  name: 'gzip',
  at: { site: '/{area}/site/{siteID}/setting/gzip' },
  fields: [
    { name: 'enabled', kind: 'switch', help: 'compression' },
    { name: 'types', kind: 'lines', help: 'mediaTypes' },
    { name: 'minLength', kind: 'number', unit: 'bytes', help: 'minLength' },
    { name: 'level', kind: 'number', help: 'compressionLevel' },
  ],
  shown: { minLength: bytes },
  saved: () => t('message.compressionSuccess'),
};

export const Gzip = settingPanel(gzip, 'site');
