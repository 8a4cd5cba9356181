/**
 * Who may say what on the bus. NATS runs in operator mode: the operator vouches for two accounts (SYS for the server itself, CDN for us),
 * an account vouches for users, and a user's rights stand in its signed token. So a new node needs no change of the NATS server, only a
 * token; and a revoked one is a new statement of the account, pushed to the running server.
 *
 * The package @nats-io/jwt is younger than 1.0: nothing outside this file imports it.
 */
import type { Account, EncodingOptions, Operator, User } from '@nats-io/jwt';
import jwt from '@nats-io/jwt'; // CommonJS
import type { NatsConnection } from '@nats-io/transport-node';
import { streams, subjects } from '#contract/edge/subjects.ts';

const {
  createAccount,
  createOperator,
  createUser,
  encodeAccount,
  encodeOperator,
  encodeUser,
  fmtCreds,
  fromPublic,
  fromSeed,
  parseCreds,
} = jwt;

/** The secrets of one bus; JSON-serialisable. Whoever holds them can make any credential: keep them in a 0600 file. */
export interface BusKeys {
  operatorSeed: string;
  systemSeed: string;
  accountSeed: string;
  operatorToken: string;
  systemToken: string;
  accountToken: string;
}

export interface Rights {
  /** Shown in the server's connection list. */
  name: string;
  pub: readonly string[];
  sub: readonly string[];
  /** May answer a request on whatever reply subject it carries: this many messages, within this many seconds. */
  respond?: { messages: number; seconds: number };
}

export interface Credentials {
  /** What a client is given (`credsAuthenticator`), with the seed in it: a secret. */
  creds: string;
  /** The user's public key, which names it in a revocation. */
  publicKey: string;
}

const text = (seed: Uint8Array) => new TextDecoder().decode(seed);
const bytes = (seed: string) => new TextEncoder().encode(seed);
const unlimited = -1;

/** Makes the keys of a new bus. */
export async function createBusKeys(): Promise<BusKeys> {
  const operator = createOperator();
  const system = createAccount();
  const account = createAccount();
  const keys = {
    operatorSeed: text(operator.getSeed()),
    systemSeed: text(system.getSeed()),
    accountSeed: text(account.getSeed()),
  };
  return {
    ...keys,
    operatorToken: await encodeOperator('breakwater', operator, { system_account: system.getPublicKey() } as Partial<Operator>),
    systemToken: await encodeAccount(
      'SYS',
      system,
      { limits: accountLimits(false) } as Partial<Account>,
      { signer: operator } as Partial<EncodingOptions>,
    ),
    accountToken: await accountToken(keys, {}),
  };
}

function accountLimits(jetstream: boolean) {
  const storage = jetstream ? unlimited : 0;
  return {
    subs: unlimited,
    data: unlimited,
    payload: unlimited,
    imports: unlimited,
    exports: unlimited,
    wildcards: true,
    conn: unlimited,
    leaf: unlimited,
    mem_storage: storage,
    disk_storage: storage,
    streams: storage,
    consumer: storage,
  };
}

function accountToken(keys: Pick<BusKeys, 'operatorSeed' | 'accountSeed'>, revocations: Record<string, number>): Promise<string> {
  const account = { limits: accountLimits(true), revocations } as unknown as Partial<Account>;
  const signer = fromSeed(bytes(keys.operatorSeed));
  return encodeAccount('CDN', fromSeed(bytes(keys.accountSeed)), account, { signer } as Partial<EncodingOptions>);
}

/** The accounts' public keys, as the server's configuration names them. */
export function accountsOf(keys: BusKeys): { system: string; account: string } {
  return { system: fromSeed(bytes(keys.systemSeed)).getPublicKey(), account: fromSeed(bytes(keys.accountSeed)).getPublicKey() };
}

async function mint(issuerSeed: string, rights: Rights): Promise<Credentials> {
  const user = createUser();
  const token = await encodeUser(rights.name, user, fromSeed(bytes(issuerSeed)), claimsOf(rights));
  return { creds: new TextDecoder().decode(fmtCreds(token, user)), publicKey: user.getPublicKey() };
}

function claimsOf(rights: Rights): Partial<User> {
  return {
    pub: { allow: [...rights.pub] },
    sub: { allow: [...rights.sub] },
    ...(rights.respond && { resp: { max: rights.respond.messages, ttl: rights.respond.seconds * 1e9 } }), // nanoseconds
  } as Partial<User>;
}

