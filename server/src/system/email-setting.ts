/** An operator's mail server. */
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { loginTwoFactorTypes as types } from '#contract/limits.ts';
import { Fail, failFields } from '#contract/errors.ts';
import { mailLimits } from '#contract/limits.ts';
import { ruleOfRefusal } from '#contract/rules/address-policy.ts';
import { emailSetting } from '#contract/system/email-setting.ts';
import type { Context } from '../kit/context.ts';
import { tooManyPasswords } from '../kit/hashing.ts';
import { implement } from '../kit/implement.ts';
import { deliver, MailProblem } from '../kit/mail/deliver.ts';
import { render } from '../kit/mail/render.ts';
import { mailPolicy, mailServerOf, mailServerTable, serverFor } from '../kit/mail/send.ts';
import { newMessageID } from '../kit/mail/message-id.ts';
import { ownerID } from '../kit/owner.ts';
import type { Claim } from '../kit/tries.ts';
import { type Db, row } from '../store/db.ts';

const unset = {
  host: '',
  port: mailLimits.portDefault,
  security: 'starttls',
  username: '',
  fromAddress: '',
  fromName: '',
} as const;
const testsFree = 10;

/**
 * Nobody is locked out because a server goes: of this operator, and where the owner's goes of each that has no other, the vendor's people
 * too. Whoever wants it gone sets another, or takes the codes away first. @throws 101003 at `host`, with how many they are
 */
async function needNobody(db: Db, rootID: number): Promise<void> {
  const found = await row<{ count: number; others: number; isAsked: boolean }>(
    db,
    sql`with owner as (select ${ownerID} as id),
        left_out as (
          select a.id, exists (select from setting s where s.key = 'accountVerify' and s.value = 'true' and s."clientID" = a.id) as asked
          from account a, owner where a.auth = 'client' and a."isRoot" and a."deletedAt" is null and ${rootID}::bigint in (a.id, owner.id)
            and not exists (select from "mailServer" m where m."deletedAt" is null and m.host <> '' and m."clientID" <> ${rootID}
              and m."clientID" in (a.id, owner.id))),
        people as (
          select p.auth <> 'admin' and l.id = ${rootID} as own
          from account p, owner, left_out l where p."deletedAt" is null
            and l.id = case p.auth when 'admin' then owner.id when 'client' then coalesce(p."rootID", p.id) else p."parentClient" end
            and (p."twoFactor" = ${types.mail} or (p."twoFactor" = ${types.none} and l.asked)))
      select count(*)::int as count, (count(*) filter (where not own))::int as others,
        (select coalesce(bool_or(asked), false) from left_out) as "isAsked" from people`,
  );
  const { count, others, isAsked } = found!;
  // where codes are asked of everybody, whoever is made tomorrow has no other
  if (!count && !isAsked) return;
  throw failFields([
    others
      ? { path: 'host', rule: 'mailServerNeededByOthers', bounds: { count, others } }
      : { path: 'host', rule: 'mailServerNeeded', bounds: { count } },
  ]);
}

type Wished = z.output<(typeof emailSetting)['defs']['PUT /email']['body']>;
/** What may be stored of it, and whether it is another server or another who signs in there. @throws 101003 at a field */
async function judged(ctx: Context, body: Wished) {
  const store = ctx.store(mailServerTable);
  const [known] = (await store.page({ pageSize: 1 })).data;
  if (body.host === '' && known?.host) await needNobody(ctx.db, ctx.actor.rootID);
  if (body.host !== '') {
    if (body.fromAddress === '') throw failFields([{ path: 'fromAddress', rule: 'required' }]);
    const verdict = (await mailPolicy(ctx.db, ctx.actor.rootID)).judgeHost(body.host, body.port);
    if (!verdict.allowed) throw failFields([{ path: 'host', rule: ruleOfRefusal(verdict.kind), bounds: { address: body.host } }]);
  }
  const isOther = known && (['host', 'port', 'security', 'username'] as const).some(name => known[name] !== body[name]);
  // whoever may change the server would else have its password sent to one of their own
  if (isOther && known.passwordIsSet && body.password === undefined)
    throw failFields([{ path: 'password', rule: 'mailPasswordAgain' }]);
  if (body.username !== '' && !(body.password ?? known?.passwordIsSet))
    throw failFields([{ path: 'password', rule: 'required' }]);
  return { store, known, isOther };
}

