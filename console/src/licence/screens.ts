/** The vendor's pages about licences. */
import { type Screen, withTexts } from '../kit/screens.ts';

export const admin: readonly Screen[] = [
  {
    path: 'licenses',
    title: 'licenses',
    order: 10,
    call: 'GET /admin/license',
    load: withTexts('licence', () => import('./licenses.tsx')),
  },
  {
    path: 'offlineLicense',
    title: 'offlineLicense',
    order: 10,
    call: 'GET /admin/license/offlines',
    load: withTexts('licence', () => import('./offline.tsx')),
  },
];