/** A user of the CDN account with exactly these rights. */
export function mintUser(keys: BusKeys, rights: Rights): Promise<Credentials> {
  return mint(keys.accountSeed, rights);
}

/** The control plane itself: everything in the CDN account. */
export function mintServer(keys: BusKeys, name = 'server'): Promise<Credentials> {
  return mintUser(keys, { name, pub: ['>'], sub: ['>'] });
}

/** A user of the system account: may push account statements and read server events. */
export function mintSystem(keys: BusKeys): Promise<Credentials> {
  return mint(keys.systemSeed, { name: 'system', pub: ['>'], sub: ['>'] });
}

/** One node: its own subjects and its zone's documents, nothing else. See `nodeRights`. */
export function mintNode(keys: BusKeys, node: { nodeID: number; zoneID: number }): Promise<Credentials> {
  return mintUser(keys, nodeRights(node));
}

/**
 * The same rights for a key pair the node made itself, as an operator of ours would want it: the seed never leaves the node.
 * @param node.publicKey the node's user nkey (`U…`)
 * @param node.zoneID null: joined and not yet initialized; it may say that it lives and be told to come back, nothing more
 * @returns the signed token
 * @throws when the public key is none
 */
export function signNode(keys: BusKeys, node: { nodeID: number; zoneID: number | null; publicKey: string }): Promise<string> {
  const rights = nodeRights(node);
  const user = fromPublic(node.publicKey);
  if (!node.publicKey.startsWith('U')) throw new Error('not the public key of a user');
  return encodeUser(rights.name, user, fromSeed(bytes(keys.accountSeed)), claimsOf(rights));
}

/** The inbox prefix a node must connect with (`inboxPrefix`): it may hear no other inbox. */
export const nodeInbox = (nodeID: number) => `_INBOX.n${nodeID}`;

/**
 * What a node may do:
 * - say its acknowledgements, heartbeats and log ranges, and answer its own commands once;
 * - read the CFG stream through an ordered consumer (pull or push) whose single filter is `configOfZone(zoneID)`: since NATS 2.9 the filter
 *   stands in the subject of the creation request and the server refuses a body that says otherwise, so the permission is the filter.
 *   Consumer names in the other three calls cannot be limited by a prefix; they are random (keep the client's default `name_prefix`),
 *   so one node cannot name another's.
 * - not list or change streams, not read single messages (STREAM.MSG.GET knows no filter), not publish configuration.
 */
export function nodeRights({ nodeID, zoneID }: { nodeID: number; zoneID: number | null }): Rights {
  const api = '$JS.API';
  const documents = [
    `${api}.INFO`,
    `${api}.STREAM.INFO.${streams.config}`,
    `${api}.CONSUMER.CREATE.${streams.config}.*.${subjects.configOfZone(zoneID ?? 0)}`,
    `${api}.CONSUMER.INFO.${streams.config}.*`,
    `${api}.CONSUMER.DELETE.${streams.config}.*`,
    `${api}.CONSUMER.MSG.NEXT.${streams.config}.*`,
    `$JS.FC.${streams.config}.>`,
  ];
  return {
    name: `node-${nodeID}`,
    pub: [subjects.ack(nodeID), subjects.beat(nodeID), subjects.logsOf(nodeID), ...(zoneID === null ? [] : documents)],
    sub: [subjects.commandsOf(nodeID), subjects.mark(nodeID), `${nodeInbox(nodeID)}.>`],
    respond: { messages: 1, seconds: 60 },
  };
}

/**
 * Revokes users: they are disconnected at once and refused from then on. The list is the whole list: whoever is not in it any more is
 * allowed again. NATS keeps it across restarts; push it again after the bus was made anew.
 * @param system a connection with the credentials of `mintSystem`
 * @param revoked public key → seconds since 1970: tokens issued until then are void
 */
export async function pushRevocations(keys: BusKeys, system: NatsConnection, revoked: Record<string, number>): Promise<void> {
  const answer = await system.request('$SYS.REQ.CLAIMS.UPDATE', await accountToken(keys, revoked), { timeout: 5000 });
  const body = answer.json<{ error?: { description?: string }; data?: { code?: number } }>();
  if (body.error) throw new Error(`NATS refused the account statement: ${body.error.description ?? 'no reason given'}`);
}

/** The public key and name of credentials, without the secret: for messages and revocation. Throws when they are malformed. */
export async function describeCredentials(creds: string): Promise<{ publicKey: string; name: string }> {
  const { uc } = await parseCreds(bytes(creds));
  return { publicKey: uc.sub, name: uc.name };
}
