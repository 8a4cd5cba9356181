/**
 * A machine that is a node already: where it is, as it says itself, and what another token makes of it. Both count against a signature of
 * its key alone, for a public key is no secret.
 */
import { isIP } from 'node:net';
import { fail } from '#contract/errors.ts';
import type { Queryable } from '../compile/load.ts';
import type { JoinBody } from '../kit/services.ts';
import { mayAdd, maySee, zoneStands } from './join-token.ts';
import { isLoopback } from './tls.ts';
import { overMs } from './twins.ts';

export interface JoinedNode {
  id: string;
  zoneID: string | null;
  type: 'edge' | 'relay';
  publicKey: string;
}

/** Whether others could reach it there: a machine whose network is down for a moment knows loopback alone. */
const tells = (addresses: readonly string[] | undefined): addresses is readonly string[] =>
  addresses !== undefined && addresses.some(one => isIP(one) && !isLoopback(one));

/**
 * Whether another machine than the one of this boot is heard in the name of node `n`, or was a moment ago (twins.ts). One that was started
 * anew waits until that is over: then it is asked where it is (acks.ts). Who says no boot is of an earlier release, and is not judged by it.
 */
const isHeardElsewhere = (boot: string) => `coalesce(n.beat ? 'twin' or n.beat ? 'another'
  or n.beat->>'boot' <> ${boot}::text and n."lastBeat" > clock_timestamp() - interval '${overMs} ms', false)`;

/**
 * Where a node is from now on: answers of names and relays follow (resolution_node, zone-relays.ts). Of one in whose name another machine
 * is heard too it stays as it was: a copy of its disk must not draw visitors away from it.
 * @param boot of the machine that says it; none: an earlier release
 */
export async function move(
  db: Queryable,
  nodeID: number,
  addresses: readonly string[] | undefined,
  boot: string | undefined,
): Promise<void> {
  if (!tells(addresses)) return;
  await db.query(
    `update node n set addresses = $2 where id = $1 and addresses is distinct from $2 and not ${isHeardElsewhere('$3')}`,
    [nodeID, addresses, boot ?? null],
  );
}

/**
 * Does what an open token of its own operator says of a node: its zone as moving it there does, its type, its name. What stands on a line
 * stays there, and the token stays good then. A token of anybody else is none. While another machine is heard in its name it becomes nothing:
 * of two copies none is told apart by its key.
 * @param isProven it has signed for this token. Without it nothing may differ: nodes of earlier releases sign nothing
 * @returns undefined: it is no node yet, or the token is not open to it
 * @throws Fail nodeInGroup, nodeInVirtualNode, invalidToken, permissionDenied (another machine is heard in its name); the token is not used
 */
export async function rejoin(
  db: Queryable,
  hash: Buffer,
  { publicKey, addresses, version, boot }: JoinBody,
  isProven: boolean,
): Promise<Omit<JoinedNode, 'publicKey'> | undefined> {
  const { rows } = await db.query(
    `with n as materialized (
       select n.id, n."clientID", n."zoneID", n.type, ${isHeardElsewhere('$6')} as elsewhere
       from node n where n."publicKey" = $2 and n."deletedAt" is null for update
     ), token as materialized (
       select t."zoneID", t.type, t.name, t."makerID" from "joinToken" t join n on n."clientID" = t."clientID"
       where t.hash = $1 and t."usedAt" is null and t."expiredAt" > clock_timestamp() and ${mayAdd} and ${zoneStands} for update of t
     ), place as materialized (
       select z.id from zone z, token where z.id = token."zoneID" and z."deletedAt" is null and ${maySee} for share of z
     ), wished as materialized (
       select n.id, coalesce((select id from place), n."zoneID") as "zoneID", token.type, token.name,
         (select id from place) is distinct from n."zoneID" and exists (select from place) as moves, token.type <> n.type as turns,
         n."zoneID" is not null as "isIn", n.elsewhere
       from n, token
     ), judged as materialized (
       select *, case when (moves or turns) and not $3::boolean then 'unproven' when $3::boolean and elsewhere then 'twin'
         when (moves and "isIn") or (turns and type = 'relay') then node_held(id) end as why
       from wished
     ), spent as (
       update "joinToken" t set "usedAt" = clock_timestamp(), "nodeID" = j.id from judged j where t.hash = $1 and j.why is null
     ), changed as (
       update node set "zoneID" = j."zoneID", type = j.type, name = coalesce(j.name, node.name), version = $5,
         addresses = coalesce($4::text[], node.addresses), "updatedAt" = now(), "rowVersion" = node."rowVersion" + 1
       from judged j where node.id = j.id and j.why is null and $3::boolean
     ), told as (
       -- what is set of it goes where it goes
       insert into outbox (kind, "entityID", "zoneID", revision)
       select 'node', j.id, j."zoneID", nextval('revision') from judged j where j.why is null and j.moves
     ) select id, "zoneID", type, why from judged`,
    [hash, publicKey, isProven, tells(addresses) ? addresses : null, version, boot ?? null],
  );
  const [found] = rows as (Omit<JoinedNode, 'publicKey'> & {
    why: 'nodeInGroup' | 'nodeInVirtualNode' | 'unproven' | 'twin' | null;
  })[];
  if (found?.why === 'unproven')
    throw fail('invalidToken', { cause: new Error('the token says something else of this node, and it has not signed for it') });
  if (found?.why === 'twin') throw fail('permissionDenied', { errorData: [{ path: '', rule: 'nodeTwin' }] });
  if (found?.why) throw fail(found.why);
  return found;
}
