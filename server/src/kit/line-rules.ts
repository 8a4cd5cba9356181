/** How many rules lines are, as the embedded name server is told of them; counted, not made: whoever wishes for too many is told before. */
import { sql } from 'kysely';
import { lineKeysMax, operatorLineRulesMax } from '#contract/limits.ts';
import { failFields } from '#contract/errors.ts';
import type { Context } from './context.ts';
import type { GeoIndex } from './services.ts';
import { rows } from '../store/db.ts';

/** Rules of a signed zone count so many times: each is signed when it is read. */
export const signedRuleCost = 16;

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
  const found = await rows<LineFor & { groupID: number }>(
    db,
    sql`select l."groupID", l.cidrs, l.asns, l.places from line l join "group" g on g.id = l."groupID" where g."clientID" = ${actor.rootID} and g."deletedAt" is null`,
  );
  const isByPlace = found.some(({ asns = [], places = [] }) => asns.length + places.length > 0);
  const index = isByPlace ? (await services.geo?.places())?.index : undefined;
  const groups = new Map<number, number>();
  let inOne = 0;
  for (const { groupID, ...line } of found) {
    const { networks, places } = rulesOfLine(line, index);
    groups.set(groupID, (groups.get(groupID) ?? 0) + places);
    inOne += networks + places;
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
