/**
 * Joining of nodes. A node makes its key pair itself and sends the public half with a join token; what it gets is a signed token
 * that says what this key may do on the bus. Later it proves itself with a signature of that key.
 */
import { createHash } from 'node:crypto';
import { fail, failFields } from '#contract/errors.ts';
import { relayLimits } from '#contract/limits.ts';
import { healthTimes } from '#contract/system/health.ts';
import { boxFor, isBoxKey } from '#host/sealed.ts';
import { memberCertificate, type ZoneAuthority, zoneAuthority } from '#host/zone-authority.ts';
import type { Queryable } from '../compile/load.ts';
import type { JoinBody, RenewBody } from '../kit/services.ts';
import { type BusKeys, Signer, signNode } from './credentials.ts';
import { isPublicKey, isSignedBy } from './nkeys.ts';
import type { BusTls } from './tls.ts';
import { zoneKeyOf } from './zone-keys.ts';

export interface Grant {
  nodeID: number;
  /** null: joined, and an operator has not put it into a zone yet */
  zoneID: number | null;
  /** for NATS; worthless without the node's seed */
  jwt: string;
  natsUrl: string;
  /** base64url, 32 bytes: signs documents and commands; a node keeps the first one it is told */
  documentKey: string;
  /** how to check the bus; null: it is on this machine and speaks plainly */
  tls: BusTls | null;
  /** base64url of 32 bytes, in the box the node sent along (host/sealed.ts): opens the private keys of its zone's certificates */
  zoneKey: string | null;
  /** an edge answers visitors; a relay stands between edges and origins */
  type: 'edge' | 'relay';
  /** PEM: by which nodes of its zone know it, for the key it sent along; null: no zone, or no key */
  member: { certificate: string; authority: string } | null;
}
/** What joining needs to know of the bus. */
export interface BusAuthority {
  keys: BusKeys;
  /** where nodes reach NATS; several may be separated by commas */
  natsUrl: string;
  tls?: BusTls | undefined;
  /** how long a node's token is good; default: seven days */
  tokenSeconds?: number | undefined;
  /** waits until the bus knows the node's account; left out where another process sees to accounts */
  settled?(nodeID: number): Promise<void>;
}

/** A signature older than this is refused; so is a node whose clock is that wrong. */
export const renewalWindowMs = healthTimes.clockMostMs;
/** @param boxKey, memberKey what the node sends along for its zone's key and its certificate; nobody puts another in their place */
export const renewalText = (nodeID: number, time: number, boxKey = '', memberKey = '') =>
  `breakwater node ${nodeID} ${time}${boxKey && ` ${boxKey}`}${memberKey && ` ${memberKey}`}`;
/** How far the clock that wrote this time is from ours. */
export const skewMs = (time: number) => Math.abs(Date.now() - time);
export const joinTokenHash = (token: string) => createHash('sha256').update(token).digest();

/**
 * Whether who made the token \`t\` may add a node now: it and its operator are there and normal, and it holds nodes.edit, along the makers
 * of roles up to the operator (as kit/held.ts reckons).
 */
