/**
 * What accounts hold now (decisions.md, Who may do what). A root holds every key of its area. Everybody else holds the
 * keys of its role, as far as the role's maker holds them, who in turn … up to the root: whoever loses a key takes it
 * from all who have it from there.
 */
import { sql } from 'kysely';
import type { Area } from '#contract/kit/call.ts';
import { type Db, rows } from '../store/db.ts';

/** A chain of makers this long is a circle. */
const depthMax = 32;

export interface Held {
  keys: Set<string>;
  /** roles and accounts whose rights this account's rights come from, itself included */
  roles: number[];
  holders: number[];
}
interface Link {
  accountID: number;
  holderID: number;
  auth: Area;
  isRoot: boolean;
  roleID: number | null;
  keys: string[] | null;
  makerID: number | null;
}

export async function heldBy(
  db: Db,
  accountIDs: readonly number[],
  keysOf: (area: Area) => readonly string[],
): Promise<Map<number, Held>> {
  const links = await rows<Link>(
    db,
    sql`with recursive chain as (
          select a.id as "accountID", a.id as "holderID", a.auth, a."isRoot", a."roleID", 0 as depth from account a where a.id = any(${accountIDs})
          union all
          select c."accountID", m.id, m.auth, m."isRoot", m."roleID", c.depth + 1
            from chain c join role r on r.id = c."roleID" and r."deletedAt" is null
              join account m on m.id = r."makerID" and m."deletedAt" is null
            where c.depth < ${depthMax} and not c."isRoot"
        )
        select c."accountID", c."holderID", c.auth, c."isRoot", r.id as "roleID", r."permissionKeys" as keys, r."makerID"
          from chain c left join role r on r.id = c."roleID" and r."deletedAt" is null
          order by c."accountID", c.depth`,
  );
  const chains = new Map<number, Link[]>();
  for (const link of links) chains.set(link.accountID, [...(chains.get(link.accountID) ?? []), link]);
  return new Map([...chains].map(([id, chain]) => [id, heldAlong(chain, keysOf)]));
}

function heldAlong(chain: readonly Link[], keysOf: (area: Area) => readonly string[]): Held {
  let keys = new Set(keysOf(chain[0]!.auth));
  const roles = chain.flatMap(link => (link.isRoot ? [] : (link.roleID ?? [])));
  const holders = chain.map(link => link.holderID);
  for (const link of chain) {
    if (link.isRoot) return { keys, roles, holders };
    keys = new Set([...keys].filter(key => link.keys?.includes(key)));
    // nobody named: the root vouches for it
    if (link.keys && link.makerID === null) return { keys, roles, holders };
  }
  // no root at the end: a maker without a role, one that is gone, or a circle
  return { keys: new Set(), roles, holders };
}
