/** Pages of what protects every site. */
import type { Screen } from '../kit/screens.ts';

export const client: readonly Screen[] = [
  {
    path: 'systemManagement/errorSetting',
    title: 'errorSetting',
    order: 60,
    call: { anyOf: ['GET /client/setting/errorPages', 'GET /client/setting/frequency'] },
    load: () => import('./error-setting.tsx'),
  },
];
