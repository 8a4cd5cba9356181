/**
 * Signing in by an operator's OpenID provider, and one's own links to it. The provider says who somebody is there; which account that is says
 * a link that the account's person made with the password, or, where the operator lets it, an e-mail that the provider has verified. No
 * account is made, and none of another operator's is opened. It takes the place of the password: a code is asked for as after that.
 */
import { sql } from 'kysely';
import { fail, Fail, failFields } from '#contract/errors.ts';
import { identities, oidcLogin } from '#contract/account/oidc.ts';
import { loginTwoFactorTypes as types, oidcLimits as limits } from '#contract/limits.ts';
import { statusOf, withRoots } from '../kit/acting.ts';
import { consoleOrigins, operatorAt } from '../kit/console-url.ts';
import type { Context } from '../kit/context.ts';
import type { Change } from '../kit/effects.ts';
import { tooManySignIns } from '../kit/hashing.ts';
import { implement } from '../kit/implement.ts';
import { mailTime } from '../kit/mail/mail-time.ts';
import { sendMail } from '../kit/mail/send.ts';
import { neighbourhoods } from '../kit/networks.ts';
import {
  addressOf,
  ClientRefused,
  isFor,
  labelOf,
  type Provider,
  providerGone,
  providerOf,
  type Told,
  whoCame,
} from '../kit/oidc.ts';
import { unknownID } from '../kit/store.ts';
import { table } from '../kit/table.ts';
import { type Db, row, rows } from '../store/db.ts';
import { auditSignIn, type Comer, enter, mayCome, type Said, triesOf } from './entering.ts';
import { type CodeReader, factorOf, holdLogin, mailCode, operatorOf } from './factors.ts';
import { type Flow, judgeFlow, newLinkFlow, signInFlow, spendFlow, takeLinkFlow } from './oidc-flows.ts';
import { readerOf } from './own-factor.ts';
import { ownPassword } from './session.ts';

// read and written here alone
table()({ table: 'identity', scope: { tenant: [['accountID']], owner: () => sql`false` }, soft: false });

/** All of an account. */
export const takeIdentities = async (db: Db, accountID: number): Promise<Change[]> =>
  (
    await rows<{ id: number; issuer: string; name: string }>(
      db,
      sql`delete from identity where "accountID" = ${accountID} returning id, issuer, name`,
    )
  ).map(({ id, ...before }) => ({ table: 'identity', id, before }));
/** The same by whoever manages it: what was opened by them ends, as when their person removes one. */
export async function dropIdentities(ctx: Context, accountID: number): Promise<boolean> {
  const gone = await takeIdentities(ctx.db, accountID);
  for (const one of gone) ctx.note(one);
  if (gone.length) await ctx.services.sessions.endAll(ctx.db, accountID);
  return gone.length > 0;
}

const callbackOf = (origin: string, area: string) => `${origin}/${area}/oidc`;

/** Sends somebody to the provider, who comes back to a page of ours and to no other. */
const start = async (ctx: Context, provider: Provider, origin: string, flowKey: string) => ({
  url: await addressOf(ctx.services, provider, flowKey, callbackOf(origin, ctx.actor.area)),
  flowKey,
});
/** The page's own origin, if it shows the console of this operator. @throws 101003 `oidcHost` */
async function originOf(ctx: Context, clientID: number | undefined, origin: string): Promise<string> {
  const host = URL.parse(origin)?.hostname ?? '';
  const good = clientID === undefined ? [] : await consoleOrigins(ctx.db, ctx.services, clientID, host);
  if (!good.includes(origin)) throw failFields([{ path: 'origin', rule: 'oidcHost' }]);
  return origin;
}

interface Came {
  flowKey: string;
  code: string;
  state: string;
  iss?: string | undefined;
}
/** Who the provider says came back; undefined: nobody. @throws tokenExpired */
async function came(ctx: Context, body: Came, flow: Flow): Promise<{ provider: Provider; told: Told | undefined }> {
  const { area } = ctx.actor;
  const provider = await providerOf(ctx.db, ctx.services, flow.clientID);
  if (!isFor(provider, area)) throw fail('tokenExpired');
  return { provider, told: await whoCame(ctx.services, provider, body, callbackOf(flow.origin, area)) };
}

