/** Rows of another customer of the same operator are unknown. */
import { test } from 'node:test';
import { isolated } from './isolated.ts';
import { stage } from './stage.ts';

const on = stage();

test('ids of another customer of the same operator', async () => {
  const other = await on.rig.world('delta', { client: on.mine.people.client, admin: on.mine.people.admin });
  await isolated(
    on,
    {
      name: "a row of the operator's other customer",
      mine: on.mine,
      theirs: other,
      token: area => (area === 'user' ? on.mine.people.user.token : undefined),
      // what an operator tells its customers is for all of them
      only: (_call, kind) => typeof kind !== 'string' || !['zone', 'group', 'product', 'node', 'announcement'].includes(kind),
    },
    40,
  );
});
