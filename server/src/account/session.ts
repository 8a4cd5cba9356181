/** Signing in and out (§4; decisions.md, Sessions). */
import { sql } from 'kysely';
import { Fail, fail } from '#contract/errors.ts';
import { session } from '#contract/account/session.ts';
import { loginTwoFactorTypes as types, session as limits } from '#contract/limits.ts';
import { type Area, grantableKeys } from '#contract/kit/call.ts';
import { groups } from '#contract/index.ts';
import type { SignInReason } from '#contract/states-audit.ts';
import { checkPassword, hashPassword, newToken, sha256 } from '../kit/crypto.ts';
import { tooManyPasswords, tooManySignIns } from '../kit/hashing.ts';
import { implement } from '../kit/implement.ts';
import type { Context } from '../kit/context.ts';
import { neighbourhoods } from '../kit/networks.ts';
import { statusOf, withRoots } from '../kit/acting.ts';
import type { Incoming } from '../kit/request.ts';
import { endLinks } from '../kit/session-end.ts';
import type { Claim } from '../kit/tries.ts';
import { partyOf } from '../kit/turns.ts';
import { type Db, row } from '../store/db.ts';
import type { ActedAs } from './act-as.ts';
import { copyRefused } from './copied-token.ts';
import { auditSignIn, auditSignOut, type Comer, enter, free, knownDevice, mayCome, type Said, triesOf } from './entering.ts';
import {
  codeHash,
  codeUntil,
  codeWasRight,
  factorOf,
  type FactorType,
  holdLogin,
  isCode,
  mailCode,
  newCode,
  takeAuthenticator,
  takeCodeTry,
} from './factors.ts';
import { mailPassword } from './password-mail.ts';
import { type SelfRow, selfTable } from './tables.ts';

export { holdLogin };

/** The account of an e-mail, and the form in which e-mails are compared: PostgreSQL's, the only one there is. */
async function accountOf(db: Db, area: Area, email: string): Promise<{ normal: string; account: Comer | undefined }> {
  const found = (await row<{ normal: string } & (Comer | { id: null })>(
    db,
    sql`select lower(${email}) as normal, found.* from (select) one left join (
        select a.id, a.password, ${statusOf} as status, root.id as "rootID", a."parentClient", a.email, a.auth, a.language, a.timezone from account a ${withRoots}
          where a.auth = ${area} and lower(a.email) = lower(${email}) and a."deletedAt" is null and root."deletedAt" is null
      ) found on true`,
  ))!;
  return { normal: found.normal, account: found.id === null ? undefined : found };
}

// A stranger's e-mail costs the same time as a wrong password.
let decoy: Promise<string> | undefined;

/** Sets the password of somebody else, as whom the actor may act. */
export const setPassword = (ctx: Context, { id }: ActedAs, after: string): Promise<boolean> => writePassword(ctx, id, after);

/**
 * A new password ends what the old one opened; false: `before` is no longer the password. The row is held for update
 * before it changes: whoever is signing in waits, and finds its password gone (Sessions.openWith).
 */
async function writePassword(
  ctx: Context,
  accountID: number,
  after: string,
  { before, except = null }: { before?: string; except?: string | null } = {},
): Promise<boolean> {
  await sql`select 1 from account where id = ${accountID} for update`.execute(ctx.db);
  const changed = await row(
    ctx.db,
    sql`update account set password = ${after}, "updatedAt" = now()
      where id = ${accountID} and ${before === undefined ? sql`true` : sql`password = ${before}`} returning 1`,
  );
  if (!changed) return false;
  ctx.note({ table: 'account', id: accountID, before: { password: '***' }, after: { password: '***' } });
  await ctx.services.sessions.endAll(ctx.db, accountID, except);
  await endLinks(ctx.db, accountID);
  return true;
}

interface HeldLogin extends Omit<Comer, 'id'> {
  accountID: number;
  type: FactorType;
  tries: number;
  expired: boolean;
}
/** A sign-in of this area that waits for the code of this e-mail's account. @throws invalidToken, without telling which of them is wrong */
async function heldLogin(ctx: Context, body: { onePassKey: string; email: string }): Promise<HeldLogin> {
  const held = await row<HeldLogin & { isTheirs: boolean }>(
    ctx.db,
    sql`select l."accountID", l.type, l.tries, l."expiredAt" < now() as expired, a.email, a.auth, a.language, a.timezone,
        lower(a.email) = lower(${body.email}) as "isTheirs", ${statusOf} as status, a.password, root.id as "rootID", a."parentClient"
      from login l join account a on a.id = l."accountID" ${withRoots}
      where a."deletedAt" is null and l.kind = 'login' and l.hash = ${sha256(body.onePassKey)}`,
  );
  if (!held || held.auth !== ctx.actor.area || !held.isTheirs) throw fail('invalidToken');
  return held;
}

