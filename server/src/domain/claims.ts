/**
 * Whose a name is, where two customers could mean it (decisions.md): one below another customer's live name, or one that another customer
 * has as well, is taken only by who can write into its zone, which a TXT record shows. The record is a word of the installation about this
 * customer and this name: nothing is kept, and one that was set early is found at the first try.
 */
import { sql } from 'kysely';
import { getPublicSuffix } from 'tldts';
import { type Fail, failFields } from '#contract/errors.ts';
import type { Bounds } from '#contract/rules/rule.ts';
import type { Context } from '../kit/context.ts';
import { proofOf, seenProof } from '../kit/name-proof.ts';
import { type Line, lanesOf, partyOf, Turns } from '../kit/turns.ts';
import { siteTable } from '../site/tables.ts';
import { rows } from '../store/db.ts';

/** Of one call: an answer does not wait for more. */
const lookedMost = 100;
const atOnce = 20;
/** Of all such calls, each ten seconds long and so many sockets where nobody answers: no customer has them all. */
const turns = new Turns({ name: 'nameProofs', lanes: lanesOf(10), each: 2, waiting: 30, waitingAll: 300, waitMs: 30_000 });

const baseOf = (name: string) => (name.startsWith('*.') ? name.slice(2) : name);

/** Live names that speak for this one too; the name itself is asked for beside them. */
export function above(name: string): string[] {
  const base = baseOf(name);
  const labels = base.split('.');
  const found = [`*.${base}`, base];
  for (let at = 1; at < labels.length - 1; at++) {
    const suffix = labels.slice(at).join('.');
    found.push(suffix, `*.${suffix}`);
  }
  return found.filter(one => one !== name);
}

/** Everybody's: `com`, `co.uk`, and all names below them at once. */
export function isEverybodys(name: string): boolean {
  const base = baseOf(name);
  return getPublicSuffix(base) === base;
}

/** The word that a domain has about its name: its own id, or that of the one it was copied from (0362_domain_claim.sql). A lower one spoke first. */
export const claimOf = (domain: string) => sql.raw(`coalesce(${domain}."claimID", ${domain}.id)`);

/** Domains that were there and go live again: the word of each by its name. */
export type Resumed = ReadonlyMap<string, number>;

/**
 * Which of these names are another customer's business too, and whose site it is. A name that goes live again is not asked for once more
 * because of those who came later, unless they have the very name: over the one that was there they had to show whose it is.
 */
async function contested(
  ctx: Context,
  siteID: number,
  names: readonly string[],
  resumed?: Resumed,
): Promise<{ userID: number; names: Set<string> }> {
  // of somebody else's site nobody is told anything, and nobody is asked for it
  const [site] = await ctx.store(siteTable).pick(['userID'], [sql`t.id = ${siteID}`]);
  if (!site) return { userID: 0, names: new Set() };
  const spoken = new Map(names.map(name => [name, above(name)]));
  const others = await rows<{ domainName: string; live: number | null; last: number }>(
    ctx.db,
    sql`select d."domainName", max(${claimOf('d')}) filter (where d.status = 1) as live, max(${claimOf('d')}) as last from domain d join site s on s.id = d."siteID"
        where d."domainName" = any(${[...new Set([...spoken].flat(2))]}) and d."deletedAt" is null and s."deletedAt" is null
          and s."userID" <> ${site.userID} group by 1`,
  );
  // one that is live is its owner's: to have it twice is no question of whose it is (401001)
  const held = await rows<{ domainName: string }>(
    ctx.db,
    sql`select d."domainName" from domain d join site s on s.id = d."siteID" where d."domainName" = any(${[...names]}) and d.status = 1
          and d."deletedAt" is null and s."deletedAt" is null and s."userID" = ${site.userID}`,
  );
  const own = new Set(held.map(one => one.domainName));
  const found = new Map(others.map(one => [one.domainName, one]));
  const isContested = (name: string) => {
    if (own.has(name)) return false;
    const before = resumed?.get(name);
    const same = found.get(name);
    // one that is live elsewhere is told as such (401001)
    if (same?.live === null && (before === undefined || same.last > before)) return true;
    return spoken.get(name)!.some(one => {
      const live = found.get(one)?.live ?? null;
      return live !== null && (before === undefined || live < before);
    });
  };
  return { userID: site.userID, names: new Set(names.filter(isContested)) };
}

/**
 * Names that may be taken although others have a word in them: their zones hold the record. Asks DNS, so before any transaction, and in
 * turns where there is anything to ask. `line`: over which somebody waits
 */
export async function provenNames(
  ctx: Context,
  { siteID, names, resumed, line }: { siteID: number; names: readonly string[]; resumed?: Resumed; line: Line | undefined },
): Promise<ReadonlySet<string>> {
  const { userID, names: open } = await contested(ctx, siteID, names, resumed);
  const waiting = [...open].slice(0, lookedMost);
  const proven = new Set<string>();
  if (!waiting.length) return proven;
  const look = async () => {
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop())
      if ((await seenProof(ctx.services, userID, baseOf(name))) === 'proven') proven.add(name);
  };
  await turns.run(partyOf(ctx.actor), () => Promise.all(Array.from({ length: atOnce }, look)), line);
  return proven;
}

/** Those that a virtual node of the site's operator leads to: it would be led back to where it came from, round and round. */
async function ledTo(ctx: Context, siteID: number, names: readonly string[]): Promise<ReadonlySet<string>> {
  const found = await rows<{ name: string }>(
    ctx.db,
    sql`select n.name from unnest(${[...names]}::text[]) as n(name) where exists (select from "virtualNodeRecord" r
      join "virtualNode" v on v.id = r."virtualNodeID" and v."deletedAt" is null join site s on s."clientID" = v."clientID"
      where s.id = ${siteID} and r."deletedAt" is null
        and case when n.name like '*.%' then right(r.target, length(n.name) - 1) = substr(n.name, 2) else r.target = n.name end)`,
  );
  return new Set(found.map(one => one.name));
}

/** Why these names are refused, those that are: everybody's, names of ours lead there, or another customer's word is missing. */
export async function refusedNames(
  ctx: Context,
  siteID: number,
  names: readonly string[],
  proven: ReadonlySet<string>,
  resumed?: Resumed,
): Promise<Map<string, (path: string) => Fail>> {
  const { userID, names: open } = await contested(ctx, siteID, names, resumed);
  const led = await ledTo(ctx, siteID, names);
  const refused = new Map<string, (path: string) => Fail>();
  for (const name of names) {
    if (led.has(name)) refused.set(name, path => failFields([{ path, rule: 'domainLedTo', bounds: { value: name } }]));
    if (!resumed && isEverybodys(name))
      refused.set(name, path => failFields([{ path, rule: 'wrongFormat', bounds: { why: 'hostPublicSuffix' } }]));
    if (!open.has(name) || proven.has(name)) continue;
    const bounds: Bounds = proofOf(ctx.services, userID, baseOf(name));
    refused.set(name, path => failFields([{ path, rule: 'nameUnproven', bounds }]));
  }
  return refused;
}
