/** Pages of what protects every site. */
import type { Screen } from '../kit/screens.ts';

export const client: readonly Screen[] = [
  {
    path: 'systemManagement/errorSetting',
    title: 'errorSetting',
    order: 60,
    call: 'GET /client/setting/errorPages',
    load: () => import('./error-setting.tsx'),
  },
];
