/**
 * Whose the hostnames of consoles are. What people sign in at is what they are shown there, so an operator names a hostname for its console or
 * its branding only with a record in that name's zone (kit/name-proof.ts). That one of its customers has a site of that name says nothing:
 * anybody may enter a name that nobody else has.
 */
import { isIP, isIPv6 } from 'node:net';
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { fail, failFields } from '#contract/errors.ts';
import type { HostProof } from '#contract/system/host-proof.ts';
import type { Context } from '../kit/context.ts';
import { proofOf, seenProof } from '../kit/name-proof.ts';
import { isOwner } from '../kit/owner.ts';
import type { Services } from '../kit/services.ts';
import { lanesOf, partyOf, Turns } from '../kit/turns.ts';
import { row } from '../store/db.ts';

type Field = 'hostname' | 'outgoingURL';
/** Of all who ask, each question seconds long where nobody answers: no operator has them all. */
const turns = new Turns({ name: 'hostProofs', lanes: lanesOf(24), each: 4, waiting: 20, waitingAll: 500, waitMs: 10_000 });

/** As hostnames are stored and compared: an IPv6 address in its one short form, in brackets (RFC 5952, RFC 3986 3.2.2). */
export function hostForm(host: string): string {
  const lower = host.toLowerCase();
  const address = lower.replace(/^\[|\]$/g, '');
  return isIPv6(address) && !address.includes('%') ? new URL(`http://[${address}]`).hostname : lower;
}

/** What everybody comes by is not one operator's to paint, unless it is the owner's. */
export function isOfInstallation({ publicURL }: Pick<Services, 'publicURL'>, hostname: string): boolean {
  const own = URL.canParse(publicURL) ? new URL(publicURL).hostname : '';
  return hostname === own || hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
}

const shownOf = (hostname: string) => sql`(
  exists (select from brand b where b."clientID" = a.id and b."deletedAt" is null and b.hostname = ${hostname})
  or exists (select from setting s where s."clientID" = a.id and s.key = 'outgoingURL'
    and lower(substring(s.value #>> '{}' from '^https?://([^/:]+|\\[[^]]+\\])')) = ${hostname}))`;

/**
 * Whether nothing is asked: of the installation's owner, and of a name that shows this operator already, by a brand or as the console's
 * address, so that what was there before a record was asked for goes on.
 * @throws 101003 `hostOfInstallation` at the field
 */
async function isFree(ctx: Context, path: Field, hostname: string): Promise<boolean> {
  if (await isOwner(ctx)) return true;
  if (isOfInstallation(ctx.services, hostname)) throw failFields([{ path, rule: 'hostOfInstallation' }]);
  return !!(await row(ctx.db, sql`select 1 from account a where a.id = ${ctx.actor.rootID} and ${shownOf(hostname)}`));
}

const unproven = (ctx: Context, path: Field, hostname: string) =>
  failFields([{ path, rule: 'nameUnproven', bounds: proofOf(ctx.services, ctx.actor.rootID, hostname) }]);

const seen = (ctx: Context, hostname: string) =>
  turns.run(partyOf(ctx.actor), () => seenProof(ctx.services, ctx.actor.rootID, hostname));

/** What is asked of this operator for a hostname, and what its zone says now. @throws 101003 `hostOfInstallation` */
export async function hostProof(ctx: Context, path: Field, hostname: string): Promise<z.output<typeof HostProof>> {
  const { rootID } = ctx.actor;
  const state = (await isFree(ctx, path, hostname)) ? 'free' : await seen(ctx, hostname);
  return { state, ...proofOf(ctx.services, rootID, hostname) };
}

/**
 * Whether the record was seen. Asks DNS, so before any transaction.
 * @throws 101003 `hostOfInstallation`, `nameUnproven` at the field
 */
export async function provenHostname(ctx: Context, path: Field, hostname: string): Promise<boolean> {
  if (await isFree(ctx, path, hostname)) return false;
  if ((await seen(ctx, hostname)) === 'proven') return true;
  throw unproven(ctx, path, hostname);
}

/**
 * Whose branding a hostname shows is one answer: it is one operator's, by a brand or as the console's address. Held until the transaction
 * ends, so that two who ask at once do not both get it.
 * @param isProven what `provenHostname` answered
 * @throws 101003 `hostOfInstallation`, `nameUnproven` at the field; 101025
 */
export async function claimHostname(ctx: Context, path: Field, hostname: string, isProven: boolean): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`brand host ${hostname}`}, 0))`.execute(ctx.db);
  // once more: it may have been given up meanwhile
  if (!(await isFree(ctx, path, hostname)) && !isProven) throw unproven(ctx, path, hostname);
  const taken = await row(
    ctx.db,
    sql`select 1 from account a where a.id <> ${ctx.actor.rootID} and a."deletedAt" is null and ${shownOf(hostname)} limit 1`,
  );
  if (taken) throw fail('duplicated');
}
