/** What operators see. A further folder is one line. */
import { areaOf } from './area.ts';
import { client as account } from '../account/screens.ts';
import { client as analytics } from '../analytics/screens.ts';
import { client as node } from '../node/screens.ts';
import { client as protect } from '../protect/screens.ts';
import { client as resolution } from '../resolution/screens.ts';
import { client as site } from '../site/screens.ts';
import { client as system } from '../system/screens.ts';
import { client as traffic } from '../traffic/screens.ts';

export const screens = areaOf(
  'client',
  ['dashboard', 'nodeManage', 'dataAnalysis', 'trafficPkgManagement', 'systemManagement', 'userManagement'],
  [account, analytics, node, protect, resolution, site, system, traffic],
);
