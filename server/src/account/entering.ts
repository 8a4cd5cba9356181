/** What every way of signing in has: who may come in and from where, tries by address, the line in the audit, the session with its device. */
import { sql } from 'kysely';
import { Fail } from '#contract/errors.ts';
import type { Area } from '#contract/kit/call.ts';
import type { Language } from '#contract/kit/text.ts';
import type { SignInReason } from '#contract/states-audit.ts';
import { type AccountState, reasonError, stoppedReasons } from '#contract/states.ts';
import type { Reason } from '#contract/states-reasons.ts';
import { ownStatusOf } from '../kit/acting.ts';
import type { ActingToken } from '../kit/actor.ts';
import { audit, type Context } from '../kit/context.ts';
import { isIPv6Network, neighbourhoods } from '../kit/networks.ts';
import type { Incoming } from '../kit/request.ts';
import type { Tokens } from '../kit/session.ts';
import type { Claim } from '../kit/tries.ts';
import { row } from '../store/db.ts';
import { newDevice } from './new-device.ts';

/** Wrong tries that cost no time: for an account from one address, from one address, from a known device, of one's own session. */
export const free = { pair: 10, address: 50, device: 10, own: 10 } as const;

export interface Comer {
  id: number;
  password: string | null;
  status: AccountState;
  rootID: number;
  parentClient: number | null;
  email: string;
  auth: Area;
  language: Language;
  timezone: string;
}
/** Writes down how it went. */
export type Said = (status: number, reason: SignInReason) => Promise<void>;

/** How a sign-in ended: good or bad, it stands in the audit, with where it came from. */
export async function auditSignIn(
  ctx: Context,
  path: string,
  account: Pick<Comer, 'id' | 'rootID' | 'parentClient'> | undefined,
  email: string,
  status: number,
  reason: SignInReason,
  token: Pick<ActingToken, 'id' | 'name'> | null = null,
) {
  const { area } = ctx.actor;
  await audit(ctx.services, ctx.db, {
    reqID: ctx.reqID,
    actor: {
      accountID: account?.id ?? null,
      email,
      proxyID: null,
      proxyName: null,
      clientID: !account || area === 'admin' ? null : area === 'client' ? account.rootID : account.parentClient,
      area,
      rootID: account?.rootID ?? 0,
      token,
    },
    method: token ? 'PATCH' : 'POST',
    url: `/api/v1/${area}${path && `/${path}`}`,
    permission: null,
    body: null,
    ip: ctx.ip,
    changes: [],
    status,
    durationMs: performance.now() - ctx.startedAt,
    reason,
    isKept: status === 200,
    isStranger: status !== 200,
  });
}

/** Who left, in whose name: whoever wonders until when somebody was there reads it. */
export async function auditSignOut(
  ctx: Context,
  { accountID, proxyID }: { accountID: number; proxyID: number | null },
): Promise<void> {
  const { sessions } = ctx.services;
  // whoever acted may be gone, or may not any more
  const actor = (await sessions.acting(ctx.db, accountID, proxyID)) ?? (await sessions.acting(ctx.db, accountID));
  if (!actor) return;
  await audit(ctx.services, ctx.db, {
    reqID: ctx.reqID,
    actor,
    method: 'DELETE',
    url: `/api/v1/${actor.area}`,
    permission: null,
    body: null,
    ip: ctx.ip,
    changes: [],
    status: 200,
    durationMs: performance.now() - ctx.startedAt,
    reason: 'signedOut',
    isKept: true,
  });
}

/**
 * Strangers are held up by their address, and by what they try seen from their address (`what`): whoever signed in from this device before
 * has a count of its own, so that nobody can lock it out.
 */
export function triesOf(ip: string, device: string | undefined, what: { key: string; free: number }): Claim[] {
  if (device) return [{ kind: 'account', key: `device ${device}`, free: free.device }];
  const [network, address] = neighbourhoods(ip);
  return [
    { key: `${what.key} ${address}`, free: what.free },
    { kind: 'address', key: `address ${address}`, free: free.address },
    // a /48 has 65,536 of them; an IPv4 /24 is of many who know nothing of each other
    ...(isIPv6Network(network)
      ? [
          { key: `${what.key} ${network}`, free: 3 * what.free },
          { kind: 'address' as const, key: `network ${network}`, free: 3 * free.address },
        ]
      : []),
  ];
}

/** Why an account that is not normal lets nobody in. Of those above it, no more than that it is one of them: how an operator stands is its own. */
async function whyStopped(ctx: Context, account: Pick<Comer, 'id'>): Promise<Reason> {
  const own = await row<{ status: AccountState }>(
    ctx.db,
    sql`select ${ownStatusOf} as status from account a where a.id = ${account.id}`,
  );
  return stoppedReasons[!own || own.status === 'normal' ? 'above' : own.status];
}

/**
 * Of whoever has shown who they are, and of nobody else: they are told why.
 * @throws accountNotEnabled, with its reason; permissionDenied where its operator lets nobody in from there
 */
export async function mayCome(ctx: Context, account: Comer, request: Pick<Incoming, 'ip'>, said: Said): Promise<void> {
  if (account.status !== 'normal') {
    await said(403, account.status);
    const why = await whyStopped(ctx, account);
    throw new Fail(reasonError(why), { errorData: [{ path: '', rule: 'refused', bounds: { why } }] });
  }
  await ctx.services.sessions.mayEnter(ctx.db, account.id, request.ip, () => said(403, 'permissionDenied'));
}

/** The mark of the device, where this account signed in from it before with the password it has now. */
export const knownDevice = (ctx: Context, account: Pick<Comer, 'id' | 'auth' | 'password'> | undefined, request: Incoming) =>
  account?.password ? ctx.services.sessions.devices.known(request.cookie, account.auth, account.id, account.password) : undefined;

/**
 * Opens the session of whoever proved who they are, for as long as the password that was read is still the account's; undefined when it is
 * not, or the account stopped. `right`: once it is open, gives back what was counted. `open`: where more has to hold at that instant.
 */
export async function enter(
  ctx: Context,
  account: Comer,
  request: Incoming,
  {
    said,
    how = 'signedIn',
    right,
    open,
  }: { said: Said; how?: SignInReason; right: () => void; open?: () => Promise<Tokens | undefined> },
): Promise<Tokens | undefined> {
  const { sessions } = ctx.services;
  const isKnown = !!knownDevice(ctx, account, request);
  const told = await newDevice(ctx, account, request, isKnown);
  const tokens = await (open?.() ?? sessions.openWith(ctx.db, account.id, account.password, request));
  if (!tokens) return undefined;
  right();
  await said(200, how);
  await told();
  const mark = sessions.devices.cookie(account.auth, account.id, account.password ?? '', request.isSecure);
  request.answer('Set-Cookie', mark);
  return tokens;
}
