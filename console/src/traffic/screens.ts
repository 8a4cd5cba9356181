/** Pages about what may be used and what was, by area. */
import { type Screen, withTexts } from '../kit/screens.ts';

export const user: readonly Screen[] = [
  {
    path: 'trafficPkgManagement/trafficPkgList',
    title: 'trafficPkgList',
    order: 10,
    call: ['GET /user/traffic/monthlyUsages', 'GET /user/extraTrafficPlans'],
    load: withTexts('traffic', () => import('./own.tsx')),
  },
];
export const client: readonly Screen[] = [
  {
    path: 'trafficPkgManagement/trafficPkgList',
    title: 'trafficPkgList',
    order: 10,
    call: 'GET /client/extraTrafficPlans',
    load: withTexts('traffic', () => import('./plans.tsx')),
  },
  {
    path: 'trafficPkgManagement/trafficReport',
    title: 'trafficReport',
    order: 20,
    call: 'GET /client/traffic/monthlyUsages',
    load: withTexts('traffic', () => import('./report.tsx')),
  },
];
