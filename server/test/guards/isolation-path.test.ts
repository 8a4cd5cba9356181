/** Rows of the same people, but below another site or domain, are unknown. */
import { test } from 'node:test';
import { isolated } from './isolated.ts';
import { stage, tokensOf } from './stage.ts';

const on = stage();

test('ids of the same people, but below another row of the path', async () => {
  const other = await on.rig.world('echo', on.mine.people);
  const tokens = tokensOf(on.mine);
  await isolated(
    on,
    {
      name: 'a row below another site or domain',
      mine: on.mine,
      theirs: other,
      token: area => tokens[area],
      only: (call, kind) => on.rig.isBelowPath(call, kind),
    },
    40,
  );
});
