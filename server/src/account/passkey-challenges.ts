/**
 * What authenticators are asked to sign. Of a sign-in it is a pass: what is written down is which were used, by whoever holds a passkey of
 * ours. Of whoever adds a passkey it is a row, for it ends with the account's sessions; a person has a few of them.
 */
import { sql } from 'kysely';
import { fail } from '#contract/errors.ts';
import { passkeys as limits } from '#contract/limits.ts';
import { newToken, sha256 } from '../kit/crypto.ts';
import { judgePass, newPass, type Pass, usedUntil } from '../kit/passes.ts';
import type { Sealing } from '../kit/sealed.ts';
import { type Db, row } from '../store/db.ts';

const passOf = (area: string): Pass => ({ about: `passkey challenge ${area}`, keptMs: limits.challengeMinutes * 60_000 });

/** Of somebody signed in: for this session alone, and neither to sign in by nor to add one by. */
const presenceOf = (accountID: number, sessionID: string): Pass => ({
  about: `passkey presence ${accountID} ${sessionID}`,
  keptMs: limits.challengeMinutes * 60_000,
});
interface Whose {
  accountID: number;
  sessionID: string;
  area: string;
}
export const presenceChallenge = (sealing: Sealing, { accountID, sessionID }: Whose): string =>
  newPass(sealing, presenceOf(accountID, sessionID));
/** @throws tokenExpired */
export const judgePresence = (sealing: Sealing, { accountID, sessionID }: Whose, challenge: string): void =>
  void judgePass(sealing, presenceOf(accountID, sessionID), challenge);
/** @throws tokenExpired: it served already */
export const spendPresence = (db: Db, { accountID, sessionID, area }: Whose, challenge: string): Promise<void> =>
  spend(db, presenceOf(accountID, sessionID), challenge, area);

/** Of a sign-in. `at`: when it is asked for, milliseconds since 1970. */
export const signInChallenge = (sealing: Sealing, area: string, at?: number) => newPass(sealing, passOf(area), '', at);

/** @throws tokenExpired */
export const judgeSignIn = (sealing: Sealing, challenge: string, area: string): void =>
  void judgePass(sealing, passOf(area), challenge);

const forgetOld = (db: Db) =>
  sql`delete from "passkeyChallenge" where hash in (
    select hash from "passkeyChallenge" where "expiredAt" < now() limit 100 for update skip locked)`.execute(db);

/** It was signed by a passkey of ours, and serves no second time. @throws tokenExpired */
export const spendSignIn = (db: Db, challenge: string, area: string): Promise<void> => spend(db, passOf(area), challenge, area);

async function spend(db: Db, pass: Pass, challenge: string, area: string): Promise<void> {
  await forgetOld(db);
  const spent = await row(
    db,
    sql`insert into "passkeyChallenge" (hash, area, "expiredAt")
        values (${sha256(challenge)}, ${area}, to_timestamp(${usedUntil(pass, challenge) / 1000}))
        on conflict do nothing returning 1`,
  );
  if (!spent) throw fail('tokenExpired');
}

/** Of whoever adds a passkey; the oldest give way. */
export async function newChallenge(db: Db, area: string, accountID: number): Promise<string> {
  const challenge = newToken();
  await forgetOld(db);
  await sql`delete from "passkeyChallenge" where hash in (select hash from "passkeyChallenge" where "accountID" = ${accountID}
    order by "expiredAt" desc offset ${limits.perAccountMax - 1} for update skip locked)`.execute(db);
  await sql`insert into "passkeyChallenge" (hash, "accountID", area, "expiredAt")
    values (${sha256(challenge)}, ${accountID}, ${area}, now() + ${limits.challengeMinutes} * interval '1 minute')`.execute(db);
  return challenge;
}

/** Each serves once, whatever comes of it. @throws tokenExpired */
export async function takeChallenge(db: Db, challenge: string, area: string, accountID: number): Promise<void> {
  const taken = await row<{ isLate: boolean }>(
    db,
    sql`delete from "passkeyChallenge" where hash = ${sha256(challenge)} and area = ${area} and "accountID" = ${accountID}
        returning "expiredAt" < now() as "isLate"`,
  );
  if (!taken || taken.isLate) throw fail('tokenExpired');
}