export const sessionCalls = implement(
  session,
  {
    'POST /verify': async ({ ctx, body, request }) => {
      const { area } = ctx.actor;
      const { sessions } = ctx.services;
      const { account, normal } = await accountOf(ctx.db, area, body.email);
      const said = (status: number, reason: SignInReason) => auditSignIn(ctx, 'verify', account, body.email, status, reason);
      const device = knownDevice(ctx, account, request);
      const claims = triesOf(ctx.ip, device, { key: `${area} ${normal}`, free: free.pair });
      const wait = sessions.tries.take(claims);
      if (wait) {
        // once for each wait: a flood of tries is no flood of lines
        if (wait.isFirst) await said(429, 'tooManyTries');
        throw tooManySignIns(wait.seconds);
      }
      // those who have accounts here have as many devices as they like: these count as one as well
      const party =
        device && account
          ? { lane: 1, path: [`operator ${account.parentClient ?? account.rootID}`, `root ${account.rootID}`, device] }
          : { lane: 0, path: neighbourhoods(ctx.ip) };
      const stored = account?.password ?? (await (decoy ??= hashPassword(newToken())));
      const right = await sessions.hashing.check({ party, claims, line: request.line }, () =>
        checkPassword(body.password, stored),
      );
      if (!account?.password || !right) {
        await said(401, !account ? 'unknownAccount' : account.password ? 'wrongPassword' : 'noPassword');
        throw fail('credentialFailed');
      }
      await mayCome(ctx, account, request, said);
      const type = await factorOf(ctx.db, account);
      if (type !== types.none) {
        const { onePassKey, vcode } = await holdLogin(ctx.db, account.id, { type });
        if (type === types.mail) await mailCode({ ...ctx, ip: ctx.ip }, account, 'loginCode', vcode);
        sessions.tries.giveBack(claims);
        await said(200, 'codeAsked');
        return { onePassKey, login2FAType: type };
      }
      const tokens = await enter(ctx, account, request, {
        said,
        how: device ? 'signedIn knownDevice' : 'signedIn',
        right: () => sessions.tries.giveBack(claims),
      });
      if (tokens) return tokens;
      // while we judged it the password was changed, or the account stopped
      await said(401, 'wrongPassword');
      throw fail('credentialFailed');
    },

    'POST /code': async ({ ctx, body }) => {
      const held = await heldLogin(ctx, body);
      if (held.type !== types.mail) throw fail('invalidToken');
      if (held.expired || held.tries >= limits.codeTriesMax) throw fail('tokenExpired');
      const code = newCode();
      // another code, and no other tries: whoever guesses gains nothing by it
      const put = await row(
        ctx.db,
        sql`update login set code = ${codeHash(code, body.onePassKey)}, "expiredAt" = ${codeUntil} where hash = ${sha256(body.onePassKey)} and tries < ${limits.codeTriesMax} returning 1`,
      );
      if (!put) throw fail('tokenExpired');
      await mailCode(ctx, { ...held, id: held.accountID }, 'loginCode', code);
      return {};
    },

    'POST /login': async ({ ctx, body, request }) => {
      const hash = sha256(body.onePassKey);
      const held = await heldLogin(ctx, body);
      const account = { ...held, id: held.accountID };
      const said: Said = (status, reason) => auditSignIn(ctx, 'login', account, held.email, status, reason);
      takeCodeTry(ctx.services, held.accountID);
      // counted before it is looked at: of many at once five are
      const counted = await row<{ tries: number; code: string }>(
        ctx.db,
        sql`update login set tries = tries + 1 where hash = ${hash} returning tries, code`,
      );
      if (!counted) throw fail('invalidToken');
      const refused = async (name: 'invalidToken' | 'tokenExpired', reason: SignInReason) => {
        const failure = fail(name);
        await said(failure.status, reason);
        return failure;
      };
      if (held.expired || counted.tries > limits.codeTriesMax)
        throw await refused('tokenExpired', held.expired ? 'codeExpired' : 'tooManyTries');
      const right =
        held.type === types.google
          ? await takeAuthenticator(ctx.db, ctx.services, held.accountID, body.vcode)
          : isCode(counted.code, body.vcode, body.onePassKey);
      if (!right) throw await refused('invalidToken', 'wrongCode');
      await mayCome(ctx, account, request, said);
      // the key opens one session, also when it is sent twice at once
      if (!(await row(ctx.db, sql`delete from login where hash = ${hash} returning 1`))) throw fail('invalidToken');
      const tokens = await enter(ctx, account, request, { said, right: () => codeWasRight(ctx.services, held.accountID) });
      if (!tokens) throw await refused('invalidToken', 'passwordChanged');
      // whoever has the code reads the mail
      if (held.type === types.mail)
        await sql`update account set "emailConfirmed" = true where id = ${held.accountID} and not "emailConfirmed"`.execute(
          ctx.db,
        );
      return tokens;
    },

    'PATCH ': async ({ ctx, body, request }) => {
      const { area } = ctx.actor;
      const { sessions } = ctx.services;
      if (!sessions.apiTokens.isRefresh(body.refreshToken)) {
        const answer = await sessions.refresh(area, body, request);
        if ('reused' in answer) throw await copyRefused(ctx, answer.reused);
        return answer;
      }
      const rotated = await sessions.refreshToken(area, body, ctx.ip);
      if ('reused' in rotated) throw await copyRefused(ctx, rotated.reused);
      const { tokens, id, name, accountID } = rotated;
      const owner = (await sessions.acting(ctx.db, accountID))!;
      await auditSignIn(
        ctx,
        '',
        { id: accountID, rootID: owner.rootID, parentClient: owner.clientID },
        owner.email,
        200,
        'tokenRenewed',
        { id, name },
      );
      return tokens;
    },

    'DELETE ': async ({ ctx, body }) => {
      await auditSignOut(ctx, await ctx.services.sessions.close(ctx.actor.area, body));
      return {};
    },

    'PATCH /password': async ({ ctx, prepared, request }) => {
      const { before, after } = prepared as { before: string; after: string }; // what `prepare` of this call hashed
      const { actor, services } = ctx;
      // the password that was checked must still be the one that is replaced
      if (!(await writePassword(ctx, actor.accountID, after, { before, except: actor.sessionID }))) throw wrongPassword();
      await mailPassword(ctx, actor.accountID);
      // the device that knows the new password is known by it
      request.answer('Set-Cookie', services.sessions.devices.cookie(actor.area, actor.accountID, after, request.isSecure));
      return {};
    },

    'GET /account/self': async ({ ctx }) => {
      const { actor } = ctx;
      const self = await row<SelfRow>(ctx.db, sql`select *, "rowVersion" as version from account where id = ${actor.accountID}`);
      const keys = [...actor.permissions];
      const grantable = grantableKeys(groups, actor.area);
      return { ...self!, selfPerms: keys, permissionKeys: keys.filter(key => grantable.has(key)), proxyName: actor.proxyName };
    },

    'PUT /account/self': async ({ ctx, body }) => {
      const { newDeviceMail } = body;
      // whoever acts in another's name silences no alarm of theirs
      if (ctx.actor.proxyName && newDeviceMail !== undefined) {
        const own = await row<SelfRow>(ctx.db, sql`select "newDeviceMail" from account where id = ${ctx.actor.accountID}`);
        if (own?.newDeviceMail !== newDeviceMail) throw fail('permissionDenied');
      }
      await ctx.store(selfTable).set(ctx.actor.accountID, body);
      await ctx.services.sessions.changed(ctx.db);
      return {};
    },
  },
  {
    prepare: {
      'PATCH /password': ({ ctx, body, request }) =>
        ownPassword(ctx, request, body.oldPassword, 'oldPassword', async before => ({
          before,
          after: await hashPassword(body.password),
        })),
    },
  },
);

