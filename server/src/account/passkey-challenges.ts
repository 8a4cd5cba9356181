/**
 * What authenticators are asked to sign. Of a sign-in it says by itself until when it holds and that it is ours, so that a storm of
 * strangers leaves no row and no memory: what is written down is which were used, by whoever holds a passkey of ours. Of whoever adds a
 * passkey it is a row, for it ends with the account's sessions; a person has a few of them.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import { fail } from '#contract/errors.ts';
import { passkeys as limits } from '#contract/limits.ts';
import { newToken, sha256 } from '../kit/crypto.ts';
import type { Sealing } from '../kit/sealed.ts';
import { type Db, row } from '../store/db.ts';

const keptMs = limits.challengeMinutes * 60_000;
/** Of one machine's clock before another's. */
const aheadMs = 60_000;
const randomBytesOf = 16;
const timeBytes = 6;
const proofBytes = 16;

/** By each key of the installation that is known. */
const proofsOf = (sealing: Sealing, area: string, head: Buffer) =>
  sealing.proofs(`passkey challenge ${area} ${head.toString('hex')}`).map(proof => Buffer.from(proof, 'hex'));

/** Of a sign-in. `at`: when it is asked for, milliseconds since 1970. */
export function signInChallenge(sealing: Sealing, area: string, at = Date.now()): string {
  const head = Buffer.concat([randomBytes(randomBytesOf), Buffer.alloc(timeBytes)]);
  head.writeUIntBE(at + keptMs, randomBytesOf, timeBytes);
  return Buffer.concat([head, proofsOf(sealing, area, head)[0]!]).toString('base64url');
}

/** Until when it holds, by the machine that made it, milliseconds since 1970. */
const endOf = (challenge: string) => Buffer.from(challenge, 'base64url').readUIntBE(randomBytesOf, timeBytes);

/** @throws tokenExpired where it is not ours, of another area, too old, or of a machine whose clock is ahead of what `spendSignIn` allows for */
export function judgeSignIn(sealing: Sealing, challenge: string, area: string): void {
  const bytes = Buffer.from(challenge, 'base64url');
  const size = randomBytesOf + timeBytes;
  const [head, proof] = [bytes.subarray(0, size), bytes.subarray(size)];
  const isOurs =
    bytes.length === size + proofBytes &&
    bytes.toString('base64url') === challenge &&
    proofsOf(sealing, area, head).some(one => timingSafeEqual(one, proof));
  if (!isOurs) throw fail('tokenExpired');
  const left = endOf(challenge) - Date.now();
  if (left <= 0 || left > keptMs + aheadMs) throw fail('tokenExpired');
}

const forgetOld = (db: Db) =>
  sql`delete from "passkeyChallenge" where hash in (
    select hash from "passkeyChallenge" where "expiredAt" < now() limit 100 for update skip locked)`.execute(db);

/**
 * It was signed by a passkey of ours, and serves no second time. That is known for as long again as it holds: no machine, nor the database
 * that forgets, whose clock is behind takes it anew. @throws tokenExpired
 */
export async function spendSignIn(db: Db, challenge: string, area: string): Promise<void> {
  await forgetOld(db);
  const spent = await row(
    db,
    sql`insert into "passkeyChallenge" (hash, area, "expiredAt")
        values (${sha256(challenge)}, ${area}, to_timestamp(${(endOf(challenge) + keptMs) / 1000}))
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
