/** What sharing a site cannot do without. Who may not see the accounts cannot choose among them. */
import { ofArea } from '../kit/of-area.ts';

export const shareNeeds = [
  'GET /{area}/account/{id}/subs',
  ofArea({ user: 'POST /user/site/users', client: 'POST /client/site/users' }),
  ofArea({ user: 'DELETE /user/site/users', client: 'DELETE /client/site/users' }),
] as const;