/** The account of this operator that somebody of its provider is. */
async function accountOf(db: Db, area: string, { clientID, byEmail }: Provider, told: Told) {
  const within = sql`a.auth = ${area} and a."deletedAt" is null and root."deletedAt" is null
    and ${clientID}::bigint = case a.auth when 'client' then root.id when 'user' then a."parentClient" end`;
  const columns = sql`a.id, a.password, ${statusOf} as status, root.id as "rootID", a."parentClient", a.email, a.auth, a.language, a.timezone`;
  const linked = await row<Comer & { identityID: number }>(
    db,
    sql`select i.id as "identityID", ${columns} from identity i join account a on a.id = i."accountID" ${withRoots}
        where i."clientID" = ${clientID} and i.area = ${area} and i.issuer = ${told.issuer} and i.subject = ${told.subject} and ${within}`,
  );
  if (linked || !byEmail || told.verifiedEmail === undefined) return linked;
  return row<Comer & { identityID?: number }>(
    db,
    sql`select ${columns} from account a ${withRoots} where lower(a.email) = lower(${told.verifiedEmail}) and ${within}
          -- letters that are one in lower case are several mailboxes: without case ASCII alone is compared
          and (a.email = ${told.verifiedEmail} or ${told.verifiedEmail} !~ '[^ -~]')`,
  );
}

export const oidcLoginCalls = implement(oidcLogin, {
  'GET /button': async ({ ctx, request }) => {
    const clientID = await operatorAt(ctx.db, ctx.services, request.host.toLowerCase());
    const provider = clientID === undefined ? undefined : await providerOf(ctx.db, ctx.services, clientID);
    return { label: isFor(provider, ctx.actor.area) ? labelOf(provider) : '' };
  },

  'POST /start': async ({ ctx, body }) => {
    const wait = ctx.services.sessions.tries.take(
      neighbourhoods(ctx.ip).map((network, n) => ({
        key: `oidc start ${network}`,
        free: limits.startsFreeOfAddress * (n === 0 ? 3 : 1),
        halvesMs: 60_000,
      })),
    );
    if (wait) throw tooManySignIns(wait.seconds);
    const clientID = await operatorAt(ctx.db, ctx.services, URL.parse(body.origin)?.hostname ?? '');
    const origin = await originOf(ctx, clientID, body.origin);
    const provider = await providerOf(ctx.db, ctx.services, clientID!);
    if (!isFor(provider, ctx.actor.area)) throw failFields([{ path: 'origin', rule: 'oidcHost' }]);
    const { area } = ctx.actor;
    return start(ctx, provider, origin, signInFlow(ctx.services.sealing, area, { clientID: provider.clientID, origin }));
  },

  'POST /finish': async ({ ctx, body, request }) => {
    const { area } = ctx.actor;
    const { tries } = ctx.services.sessions;
    const claims = triesOf(ctx.ip, undefined, { key: 'oidc', free: limits.triesFreeOfAddress });
    const saidOf =
      (account?: Comer): Said =>
      (status, reason) =>
        auditSignIn(ctx, 'oidc/finish', account, account?.email ?? '', status, reason);
    const wait = tries.take(claims);
    if (wait) {
      if (wait.isFirst) await saidOf()(429, 'tooManyTries');
      throw tooManySignIns(wait.seconds);
    }
    const flow = await judgeFlow(ctx.db, ctx.services.sealing, body.flowKey, area);
    const { provider, told } = await came(ctx, body, flow).catch(async (error: unknown) => {
      if (!(error instanceof ClientRefused)) throw error;
      // the visitor has done nothing wrong, and can do nothing about it: the audit tells the operator
      tries.undo(claims);
      await saidOf()(502, 'providerRefusesClient');
      throw providerGone();
    });
    if (!told) {
      await saidOf()(401, 'wrongIdentity');
      throw fail('credentialFailed');
    }
    await spendFlow(ctx.db, body.flowKey, area, flow);
    const account = await accountOf(ctx.db, area, provider, told);
    if (!account) {
      await saidOf()(401, 'unknownIdentity');
      throw new Fail('credentialFailed', { errorData: [{ path: '', rule: 'oidcUnlinked' }] });
    }
    const said = saidOf(account);
    await mayCome(ctx, account, request, said);
    const isUsed = async () => {
      if (account.identityID)
        await sql`update identity set "lastUsedAt" = now() where id = ${account.identityID}`.execute(ctx.db);
    };
    const type = await factorOf(ctx.db, account);
    if (type !== types.none) {
      const { onePassKey, vcode } = await holdLogin(ctx.db, account.id, { type });
      if (type === types.mail) await mailCode({ ...ctx, ip: ctx.ip }, account, 'loginCode', vcode);
      tries.giveBack(claims);
      await said(200, 'codeAsked');
      await isUsed();
      return { onePassKey, login2FAType: type, email: account.email };
    }
    const tokens = await enter(ctx, account, request, { said, how: 'signedIn byProvider', right: () => tries.giveBack(claims) });
    if (!tokens) {
      await said(401, 'passwordChanged');
      throw fail('credentialFailed');
    }
    await isUsed();
    return tokens;
  },
});

