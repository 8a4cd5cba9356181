/** Signing in and out (§4; decisions.md, Sessions). */
import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import { Fail, fail } from '#contract/errors.ts';
import { session } from '#contract/account/session.ts';
import type { Area } from '#contract/kit/call.ts';
import { checkPassword, hashPassword, newToken, sha256 } from '../kit/crypto.ts';
import { implement } from '../kit/implement.ts';
import { type Db, row, rows } from '../store/db.ts';
import { type SelfRow, selfTable } from './tables.ts';

const loginTries = 5;
const loginMinutes = 10;
/** Failed sign-ins per account and per address in a quarter of an hour. */
const attemptsPerAccount = 10;
const attemptsPerAddress = 50;
const attemptWindow = '15 minutes';

interface LoginRow {
  id: number;
  password: string | null;
  status: string;
  rootStatus: string;
}

async function accountOf(db: Db, area: Area, email: string): Promise<LoginRow | undefined> {
  return row<LoginRow>(
    db,
    sql`select a.id, a.password, a.status, root.status as "rootStatus" from account a join account root on root.id = coalesce(a."rootID", a.id)
        where a.auth = ${area} and lower(a.email) = lower(${email}) and a."deletedAt" is null and root."deletedAt" is null`,
  );
}

// A stranger's e-mail costs the same time as a wrong password.
let decoy: Promise<string> | undefined;

type Keyed = [key: string, max: number][];
/**
 * Counts a try before it is made, so that many at once do not all slip through; a right password gives it back.
 * The call runs without a transaction: what is counted stays counted.
 */
async function countAttempt(db: Db, keys: Keyed): Promise<void> {
  const counted = await rows<{ key: string; count: number; rest: number }>(
    db,
    sql`insert into "loginAttempt" as l (key, count, "startedAt") values ${sql.join(keys.map(([key]) => sql`(${key}, 1, now())`))}
        on conflict (key) do update set
          count = case when l."startedAt" > now() - ${attemptWindow}::interval then l.count + 1 else 1 end,
          "startedAt" = case when l."startedAt" > now() - ${attemptWindow}::interval then l."startedAt" else now() end
        returning key, count, ceil(extract(epoch from "startedAt" + ${attemptWindow}::interval - now()))::int as rest`,
  );
  const over = counted.filter(({ key, count }) => count > keys.find(([name]) => name === key)![1]);
  if (over.length)
    throw new Fail('credentialFailed', { status: 429, extra: { retryAfter: Math.max(1, ...over.map(({ rest }) => rest)) } });
}
async function giveBack(db: Db, [account, ...others]: Keyed): Promise<void> {
  await sql`delete from "loginAttempt" where key = ${account![0]}`.execute(db);
  await sql`update "loginAttempt" set count = greatest(count - 1, 0) where key = any(${others.map(([key]) => key)})`.execute(db);
}

/** Puts a login on hold until its code comes; answers the one-pass key and the code to be sent. */
export async function holdLogin(db: Db, accountID: number): Promise<{ onePassKey: string; vcode: string }> {
  const onePassKey = newToken();
  const vcode = String(randomInt(1_000_000)).padStart(6, '0');
  await sql`insert into login (hash, "accountID", code, "expiredAt")
    values (${sha256(onePassKey)}, ${accountID}, ${sha256(vcode + onePassKey).toString('hex')}, now() + ${`${loginMinutes} minutes`}::interval)`.execute(
    db,
  );
  return { onePassKey, vcode };
}

export const sessionCalls = implement(session, {
  'POST /verify': async ({ ctx, body }) => {
    const { area } = ctx.actor;
    const keys: Keyed = [
      [`${area}:${body.email.toLowerCase()}`, attemptsPerAccount],
      [`ip:${ctx.ip}`, attemptsPerAddress],
    ];
    await countAttempt(ctx.db, keys);
    const account = await accountOf(ctx.db, area, body.email);
    const stored = account?.password ?? (await (decoy ??= hashPassword(newToken())));
    const right = await checkPassword(body.password, stored);
    if (!account?.password || !right) throw fail('credentialFailed');
    if (account.status !== 'normal' || account.rootStatus !== 'normal') throw fail('accountNotEnabled');
    await giveBack(ctx.db, keys);
    return ctx.services.sessions.open(ctx.db, account.id);
  },

  'POST /login': async ({ ctx, body }) => {
    const hash = sha256(body.onePassKey);
    const held = await row<{
      accountID: number;
      code: string;
      tries: number;
      expired: boolean;
      email: string;
      auth: string;
      status: string;
    }>(
      ctx.db,
      sql`update login l set tries = tries + 1 from account a join account root on root.id = coalesce(a."rootID", a.id)
          where a.id = l."accountID" and a."deletedAt" is null and l.hash = ${hash}
          returning l."accountID", l.code, l.tries, l."expiredAt" < now() as expired, a.email, a.auth,
            case when a.status = 'normal' then root.status else a.status end as status`,
    );
    if (!held || held.auth !== ctx.actor.area || held.email.toLowerCase() !== body.email.toLowerCase())
      throw fail('invalidToken');
    if (held.expired || held.tries > loginTries) throw fail('tokenExpired');
    if (held.code !== sha256(body.vcode + body.onePassKey).toString('hex')) throw fail('invalidToken');
    if (held.status !== 'normal') throw fail('accountNotEnabled');
    // the key opens one session, also when it is sent twice at once
    if (!(await row(ctx.db, sql`delete from login where hash = ${hash} returning 1`))) throw fail('invalidToken');
    return ctx.services.sessions.open(ctx.db, held.accountID);
  },

  'PATCH ': ({ ctx, body }) => ctx.services.sessions.refresh(ctx.actor.area, body),

  'DELETE ': async ({ ctx, body }) => {
    await ctx.services.sessions.close(ctx.actor.area, body);
    return {};
  },

  'PATCH /password': async ({ ctx, body }) => {
    const own = await row<{ password: string | null }>(
      ctx.db,
      sql`select password from account where id = ${ctx.actor.accountID}`,
    );
    // somebody who acts for another has no business with the other's password
    if (ctx.actor.proxyName) throw fail('permissionDenied');
    if (!own?.password || !(await checkPassword(body.oldPassword, own.password)))
      throw new Fail('parameter', { errorData: [{ path: 'oldPassword', rule: 'wrongPassword' }] });
    await sql`update account set password = ${await hashPassword(body.password)}, "updatedAt" = now() where id = ${ctx.actor.accountID}`.execute(
      ctx.db,
    );
    await ctx.services.sessions.endAll(ctx.db, ctx.actor.accountID, ctx.actor.sessionID);
    return {};
  },

  'GET /account/self': async ({ ctx }) => {
    const { actor } = ctx;
    const self = await row<SelfRow>(ctx.db, sql`select * from account where id = ${actor.accountID}`);
    const keys = [...actor.permissions];
    return { ...self!, selfPerms: keys, permissionKeys: keys, proxyName: actor.proxyName };
  },

  'PUT /account/self': async ({ ctx, body }) => {
    if (body.timezone !== undefined && !isTimezone(body.timezone))
      throw new Fail('parameter', { errorData: [{ path: 'timezone', rule: 'wrongFormat' }] });
    await ctx.store(selfTable).set(ctx.actor.accountID, body);
    await ctx.services.sessions.changed(ctx.db);
    return {};
  },
});

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
