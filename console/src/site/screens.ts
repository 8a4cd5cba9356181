/** Pages about sites, by area. */
import { type Screen, withTexts } from '../kit/screens.ts';

export const user: readonly Screen[] = [
  {
    path: 'sitesManagement/sites',
    title: 'sites',
    order: 10,
    call: 'GET /user/sites',
    load: withTexts('site', () => import('./sites.tsx').then(screen => ({ default: screen.UserSites }))),
  },
  {
    path: 'sitesManagement/sitesSetting/{-$id}/{-$name}',
    title: 'sitesSetting',
    order: 20,
    call: 'GET /user/site/{siteID}',
    hidden: true,
    below: 'sites',
    hasSections: true,
    load: () => import('./settings.tsx'),
  },
];

export const client: readonly Screen[] = [
  {
    path: 'nodeManage/sitesList',
    title: 'sites',
    order: 60,
    call: 'GET /client/sites',
    load: withTexts('site', () => import('./sites.tsx').then(screen => ({ default: screen.ClientSites }))),
  },
  {
    path: 'nodeManage/sitesSetting/{-$id}/{-$name}/{-$domainName}',
    title: 'sitesSetting',
    order: 70,
    call: 'GET /client/site/{siteID}',
    hidden: true,
    below: 'sites',
    hasSections: true,
    load: () => import('./settings.tsx'),
  },
];