const wrongPassword = (path = 'oldPassword') => new Fail('parameter', { errorData: [{ path, rule: 'wrongPassword' }] });

/**
 * Sees to it that a signed-in person knows their own password; `next` is done in the same turn, with its stored form.
 * @throws permissionDenied for whoever acts for another: they have no business with the other's password
 */
export async function ownPassword<T = undefined>(
  ctx: Context,
  request: Pick<Incoming, 'line'>,
  password: string,
  path: 'oldPassword' | 'password' | 'ownPassword',
  next?: (before: string) => Promise<T>,
): Promise<T | undefined> {
  const { actor, services } = ctx;
  if (actor.proxyName) throw fail('permissionDenied');
  const claims: Claim[] = [{ kind: 'account', key: `own ${actor.accountID} ${actor.sessionID}`, free: free.own }];
  const wait = services.sessions.tries.take(claims);
  if (wait) throw tooManyPasswords(path, wait.seconds);
  const own = await row<{ password: string | null }>(ctx.db, sql`select password from account where id = ${actor.accountID}`);
  const before = own?.password;
  if (!before) throw wrongPassword(path);
  return services.sessions.hashing.set({ party: partyOf(actor), claims, line: request.line }, async () => {
    if (!(await checkPassword(password, before))) throw wrongPassword(path);
    services.sessions.tries.giveBack(claims);
    return next?.(before);
  });
}
