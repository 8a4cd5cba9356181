/** Who may call: everybody else is refused before anything of the body is read. */
import { test } from 'node:test';
import { sql } from 'kysely';
import { accountStates } from '#contract/states.ts';
import { brokenTokens, expiredTokens, otherAreas, stopped, strangers } from './checks.ts';
import { calls, clean, expiredToken, stage, subAccounts, tokensOf } from './stage.ts';

const on = stage();

test('a stranger is refused before anything of the body is read', async () => clean(await strangers(on.api, calls)));
test('a broken token', async () => clean(await brokenTokens(on.api, calls, `${on.mine.people.client.token}x`)));
test('an expired token', async () =>
  clean(await expiredTokens(on.api, calls, expiredToken(on.api, on.mine.people.client.token))));
test('somebody of another area', async () => clean(await otherAreas(on.api, calls, tokensOf(on.mine))));
test('an account that is stopped, whichever way', async () => {
  const { tokens, accounts } = await subAccounts(on.rig, on.mine);
  for (const status of accountStates.filter(one => one !== 'normal')) {
    await sql`update account set status = ${status} where id = any(${Object.values(accounts)})`.execute(on.api.database.db);
    await on.api.changed();
    clean((await stopped(on.api, calls, tokens)).map(problem => `${status}: ${problem}`));
  }
});