/** Its person, by mail: who links an identity signs in by it from then on. */
async function tell(ctx: Context, account: CodeReader, template: 'identityOn' | 'identityOff', name: string): Promise<void> {
  const { email: to, language, rootID } = account;
  const data = { time: mailTime(account), name };
  await sendMail(ctx.db, ctx.services, { operatorID: operatorOf(account), rootID, to, language, template, data });
}

/** Whoever acts in another's name has no business with what the other signs in by. */
function ownOnly({ actor }: Context): void {
  if (actor.proxyName) throw fail('permissionDenied');
}
const ownProvider = async (ctx: Context) => {
  const provider = ctx.actor.clientID === null ? undefined : await providerOf(ctx.db, ctx.services, ctx.actor.clientID);
  return isFor(provider, ctx.actor.area) ? provider : undefined;
};

export const identityCalls = implement(
  identities,
  {
    'GET /identities': async ({ ctx }) => {
      ownOnly(ctx);
      const provider = await ownProvider(ctx);
      return {
        identities: await rows<{ id: number; issuer: string; name: string; createdAt: string; lastUsedAt: string | null }>(
          ctx.db,
          sql`select id, issuer, name, "createdAt", "lastUsedAt" from identity where "accountID" = ${ctx.actor.accountID} order by id`,
        ),
        label: provider ? labelOf(provider) : '',
      };
    },
    'POST /identity/start': async ({ prepared }) => prepared as { url: string; flowKey: string }, // what `prepare` of this call made
    'POST /identity': async ({ ctx, prepared }) => {
      const { provider, told } = prepared as { provider: Provider; told: Told }; // the same
      const { accountID, area } = ctx.actor;
      await sql`select 1 from account where id = ${accountID} for no key update`.execute(ctx.db);
      const { n } = (await row<{ n: number }>(
        ctx.db,
        sql`select count(*)::int as n from identity where "accountID" = ${accountID}`,
      ))!;
      if (n >= limits.linksMax) throw failFields([{ path: '', rule: 'tooMany', bounds: { n: limits.linksMax } }]);
      // whoever left may come anew: that of an account that is gone is nobody's
      await sql`delete from identity i using account a where a.id = i."accountID" and a."deletedAt" is not null
          and i."clientID" = ${provider.clientID} and i.area = ${area} and i.issuer = ${told.issuer} and i.subject = ${told.subject}`.execute(
        ctx.db,
      );
      const made = await row<{ id: number }>(
        ctx.db,
        sql`insert into identity ("accountID", "clientID", area, issuer, subject, name)
            values (${accountID}, ${provider.clientID}, ${area}, ${told.issuer}, ${told.subject}, ${told.name})
            on conflict ("clientID", area, issuer, subject) do nothing returning id`,
      );
      if (!made) throw fail('duplicated');
      ctx.note({ table: 'identity', id: made.id, after: { issuer: told.issuer, name: told.name } });
      await tell(ctx, await readerOf(ctx), 'identityOn', told.name);
      return made;
    },
    'DELETE /identity': async ({ ctx, body }) => {
      const { accountID, sessionID } = ctx.actor;
      const gone = await row<{ issuer: string; name: string }>(
        ctx.db,
        sql`delete from identity where id = ${body.identityID} and "accountID" = ${accountID} returning issuer, name`,
      );
      if (!gone) throw unknownID('identityID');
      ctx.note({ table: 'identity', id: body.identityID, before: gone });
      await ctx.services.sessions.endAll(ctx.db, accountID, sessionID);
      await tell(ctx, await readerOf(ctx), 'identityOff', gone.name);
      return {};
    },
  },
  {
    prepare: {
      // the provider is asked before the call has its turn: it may take a while
      'POST /identity/start': async ({ ctx, body, request }) => {
        await ownPassword(ctx, request, body.password, 'password');
        const provider = await ownProvider(ctx);
        const origin = await originOf(ctx, provider?.clientID, body.origin);
        const { area, accountID } = ctx.actor;
        const { clientID } = provider!; // without one no origin is good
        return start(ctx, provider!, origin, await newLinkFlow(ctx.db, area, accountID, { clientID, origin }));
      },
      'POST /identity': async ({ ctx, body }) => {
        ownOnly(ctx);
        const { area, accountID } = ctx.actor;
        const flow = await takeLinkFlow(ctx.db, body.flowKey, area, accountID);
        const found = await came(ctx, body, flow).catch((error: unknown) => {
          throw error instanceof ClientRefused ? providerGone() : error;
        });
        if (!found.told) throw fail('credentialFailed');
        return found;
      },
      'DELETE /identity': ({ ctx, body, request }) => ownPassword(ctx, request, body.password, 'password'),
    },
  },
);
