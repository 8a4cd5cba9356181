/** What a join token is worth, and what a node signs: for joining (join.ts), and for a machine that is a node already (rejoin.ts). */
import { createHash } from 'node:crypto';
import { healthTimes } from '#contract/system/health.ts';
import type { Queryable } from '../compile/load.ts';
import type { JoinBody } from '../kit/services.ts';

/** A signature older than this is refused; so is a node whose clock is that wrong. */
export const renewalWindowMs = healthTimes.clockMostMs;
const listed = (addresses: readonly string[] | undefined) => addresses && ` addresses=${addresses.join(',')}`;
/** @param boxKey, memberKey, addresses what the node sends along for its zone's key and its certificate, and where it is; nobody puts others in their place */
export const renewalText = (nodeID: number, time: number, boxKey = '', memberKey = '', addresses?: readonly string[]) =>
  `breakwater node ${nodeID} ${time}${boxKey && ` ${boxKey}`}${memberKey && ` ${memberKey}`}${listed(addresses) ?? ''}`;
/** What a node that joins signs. It holds for this token alone, which only its machine has. */
export const joinText = ({ token, time = 0, boxKey = '', memberKey = '', addresses }: Omit<JoinBody, 'signature'>) =>
  `breakwater join ${joinTokenHash(token).toString('hex')} ${time} ${boxKey} ${memberKey}${listed(addresses)}`;
/** How far the clock that wrote this time is from ours. */
export const skewMs = (time: number) => Math.abs(Date.now() - time);
export const joinTokenHash = (token: string) => createHash('sha256').update(token).digest();

/**
 * Whether who made the token \`t\` may add a node now: it and its operator are there and normal, and it holds nodes.edit, along the makers
 * of roles up to the operator (as kit/held.ts reckons).
 */
export const mayAdd = `exists (
  with recursive chain as (
    select m.id, m."isRoot", m."roleID", 0 as depth from account m join account root on root.id = t."clientID"
      where m.id = coalesce(t."makerID", t."clientID") and m."deletedAt" is null and m.status = 'normal'
        and root."deletedAt" is null and root.status = 'normal'
    union all
    select m.id, m."isRoot", m."roleID", c.depth + 1
      from chain c join role r on r.id = c."roleID" and r."deletedAt" is null and 'nodes.edit' = any(r."permissionKeys")
        join account m on m.id = r."makerID" and m."deletedAt" is null
      where c.depth < 32 and not c."isRoot"
  ) select 1 from chain c left join role r on r.id = c."roleID" and r."deletedAt" is null
      where c."isRoot" or (r."makerID" is null and 'nodes.edit' = any(r."permissionKeys")))`;
/** A token for a zone means that zone: where it is deleted, the token is void. */
export const zoneStands = `(t."zoneID" is null or exists (select 1 from zone z where z.id = t."zoneID" and z."deletedAt" is null))`;
/** Whether it still sees the zone. */
export const maySee = `(token."makerID" is null or exists (select 1 from account m where m.id = token."makerID" and m."isRoot")
  or exists (select 1 from "zoneAccount" za where za."zoneID" = z.id and za."accountID" = token."makerID"))`;

/** What joining would say to somebody new. */
export async function stateOfToken(db: Queryable, token: string): Promise<'open' | 'used' | 'over' | 'unknown'> {
  const { rows } = await db.query(
    `select "usedAt" is not null as used, "expiredAt" <= clock_timestamp() as over, ${mayAdd} and ${zoneStands} as may
       from "joinToken" t where hash = $1`,
    [joinTokenHash(token)],
  );
  const found = rows[0] as { used: boolean; over: boolean; may: boolean } | undefined;
  if (!found) return 'unknown';
  if (found.used) return 'used';
  return found.over || !found.may ? 'over' : 'open';
}