export const emailSettingCalls = implement(
  emailSetting,
  {
    'GET /email': async ({ ctx }) => {
      const [known] = (await ctx.store(mailServerTable).page({ pageSize: 1 })).data;
      const waits = await row<{ waiting: number; problem: string | null; byOwner: boolean }>(
        ctx.db,
        sql`select count(*)::int as waiting, exists (select from (${serverFor(ctx.actor.rootID)}) s where s."clientID" <> ${ctx.actor.rootID}) as "byOwner",
          coalesce((select s.problem from "mailServer" s where s."clientID" = ${ctx.actor.rootID} and s."deletedAt" is null),
          (array_agg(problem order by "nextAt" desc) filter (where problem is not null))[1]) as problem
        from mail where "clientID" = ${ctx.actor.rootID}`,
      );
      const { host, port, security, username, fromAddress, fromName } = known ?? unset;
      return {
        ...{ host, port, security, username, fromAddress, fromName },
        passwordIsSet: known?.passwordIsSet ?? false,
        version: known?.version ?? 0,
        testedAt: known?.testedAt ?? null,
        waiting: waits!.waiting,
        byOwner: waits!.byOwner,
        problem: waits!.problem,
      };
    },
    'PUT /email': async ({ ctx, body }) => {
      const { store, known, isOther } = await judged(ctx, body);
      if (known) {
        await store.set(known.id, body);
        if (isOther || body.password !== undefined)
          await sql`update "mailServer" set "testedAt" = null where id = ${known.id}`.execute(ctx.db);
      } else {
        await ctx.expect('mailServer', { id: ctx.actor.rootID, version: 0, ...unset, password: null }, body);
        await store.add([body], { clientID: ctx.actor.rootID });
      }
      // what waits for this server may go now, also that of others who have none; what is being sent is left alone
      const { rootID } = ctx.actor;
      await sql`update "mailServer" set failures = 0, problem = null, "pausedUntil" = null
      where "clientID" = ${rootID} and "deletedAt" is null and failures > 0`.execute(ctx.db);
      await sql`update mail m set "nextAt" = now() where m."nextAt" > now() and coalesce(m."leasedUntil" <= now(), true)
      and ${rootID} = (select s."clientID" from (${serverFor(sql`m."clientID"`)}) s)`.execute(ctx.db);
      await sql`select pg_notify('mail', '')`.execute(ctx.db);
      return {};
    },
    'POST /email/test': async ({ ctx }) => {
      const { db, actor, services } = ctx;
      const claims: Claim[] = [{ kind: 'account', key: `mail test ${actor.rootID}`, free: testsFree }];
      const wait = services.sessions.tries.take(claims);
      if (wait) throw tooManyPasswords('host', wait.seconds);
      const server = await mailServerOf(db, services.sealing, actor.rootID);
      if (!server || server.clientID !== actor.rootID)
        throw new Fail('illegalEmailSettings', { errorData: [{ path: 'host', rule: 'mailServerMissing' }] });
      try {
        const mail = render({ template: 'test', language: ctx.language, data: {} }, server.fromName || server.fromAddress);
        await deliver(
          server,
          { ...mail, to: actor.email, messageID: newMessageID(server.fromAddress) },
          // somebody looks on: the server's last word is waited for no longer than the rest
          {
            policy: await mailPolicy(db, actor.rootID),
            ca: services.mail?.ca,
            signal: AbortSignal.timeout(mailLimits.timeoutSeconds * 1000),
          },
        );
      } catch (error) {
        if (!(error instanceof MailProblem)) throw error;
        const rule = error.from === 'server' ? ('mailSaid' as const) : ('mailTrouble' as const);
        throw new Fail('illegalEmailSettings', { errorData: [{ path: 'host', rule, bounds: { why: error.message } }] });
      }
      await sql`update "mailServer" set "testedAt" = now() where id = ${server.id} and "rowVersion" = ${server.version}`.execute(
        db,
      );
      return {};
    },
  },
  { prepare: { 'PUT /email': ({ ctx, body }) => judged(ctx, body) } },
);
