/** What sharing a site cannot do without. Who may not see the accounts cannot choose among them. */
import { area } from '../kit/area.ts';

export const shareNeeds = [
  'GET /{area}/account/{id}/subs',
  area === 'user' ? 'POST /user/site/users' : 'POST /client/site/users',
  area === 'user' ? 'DELETE /user/site/users' : 'DELETE /client/site/users',
] as const;
