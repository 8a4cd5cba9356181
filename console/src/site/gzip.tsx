/** Compression of what visitors are sent. */
import type { Params } from '../kit/resource.ts';
import { SettingPanel, type SettingScreen } from '../kit/setting.tsx';
import { t } from '../kit/text.ts';
import { bytes } from '../kit/units.ts';

const gzip: SettingScreen = {
  name: 'gzip',
  level: 'site',
  read: 'GET /{area}/site/{siteID}/setting/gzip',
  write: 'PUT /{area}/site/{siteID}/setting/gzip',
  fields: [
    { name: 'enabled', kind: 'switch', help: 'compression' },
    { name: 'types', kind: 'lines', help: 'mediaTypes' },
    { name: 'minLength', kind: 'number', unit: 'bytes', help: 'minLength' },
    { name: 'level', kind: 'number', help: 'compressionLevel' },
  ],
  shown: { minLength: bytes },
  saved: () => t('message.compressionSuccess'),
};

export const Gzip = ({ params }: { params: Params }) => <SettingPanel setting={gzip} params={params} />;
