/** How many rules lines are, as the embedded name server is told of them; counted, not made: whoever wishes for too many is told before. */
import { sql } from 'kysely';
import { lineKeysMax, operatorLineRulesMax, resolutionLimits } from '#contract/limits.ts';
import { continentOfCountry } from '#contract/places.ts';
import { failFields } from '#contract/errors.ts';
import { type Addressed, addressesOf } from './answered.ts';
import type { Context } from './context.ts';
import { indexOf } from './place.ts';
import type { GeoIndex } from './services.ts';
import { rows } from '../store/db.ts';

/** Rules of a signed zone count so many times: each is signed when it is read. */
export const signedRuleCost = 16;
/** So many addresses of an answer take as long to read as a rule. */
const addressesOfRule = 8;
/** What a rule counts for that is answered with so many. */
export const ruleCost = (addresses: number): number => 1 + Math.floor(addresses / addressesOfRule);

interface LineFor {
  cidrs: readonly string[];
  asns?: readonly number[];
  places?: readonly string[];
}
/** ASN → in how many places of the data it is. */
const countsOf = new WeakMap<GeoIndex, ReadonlyMap<number, number>>();
function counts(index: GeoIndex): ReadonlyMap<number, number> {
  const known = countsOf.get(index);
  if (known) return known;
  const made = new Map<number, number>();
  for (const [, whose] of index.pairs) {
    const asn = index.whose[whose]![0];
    made.set(asn, (made.get(asn) ?? 0) + 1);
  }
  countsOf.set(index, made);
  return made;
}

/** Of one line: networks, and places with what its ASNs stand in. Without data an ASN is in none, and nothing counts by place. */
export function rulesOfLine({ cidrs, asns = [], places = [] }: LineFor, index: GeoIndex | undefined) {
  const known = index && asns.length ? counts(index) : undefined;
  return {
    networks: cidrs.length,
    places: index ? places.length + asns.reduce((sum, asn) => sum + (known?.get(asn) ?? 0), 0) : 0,
  };
}

/** Everything that data know of places and ASNs, as lines name it; a country is found by its continent, so in another it is not. */
const knownOf = new WeakMap<GeoIndex, ReadonlySet<string>>();
function namesIn(index: GeoIndex): ReadonlySet<string> {
  const ready = knownOf.get(index);
  if (ready) return ready;
  const made = new Set<string>();
  for (const at of new Set(index.pairs.map(([where]) => where))) {
    const [continent, country, region] = index.where[at]!;
    if (continent) made.add(`continent:${continent}`);
    if (!country || continentOfCountry.get(country) !== continent) continue;
    made.add(country);
    if (region) made.add(`${country}-${region}`);
  }
  for (const asn of counts(index).keys()) made.add(`AS${asn}`);
  knownOf.set(index, made);
  return made;
}
/** Places and ASNs of a line that no address is in by these data; of none at all nothing is said, as that is told elsewhere. */
export function unmatchedOf({ asns = [], places = [] }: Omit<LineFor, 'cidrs'>, index: GeoIndex | undefined): string[] {
  if (!index) return [];
  const all = namesIn(index);
  return [...places, ...asns.map(asn => `AS${asn}`)].filter(one => !all.has(one));
}

interface LineMember {
  backup: boolean;
  addresses: string[];
  /** null: both families */
  versions: ('ipv4' | 'ipv6' | null)[] | null;
}
const nodeOf = sql`node n on n."deletedAt" is null and n.type = 'edge' and n."zoneID" = g."zoneID"`;
const addresses = sql`n.addresses || array(select s.address from "nodeSub" s where s."nodeID" = n.id and s."deletedAt" is null) as addresses`;
/** Who stands on a line `l` of a group `g`, with addresses. */
const membersOf = sql`select ln.backup, ${addresses}, null::text[] as versions from "lineNode" ln join ${nodeOf} and n.id = ln."nodeID"
    where ln."groupID" = g.id and ln."lineID" = l.id
  union all select lv.backup, ${addresses}, r.versions from "lineVirtualNode" lv
    join (select "virtualNodeID", "nodeID", array_agg("ipVersion") as versions from "virtualNodeRecord" where "deletedAt" is null group by 1, 2) r
      on r."virtualNodeID" = lv."virtualNodeID" join ${nodeOf} and n.id = r."nodeID"
    where lv."groupID" = g.id and lv."lineID" = l.id`;