const mayAdd = `exists (
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
const zoneStands = `(t."zoneID" is null or exists (select 1 from zone z where z.id = t."zoneID" and z."deletedAt" is null))`;
/** Whether it still sees the zone. */
const maySee = `(token."makerID" is null or exists (select 1 from account m where m.id = token."makerID" and m."isRoot")
  or exists (select 1 from "zoneAccount" za where za."zoneID" = z.id and za."accountID" = token."makerID"))`;

/**
 * Makes the node's row and its first credentials. A token serves one key: the same node may ask again (its answer may have been
 * lost), anybody else is refused; so is everybody while its maker may add no nodes, and for good once its zone is deleted.
 * @throws Fail invalidToken, tokenExpired, parameter, invalidNodeTime
 */
export async function joinNode(db: Queryable, bus: BusAuthority, body: JoinBody): Promise<Grant> {
  checkPublicKey(body.publicKey);
  // before the token is used: with its clock set right the node joins by the same line
  if (body.time !== undefined) checkTime(body.time);
  const hash = joinTokenHash(body.token);
  const { rows } = await db.query(
    `with token as (
       update "joinToken" t set "usedAt" = clock_timestamp()
       where hash = $1 and "usedAt" is null and "expiredAt" > clock_timestamp() and ${mayAdd} and ${zoneStands}
       returning "clientID", "zoneID", name, type, "makerID"
     ), place as (
       -- held, so that no zone goes away under a node that comes; one that is gone from its maker's sight is none
       select z.id from zone z, token where z.id = token."zoneID" and z."deletedAt" is null and ${maySee} for share of z
     ), made as (
       insert into node ("clientID", "zoneID", name, type, "publicKey", addresses, version)
       select "clientID", (select id from place), coalesce(name, $2), type, $3, $4, $5 from token
       on conflict ("publicKey") where "deletedAt" is null do nothing returning id, "zoneID", type
     ) select id, "zoneID", type from made`,
    [hash, body.name, body.publicKey, body.addresses, body.version],
  );
  let node = rows[0] as Pick<JoinedNode, 'id' | 'zoneID' | 'type'> | undefined;
  if (node) {
    await db.query('update "joinToken" set "nodeID" = $2 where hash = $1', [hash, node.id]);
    return grant(bus, { ...node, publicKey: body.publicKey }, body);
  }
  node = await joinedBefore(db, hash, body.publicKey);
  // A public key is no secret: to one that is known already the zone's key is told against its signature alone (renewNode).
  return grant(bus, { ...node, publicKey: body.publicKey }, {});
}

/** The token is spent: by this very key (then it is answered again), or by another. */
async function joinedBefore(db: Queryable, hash: Buffer, publicKey: string): Promise<Omit<JoinedNode, 'publicKey'>> {
  const { rows } = await db.query(
    `select t."usedAt", t."expiredAt" <= clock_timestamp() as expired, n.id, n."zoneID", n.type from "joinToken" t
     left join node n on n."publicKey" = $2 and n."clientID" = t."clientID" and n."deletedAt" is null
       -- null: it was used, and the server ended before it had written by whom
       and (t."nodeID" = n.id or t."nodeID" is null)
     where t.hash = $1`,
    [hash, publicKey],
  );
  const token = rows[0] as
    | (Omit<JoinedNode, 'publicKey' | 'id'> & { usedAt: unknown; expired: boolean; id: string | null })
    | undefined;
  if (token?.usedAt && token.id !== null) return { id: token.id, zoneID: token.zoneID, type: token.type };
  if (token && !token.usedAt && token.expired) throw fail('tokenExpired');
  const why = !token
    ? 'unknown join token'
    : token.usedAt
      ? 'the join token was used by another node'
      : 'its maker may add no nodes, or its zone is deleted';
  throw fail('invalidToken', { cause: new Error(why) });
}

/** What `joinNode` would say to somebody new. */
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

/** A node that has lost the bus asks for credentials every half a minute, in the worst case. */
const heardMs = 5 * 60_000;
/** Whether it proved itself lately to a server, whichever: it lives and reaches us, whatever the bus hears of it. */
export const reachesUs = (alias: string): string =>
  `(${alias}."credentialsAt" is not null and ${alias}."credentialsAt" > clock_timestamp() - interval '${heardMs} ms')`;
/** Written no more often: one that asks without end writes little. */
const notedEvery = `interval '2 s'`;

/**
 * New credentials for a node that proves it holds its key: after its zone changed, or when the old ones are refused.
 * @throws Fail invalidToken, invalidNodeTime
 */
export async function renewNode(db: Queryable, bus: BusAuthority, body: RenewBody): Promise<Grant> {
  checkTime(body.time);
  const { rows } = await db.query(`select id, "zoneID", type, "publicKey" from node where id = $1 and "deletedAt" is null`, [
    body.nodeID,
  ]);
  const node = rows[0] as (Omit<JoinedNode, 'publicKey'> & { publicKey: string | null }) | undefined;
  // One answer for "unknown" and "wrong": an id tells nothing.
  if (
    !node?.publicKey ||
    !isSignedBy(node.publicKey, renewalText(body.nodeID, body.time, body.boxKey, body.memberKey), body.signature)
  )
    throw fail('invalidToken', { cause: new Error('unknown node, or not its signature') });
  await db.query(
    `update node set "credentialsAt" = clock_timestamp() where id = $1 and coalesce("credentialsAt" < clock_timestamp() - ${notedEvery}, true)`,
    [body.nodeID],
  );
  return grant(bus, { ...node, publicKey: node.publicKey }, body);
}

/** A node that is wrong by so much could prove nothing to us, and its log lines would count for nobody. */
function checkTime(time: number): void {
  const skew = skewMs(time);
  if (!(skew <= renewalWindowMs))
    throw fail('invalidNodeTime', { cause: new Error(`the node's clock is ${Math.round(skew / 1000)} s away from ours`) });
}

function grant(bus: BusAuthority, node: JoinedNode, { boxKey, memberKey }: Pick<RenewBody, 'boxKey' | 'memberKey'>): Grant {
  const nodeID = Number(node.id);
  const zoneID = node.zoneID === null ? null : Number(node.zoneID);
  return {
    nodeID,
    zoneID,
    jwt: signNode(bus.keys, { nodeID, publicKey: node.publicKey, seconds: bus.tokenSeconds }),
    natsUrl: bus.natsUrl,
    documentKey: new Signer(bus.keys.documentSeed).publicKey,
    tls: bus.tls ?? null,
    zoneKey: zoneID === null || !boxKey ? null : boxed(boxKey, zoneKeyOf(bus.keys.documentSeed, zoneID)),
    type: node.type,
    member: zoneID === null || !memberKey ? null : memberOf(bus.keys.documentSeed, nodeID, zoneID, memberKey),
  };
}

interface JoinedNode {
  id: string;
  zoneID: string | null;
  type: Grant['type'];
  publicKey: string;
}

/** Made once for each zone: deriving its key is the dearest part. */
const authorities = new Map<string, ZoneAuthority>();
function memberOf(documentSeed: string, nodeID: number, zoneID: number, memberKey: string): Grant['member'] {
  const name = `${documentSeed} ${zoneID}`;
  let authority = authorities.get(name);
  if (!authority) authorities.set(name, (authority = zoneAuthority(Buffer.from(documentSeed, 'base64url'), zoneID)));
  const until = new Date(Date.now() + relayLimits.certificateDays * 86_400_000);
  try {
    const publicKey = Buffer.from(memberKey, 'base64url');
    return { certificate: memberCertificate(authority, { nodeID, zoneID, publicKey, until }), authority: authority.certificate };
  } catch {
    throw failFields([{ path: 'memberKey', rule: 'wrongFormat' }]);
  }
}

function boxed(boxKey: string, key: Buffer): string {
  try {
    if (isBoxKey(boxKey)) return boxFor(boxKey, key.toString('base64url'));
  } catch {
    // nobody holds the other half
  }
  throw failFields([{ path: 'boxKey', rule: 'wrongFormat' }]);
}

function checkPublicKey(publicKey: string): void {
  if (!isPublicKey('user', publicKey)) throw failFields([{ path: 'publicKey', rule: 'wrongFormat' }]);
}
