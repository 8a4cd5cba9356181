/**
 * Joining of nodes. A node makes its key pair itself and sends the public half with a join token; what it gets is a signed token
 * that says what this key may do on the bus. Later it proves itself with a signature of that key.
 */
import { fail, failFields } from '#contract/errors.ts';
import { relayLimits } from '#contract/limits.ts';
import { boxFor, isBoxKey } from '#host/sealed.ts';
import { memberCertificate, type ZoneAuthority, zoneAuthority } from '#host/zone-authority.ts';
import type { Queryable } from '../compile/load.ts';
import type { JoinBody, RenewBody } from '../kit/services.ts';
import { type BusKeys, Signer, signNode } from './credentials.ts';
import { joinText, joinTokenHash, mayAdd, maySee, renewalText, renewalWindowMs, skewMs, zoneStands } from './join-token.ts';
import { isPublicKey, isSignedBy } from './nkeys.ts';
import { type JoinedNode, move, rejoin } from './rejoin.ts';
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

/**
 * Makes the node's row and its first credentials. A token serves one key: the same node may ask again (its answer may have been
 * lost), anybody else is refused; so is everybody while its maker may add no nodes, and for good once its zone is deleted. A machine that
 * is a node already becomes what the token says (rejoin.ts).
 * @throws Fail invalidToken, tokenExpired, parameter, invalidNodeTime, nodeInGroup, nodeInVirtualNode, permissionDenied
 */
export async function joinNode(db: Queryable, bus: BusAuthority, body: JoinBody): Promise<Grant> {
  const { publicKey } = body;
  if (!isPublicKey('user', publicKey)) throw failFields([{ path: 'publicKey', rule: 'wrongFormat' }]);
  // before the token is used: with its clock set right the node joins by the same line
  if (body.time !== undefined) checkTime(body.time);
  const hash = joinTokenHash(body.token);
  const { rows } = await db.query(
    `with token as (
       update "joinToken" t set "usedAt" = clock_timestamp()
       where hash = $1 and "usedAt" is null and "expiredAt" > clock_timestamp() and ${mayAdd} and ${zoneStands}
         -- one that is a node already, whosever it is, uses no token by being named
         and not exists (select from node n where n."publicKey" = $3 and n."deletedAt" is null)
       returning "clientID", "zoneID", name, type, "makerID"
     ), place as (
       -- held, so that no zone goes away under a node that comes; one that is gone from its maker's sight is none
       select z.id from zone z, token where z.id = token."zoneID" and z."deletedAt" is null and ${maySee} for share of z
     ), made as (
       insert into node ("clientID", "zoneID", name, type, "publicKey", addresses, version)
       select "clientID", (select id from place), coalesce(name, $2), type, $3, $4, $5 from token
       on conflict ("publicKey") where "deletedAt" is null do nothing returning id, "zoneID", type
     ) select id, "zoneID", type from made`,
    [hash, body.name, publicKey, body.addresses, body.version],
  );
  const node = rows[0] as Pick<JoinedNode, 'id' | 'zoneID' | 'type'> | undefined;
  if (node) {
    await db.query('update "joinToken" set "nodeID" = $2 where hash = $1', [hash, node.id]);
    return grant(bus, { ...node, publicKey }, body);
  }
  const isProven = body.time !== undefined && isSignedBy(publicKey, joinText(body), body.signature ?? '');
  const again = await rejoin(db, hash, body, isProven);
  if (again) return grant(bus, { ...again, publicKey }, isProven ? body : {});
  // A public key is no secret: to one that is known already the zone's key is told against its signature alone (renewNode).
  return grant(bus, { ...(await joinedBefore(db, hash, publicKey)), publicKey }, {});
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
  const text = renewalText(body.nodeID, body.time, body.boxKey, body.memberKey, body.addresses);
  // One answer for "unknown" and "wrong": an id tells nothing.
  if (!node?.publicKey || !isSignedBy(node.publicKey, text, body.signature))
    throw fail('invalidToken', { cause: new Error('unknown node, or not its signature') });
  await db.query(
    `update node set "credentialsAt" = clock_timestamp() where id = $1 and coalesce("credentialsAt" < clock_timestamp() - ${notedEvery}, true)`,
    [body.nodeID],
  );
  await move(db, body.nodeID, body.addresses, body.boot);
  return grant(bus, { ...node, publicKey: node.publicKey }, body);
}

/** A node that is wrong by so much could prove nothing to us, and its log lines would count for nobody. */
function checkTime(time: number): void {
  const skew = skewMs(time);
  if (!(skew <= renewalWindowMs))
    throw fail('invalidNodeTime', {
      errorData: [
        { path: 'time', rule: 'nodeClock', bounds: { seconds: Math.round(skew / 1000), most: renewalWindowMs / 1000 } },
      ],
      cause: new Error(`the node's clock is ${Math.round(skew / 1000)} s away from ours`),
    });
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
