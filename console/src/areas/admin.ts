/** What the vendor sees. A further folder is one line. */
import { areaOf } from './area.ts';
import { admin as account } from '../account/screens.ts';
import { admin as licence } from '../licence/screens.ts';

export const screens = areaOf('admin', ['dashboard', 'licenses', 'offlineLicense', 'userManagement'], [account, licence]);