/** That a line answers with at most, as who stands on it is now: its mains, or its backups. */
function addressCount(members: readonly LineMember[]): number {
  const answered = (some: readonly LineMember[]) => {
    const all = some.map(({ addresses: own, versions }): Addressed =>
      versions ? { addresses: own, families: new Set(versions.map(one => (one === 'ipv4' ? 4 : 6))) } : { addresses: own },
    );
    const count = (family: 4 | 6) =>
      Math.min(new Set(all.flatMap(one => addressesOf(one, family))).size, resolutionLimits.addressesMax[family]);
    return count(4) + count(6);
  };
  return Math.max(answered(members.filter(one => !one.backup)), answered(members.filter(one => one.backup)));
}

export interface Used {
  /** of all lines of the operator, in all its CNAME zones */
  all: number;
  /** group → rules by place, in one zone */
  groups: ReadonlyMap<number, number>;
}
/** What the lines of the operator make now. Who has no CNAME zone yet is reckoned as if there were one. */
export async function usedRules({ db, actor, services }: Context): Promise<Used> {
  const zones = await rows<{ signed: boolean }>(
    db,
    sql`select c.signed from cname c join "dnsSetting" s on s.id = c."dnsSettingID" where c."clientID" = ${actor.rootID} and c."deletedAt" is null and s.driver = 'knot'`,
  );
  const found = await rows<LineFor & { groupID: number; members: LineMember[] }>(
    db,
    sql`select l."groupID", l.cidrs, l.asns, l.places, coalesce((select jsonb_agg(m) from (${membersOf}) m), '[]') as members
      from line l join "group" g on g.id = l."groupID" where g."clientID" = ${actor.rootID} and g."deletedAt" is null`,
  );
  const isByPlace = found.some(({ asns = [], places = [] }) => asns.length + places.length > 0);
  const index = isByPlace ? indexOf(await services.geo?.places()) : undefined;
  const groups = new Map<number, number>();
  let inOne = 0;
  for (const { groupID, members, ...line } of found) {
    const { networks, places } = rulesOfLine(line, index);
    groups.set(groupID, (groups.get(groupID) ?? 0) + places);
    inOne += (networks + places) * ruleCost(addressCount(members));
  }
  return {
    all:
      inOne *
      Math.max(
        1,
        zones.reduce((sum, { signed }) => sum + (signed ? signedRuleCost : 1), 0),
      ),
    groups,
  };
}

/** A change that makes more of them than there may be is refused; what was there before may stay, and become less. */
export async function checkRules(ctx: Context, before: Used, path: string, groupID?: number): Promise<void> {
  const now = await usedRules(ctx);
  const used = groupID === undefined ? 0 : (now.groups.get(groupID) ?? 0);
  if (groupID !== undefined && used > lineKeysMax && used > (before.groups.get(groupID) ?? 0))
    throw failFields([{ path, rule: 'lineKeys', bounds: { used, n: lineKeysMax } }]);
  if (now.all > operatorLineRulesMax && now.all > before.all)
    throw failFields([{ path, rule: 'lineRules', bounds: { used: now.all, n: operatorLineRulesMax } }]);
}
/** The same of who comes to stand on a line: rules count for more with more addresses. `groupID`: where the line may be made by that. */
export async function withinRules(ctx: Context, path: string, act: () => Promise<void>, groupID?: number): Promise<void> {
  const before = await usedRules(ctx);
  await act();
  await checkRules(ctx, before, path, groupID);
}
