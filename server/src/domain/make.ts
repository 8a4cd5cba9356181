/** Domains made together: what a product and a licence have room for, names that nobody else has, each with its origins. */
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { fail } from '#contract/errors.ts';
import type { domains } from '#contract/domain/domains.ts';
import type { Context } from '../kit/context.ts';
import { unknownID } from '../kit/store.ts';
import { row, rows } from '../store/db.ts';
import { refusedNames } from './claims.ts';
import { type DomainRow, domainTable, upstreamTable } from './tables.ts';
import { lower } from './upstreams.ts';

/** How many more domains the site's product allows, and the operator's licence. */
export async function room(ctx: Context, siteID: number): Promise<number> {
  const { clientID } = ctx.actor;
  const licensed = clientID === null ? Infinity : await ctx.services.licences.room(ctx.db, clientID, 'domains');
  return Math.min(licensed, await productRoom(ctx, siteID));
}
async function productRoom(ctx: Context, siteID: number): Promise<number> {
  const found = await row<{ max: number }>(
    ctx.db,
    sql`select coalesce(s."domainLimit", p."domainLimit") as max from site s join product p on p.id = s."productID" where s.id = ${siteID} and s."deletedAt" is null`,
  );
  if (!found) throw unknownID('siteID');
  if (found.max === 0) return Infinity;
  const { n } = (await row<{ n: number }>(
    ctx.db,
    sql`select count(*) as n from domain where "siteID" = ${siteID} and "deletedAt" is null`,
  ))!;
  return found.max - n;
}

export type NewDomain = z.output<NonNullable<(typeof domains)['defs']['POST /domains']['body']>>['domains'][number] &
  Partial<Pick<DomainRow, 'status' | (typeof settled)[number]>>;

/** What is set of a domain later than it is made. */
export const settled = ['scheme', 'portMap', 'tlsOption', 'forceSSL', 'hsts'] as const;

const hasEnabled = ({ upstreams }: NewDomain) => upstreams.some(one => one.enabled ?? true);

/** Those with an origin that is on, whose name nobody has, nor another before them in the list. */
async function clearOf(ctx: Context, wanted: readonly NewDomain[]): Promise<Set<NewDomain>> {
  const taken = await rows<{ domainName: string }>(
    ctx.db,
    sql`select "domainName" from domain where "domainName" = any(${wanted.map(one => one.domainName)}) and status = 1 and "deletedAt" is null`,
  );
  const names = new Set(taken.map(one => one.domainName));
  return new Set(wanted.filter(one => hasEnabled(one) && !names.has(one.domainName) && names.add(one.domainName)));
}

/** These, as they are: nothing else was to be said of them. */
export async function insert(ctx: Context, siteID: number, wanted: readonly NewDomain[]): Promise<number[]> {
  const bare = wanted.map(domain => {
    const { upstreams: _, ...rest } = domain;
    return rest;
  });
  const ids = await ctx.store(domainTable, { siteID }).add(bare);
  await ctx
    .store(upstreamTable)
    .add(wanted.flatMap(({ upstreams }, i) => upstreams.map(one => ({ ...lower(one), domainID: ids[i]! }))));
  return ids;
}

export interface Making {
  /** what `provenNames` found before the call had its turn */
  proven: unknown;
  /** leads to the name of the n-th */
  path: (i: number) => string;
  /** what goes with those that were made, or they are not */
  after?: (made: readonly { id: number; domainName: string }[]) => Promise<void>;
}

/**
 * All of these that can be made; the rest is told by name (101009).
 * @throws 401001 the name is live, 401006 no room, 401008 no origin is on, 101003 the name is somebody else's
 */
export async function makeAll(
  ctx: Context,
  siteID: number,
  wanted: readonly NewDomain[],
  { proven, path, after }: Making,
): Promise<{ ids: number[] }> {
  let free = await room(ctx, siteID);
  const ids: number[] = [];
  const make = async (some: readonly NewDomain[]) => {
    if (!some.every(hasEnabled)) throw fail('noUpstreamEnabled');
    const made = await insert(ctx, siteID, some);
    await after?.(made.map((id, i) => ({ id, domainName: some[i]!.domainName })));
    ids.push(...made);
  };
  const refused = await refusedNames(
    ctx,
    siteID,
    wanted.map(one => one.domainName),
    proven instanceof Set ? proven : new Set(),
  );
  const clear = await clearOf(
    ctx,
    wanted.filter(one => !refused.has(one.domainName)),
  );
  // Nearly always all of them can be made: with a few statements instead of ten for each, while others wait. Whatever
  // stands against that is found out one by one.
  const isMade = clear.size <= free && !(await ctx.attempt(() => make([...clear])));
  if (isMade) free -= clear.size;
  if (isMade && clear.size === wanted.length) return { ids };
  await ctx.each(
    wanted,
    domain => domain.domainName,
    async domain => {
      if (isMade && clear.has(domain)) return;
      const refusal = refused.get(domain.domainName);
      if (refusal) throw refusal(path(wanted.indexOf(domain)));
      if (free <= 0) throw fail('domainsExceeded');
      if (isMade) throw fail(hasEnabled(domain) ? 'duplicateDomains' : 'noUpstreamEnabled');
      await make([domain]);
      free--;
    },
  );
  return { ids };
}
