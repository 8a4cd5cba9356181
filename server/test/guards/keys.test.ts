/** A call is open to whoever holds exactly its key. */
import { test } from 'node:test';
import { keys } from './checks.ts';
import { clean, everybodys, stage, subAccounts } from './stage.ts';

const on = stage();

test('somebody without exactly that key, and somebody with that key alone', async () => {
  const { tokens, hold } = await subAccounts(on.rig, on.mine);
  clean(await keys(on.api, everybodys, tokens, hold));
});
