/** What customers see. A further folder is one line. */
import { areaOf } from './area.ts';
import { user as account } from '../account/screens.ts';
import { user as analytics } from '../analytics/screens.ts';
import { user as site } from '../site/screens.ts';
import { user as system } from '../system/screens.ts';
import { user as traffic } from '../traffic/screens.ts';

export const screens = areaOf(
  'user',
  ['dashboard', 'userManagement', 'sitesManagement', 'dataAnalysis', 'trafficPkgManagement', 'systemManagement'],
  [account, analytics, site, system, traffic],
);
