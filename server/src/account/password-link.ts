/**
 * Links by which somebody sets a password: mailed when an account is made without one, and again when somebody asks who may act as it. A
 * link belongs to one account, works once, ends by itself, by a later one, and by a password that somebody sets; its hash alone is stored.
 */
import { sql } from 'kysely';
import { fail, Fail } from '#contract/errors.ts';
import { type linkProblems, passwordLink } from '#contract/account/password-link.ts';
import { mailLinkForgottenDays, mailLinks } from '#contract/limits.ts';
import type { Area } from '#contract/kit/call.ts';
import type { Language } from '#contract/kit/text.ts';
import { statusOf, withRoots } from '../kit/acting.ts';
import { consoleURL } from '../kit/console-url.ts';
import type { Context } from '../kit/context.ts';
import { hashPassword, newToken, sha256 } from '../kit/crypto.ts';
import { tooManySignIns } from '../kit/hashing.ts';
import { implement } from '../kit/implement.ts';
import { sendMail } from '../kit/mail/send.ts';
import { neighbourhoods } from '../kit/networks.ts';
import { endLinks } from '../kit/session-end.ts';
import type { Claim } from '../kit/tries.ts';
import { type Db, row } from '../store/db.ts';
import type { ActedAs } from './act-as.ts';
import { auditSignIn } from './entering.ts';
import { operatorOf } from './factors.ts';
import { linksOf, takeOrWait } from './making.ts';

type LinkProblem = (typeof linkProblems)[number];
/** Links that one account is sent, and passwords that one address may set, before the next waits. */
const free = { ofAccount: 5, ofAddress: 50 } as const;

/** Ends earlier links of the account and mails another; false: no mail can go out. */
export async function mailLink(ctx: Context, { id }: Pick<ActedAs, 'id'>): Promise<boolean> {
  const { db, services } = ctx;
  const account = (await row<{
    email: string;
    name: string;
    auth: Area;
    rootID: number;
    parentClient: number | null;
    language: Language;
    hasPassword: boolean;
  }>(
    db,
    sql`select email, name, auth, coalesce("rootID", id) as "rootID", "parentClient", language, password is not null as "hasPassword"
        from account where id = ${id} and "deletedAt" is null`,
  ))!;
  const token = newToken();
  await sql`delete from "mailLink" where "createdAt" < now() - ${mailLinkForgottenDays} * interval '1 day'`.execute(db);
  await endLinks(db, id);
  await sql`insert into "mailLink" (hash, "accountID", "expiredAt")
    values (${sha256(token)}, ${id}, now() + ${mailLinks.hours} * interval '1 hour')`.execute(db);
  return sendMail(db, services, {
    operatorID: operatorOf(account),
    rootID: account.rootID,
    to: account.email,
    language: account.language,
    template: account.hasPassword ? 'resetPassword' : 'createPassword',
    data: {
      name: account.name,
      link: `${await consoleURL(db, services, operatorOf(account))}/${account.auth}/verifyMail?token=${token}`,
      hours: mailLinks.hours,
    },
    minutes: mailLinks.hours * 60,
  });
}

/** The same where somebody asks for it: told when none can go out, or when too many did. */
export async function mailLinkAgain(ctx: Context, account: Pick<ActedAs, 'id'>): Promise<void> {
  // given back with the transaction where none can go out
  takeOrWait(ctx, 'id', [{ kind: 'account', key: `link ${account.id}`, free: free.ofAccount }, linksOf(ctx)]);
  if (!(await mailLink(ctx, account)))
    throw new Fail('illegalEmailSettings', { errorData: [{ path: 'id', rule: 'mailServerMissing' }] });
}

interface Link {
  accountID: number;
  email: string;
  auth: Area;
  rootID: number;
  parentClient: number | null;
  problem: LinkProblem | null;
}
/** Whose link it is, and what is wrong with it. */
const linkOf = (db: Db, token: string, lock = false) =>
  row<Link>(
    db,
    sql`select l."accountID", a.email, a.auth, root.id as "rootID", a."parentClient",
        case when l."usedAt" is not null then 'used' when l."replacedAt" is not null then 'replaced' when l."expiredAt" < now() then 'expired'
          when ${statusOf} <> 'normal' then 'stopped' end as problem
      from "mailLink" l join account a on a.id = l."accountID" ${withRoots}
      where l.hash = ${sha256(token)} and a."deletedAt" is null and root."deletedAt" is null ${lock ? sql`for update of l` : sql``}`,
  );
function checked(link: Link | undefined): Link {
  if (!link) throw fail('invalidToken');
  if (link.problem === 'stopped') throw fail('accountNotEnabled');
  if (link.problem) throw fail(link.problem === 'expired' ? 'tokenExpired' : 'invalidToken');
  return link;
}

export const passwordLinkCalls = implement(
  passwordLink,
  {
    'POST /token/check': async ({ ctx, body }) => {
      const link = await linkOf(ctx.db, body.token);
      if (!link || link.problem) return { valid: false, email: '', auth: null, problem: link?.problem ?? 'unknown' };
      return { valid: true, email: link.email, auth: link.auth, problem: null };
    },
    'POST /register/password': async ({ ctx, body, prepared }) => {
      const { sessions, database } = ctx.services;
      const password = prepared as string; // what `prepare` of this call hashed
      const link = await database.doors.transaction().execute(async db => {
        // the account before the link, as whoever sets a password for it holds them
        const { accountID } = checked(await linkOf(db, body.token));
        await sql`select 1 from account where id = ${accountID} for update`.execute(db);
        const mine = checked(await linkOf(db, body.token, true));
        await sql`update "mailLink" set "usedAt" = now() where hash = ${sha256(body.token)}`.execute(db);
        await sql`update account set password = ${password}, "emailConfirmed" = true, "updatedAt" = now() where id = ${mine.accountID}`.execute(
          db,
        );
        // what the old password opened ends, and no other link outlives it
        await endLinks(db, mine.accountID);
        await sessions.endAll(db, mine.accountID);
        return mine;
      });
      await sessions.changed(database.doors);
      sessions.committed(database.doors);
      await auditSignIn(ctx, 'register/password', { id: link.accountID, ...link }, link.email, 200, 'passwordSet');
      return {};
    },
  },
  {
    prepare: {
      'POST /register/password': async ({ ctx, body, request }) => {
        // nobody makes us hash for nothing
        checked(await linkOf(ctx.db, body.token));
        const networks = neighbourhoods(ctx.ip);
        const claims: Claim[] = [{ kind: 'address', key: `register ${networks[1]}`, free: free.ofAddress }];
        const wait = ctx.services.sessions.tries.take(claims);
        if (wait) throw tooManySignIns(wait.seconds);
        return ctx.services.sessions.hashing.check({ party: { lane: 0, path: networks }, claims, line: request.line }, () =>
          hashPassword(body.password),
        );
      },
    },
  },
);
