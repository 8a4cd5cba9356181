/** The OpenID provider of an operator: what is set, and whether it is there. */
import { sql } from 'kysely';
import { fail, type FieldError, failFields } from '#contract/errors.ts';
import { oidcLimits } from '#contract/limits.ts';
import { oidc } from '#contract/account/oidc-setting.ts';
import type { Context } from '../kit/context.ts';
import { allOrigins } from '../kit/console-url.ts';
import { tooManyPasswords } from '../kit/hashing.ts';
import { implement } from '../kit/implement.ts';
import { providerOf, tryProvider } from '../kit/oidc.ts';
import { col, table } from '../kit/table.ts';
import { ownFactor } from './own-factor.ts';
import { ownPassword } from './session.ts';

interface OIDCRow extends Record<string, unknown> {
  id: number;
  version: number;
  enable: boolean;
  issuer: string;
  client: string;
  secretIsSet: boolean;
  label: string;
  forOperator: boolean;
  forCustomers: boolean;
  byEmail: boolean;
}
export const oidcTable = table<OIDCRow>()({
  table: 'oidc',
  scope: { tenant: [['clientID']], owner: (actor, a) => sql`${col('clientID', a)} = ${actor.rootID}` },
  sealed: ['secret'],
});
const none = {
  enable: false,
  issuer: '',
  client: '',
  secretIsSet: false,
  label: '',
  forOperator: false,
  forCustomers: false,
  byEmail: false,
  version: 0,
};

/** Whoever chooses the provider chooses who signs in as whom, for longer than they act in another's name. */
function rootOnly({ actor }: Context): void {
  if (!actor.isRoot || actor.proxyName) throw fail('permissionDenied');
}

interface Wished {
  enable: boolean;
  issuer: string;
  client: string;
  secret?: string | null | undefined;
}
/** What may be stored of it. @throws 101003 at a field, 409 where the row is another than its maker saw */
async function judge(ctx: Context, wished: Wished): Promise<OIDCRow | undefined> {
  const store = ctx.store(oidcTable);
  const [known] = (await store.page({ pageSize: 1 })).data;
  const isOther = !!known?.secretIsSet && known.issuer !== '' && wished.issuer !== known.issuer;
  // the secret of one provider is not told to another
  if (isOther && wished.secret === undefined) throw failFields([{ path: 'secret', rule: 'required' }]);
  if (wished.enable) {
    const missing = (['issuer', 'client'] as const)
      .filter(name => wished[name] === '')
      .map((path): FieldError => ({ path, rule: 'required' }));
    const hasSecret = wished.secret === undefined ? known?.secretIsSet === true : !!wished.secret;
    if (!hasSecret) missing.push({ path: 'secret', rule: 'required' });
    if (missing.length) throw failFields(missing);
  }
  if (known) await store.expect(known.id, { ...wished });
  else {
    const { secretIsSet: _, ...blank } = none;
    await ctx.expect('oidc', { id: ctx.actor.rootID, ...blank, secret: null }, { ...wished });
  }
  return known;
}

export const oidcCalls = implement(
  oidc,
  {
    'GET /oidc': async ({ ctx }) => {
      const [known] = (await ctx.store(oidcTable).page({ pageSize: 1 })).data;
      const { enable, issuer, client, secretIsSet, label, forOperator, forCustomers, byEmail, version } = known ?? none;
      const origins = await allOrigins(ctx.db, ctx.services, ctx.actor.rootID);
      const callbacks = origins.flatMap(origin => [
        ...(forOperator ? [`${origin}/client/oidc`] : []),
        ...(forCustomers ? [`${origin}/user/oidc`] : []),
      ]);
      return {
        ...{ enable, issuer, client, secretIsSet, label, forOperator, forCustomers, byEmail, version },
        callbacks: callbacks.slice(0, 200),
      };
    },
    'PUT /oidc': async ({ ctx, body: { password: __, code: ___, ...body } }) => {
      rootOnly(ctx);
      const known = await judge(ctx, body);
      const store = ctx.store(oidcTable);
      if (known) await store.set(known.id, body);
      else await store.add([body], { clientID: ctx.actor.rootID });
      return {};
    },
    'POST /oidc/test': async ({ ctx }) => {
      const { actor, services } = ctx;
      const wait = services.sessions.tries.take([
        { kind: 'account', key: `oidc test ${actor.rootID}`, free: oidcLimits.testsFree },
      ]);
      if (wait) throw tooManyPasswords('issuer', wait.seconds);
      const provider = await providerOf(ctx.db, services, actor.rootID, false);
      if (!provider) throw failFields([{ path: 'issuer', rule: 'required' }]);
      const origins = await allOrigins(ctx.db, services, actor.rootID);
      const callback = `${origins[0] ?? services.publicURL}/${provider.forOperator ? 'client' : 'user'}/oidc`;
      return { endpoint: (await tryProvider(services, provider, callback)).slice(0, 500) };
    },
  },
  {
    prepare: {
      // before the call has its turn: a password takes long to judge, and a wrong code counts whatever becomes of the call
      'PUT /oidc': async ({ ctx, body, request }) => {
        rootOnly(ctx);
        const { password, code, ...wished } = body;
        await ownPassword(ctx, request, password, 'password');
        // a code serves once: not for a form that is refused
        await judge(ctx, wished);
        await ownFactor(ctx, code);
      },
    },
  },
);
