/**
 * Who may say what on the bus. NATS runs in operator mode: the operator vouches for accounts, an account for its users.
 *
 *   SYS    the NATS server itself: account statements, statistics
 *   CORE   the control plane, with JetStream; it exports what nodes say and hear, once for all nodes
 *   N<id>  one node: no JetStream, and the imports are literals of this node and its zone
 *
 * NATS does not check reply subjects, so a node's rights alone cannot keep an answer from going astray. An account can: what a node sends
 * and what it is answered stays among N<id> and the four services of CORE, and each of those ends in a stream.
 */
import { createHash, createPublicKey, hkdfSync, randomBytes, sign, verify } from 'node:crypto';
import { type Command, type DocumentFacts, bundleText, chunkText, commandText, documentText } from '#contract/edge/signed.ts';
import { own, subjects, words } from '#contract/edge/subjects.ts';
import { accessStream } from '#contract/edge/log.ts';
import { type Nkey, claimsOf, credsText, isPublicKey, nkey, nkeyOf, privateKey, publicBytes, state } from './nkeys.ts';

/** The secrets of one bus; JSON-serialisable. Whoever holds them can make any credential: keep them in a 0600 file. */
export interface BusKeys {
  operatorSeed: string;
  systemSeed: string;
  /** of CORE */
  accountSeed: string;
  /** 32 bytes, base64url: the accounts of nodes are derived from it */
  master: string;
  /** 32 bytes, base64url: signs documents and commands */
  documentSeed: string;
  operatorToken: string;
  systemToken: string;
  accountToken: string;
}
/** Keys of an installation whose nodes shared one account. */
export type FormerBusKeys = Omit<BusKeys, 'master' | 'documentSeed'>;

export interface Credentials {
  /** What a client is given (`credsAuthenticator`), with the seed in it: a secret. */
  creds: string;
  /** The user's public key. */
  publicKey: string;
}

const unlimited = -1;
/** A node's token is good this long; the node fetches another at two thirds. */
export const nodeTokenSeconds = 7 * 86_400;
/** What a node may send at once: a log range, compressed. */
export const nodePayloadMax = 1_200_000;
export const nodeConnections = 3;

const now = () => Math.floor(Date.now() / 1000);

/** Makes the keys of a new bus. */
export function createBusKeys(): BusKeys {
  const [operator, system, core] = [nkey('operator'), nkey('account'), nkey('account')];
  const seeds = { operatorSeed: operator.seed, systemSeed: system.seed, accountSeed: core.seed };
  return withTokens(seeds, undefined);
}

/**
 * Keys of today from those of a former version: the account all lived in becomes CORE, and every credential it gave is void, also the
 * server's own, which is made anew.
 */
export function adoptKeys(former: FormerBusKeys): BusKeys {
  // Inclusive: what was issued up to a second ago. What is minted from now on is younger.
  return withTokens(former, now() - 1);
}

function withTokens(
  { operatorSeed, systemSeed, accountSeed }: Pick<BusKeys, 'operatorSeed' | 'systemSeed' | 'accountSeed'>,
  voidUntil: number | undefined,
): BusKeys {
  const [operator, system, core] = [nkeyOf(operatorSeed), nkeyOf(systemSeed), nkeyOf(accountSeed)];
  const issuedAt = now();
  const secret = () => randomBytes(32).toString('base64url');
  const account = (name: string, key: Nkey, nats: object) =>
    state(operator, { subject: key.publicKey, name, issuedAt, nats: { ...nats, ...version('account') } });
  return {
    operatorSeed,
    systemSeed,
    accountSeed,
    master: secret(),
    documentSeed: secret(),
    operatorToken: state(operator, {
      subject: operator.publicKey,
      name: 'breakwater',
      issuedAt,
      nats: { system_account: system.publicKey, ...version('operator') },
    }),
    systemToken: account('SYS', system, { limits: limits(unlimited, 0), default_permissions: {} }),
    accountToken: account('CORE', core, {
      limits: limits(unlimited, unlimited),
      exports: coreExports,
      default_permissions: {},
      ...(voidUntil !== undefined && { revocations: { '*': voidUntil } }),
    }),
  };
}

const version = (type: string) => ({ type, version: 2 });
const limits = (general: number, jetstream: number) => ({
  subs: general,
  data: general,
  payload: general,
  imports: general,
  exports: general,
  wildcards: true,
  conn: general,
  leaf: general,
  mem_storage: jetstream,
  disk_storage: jetstream,
  streams: jetstream,
  consumer: jetstream,
});

/** Wildcards, so that a new node changes nothing here. */
const coreExports = [
  ...words.map(word => ({ name: word, subject: `${word}.*`, type: 'service', response_type: 'Singleton' })),
  { name: 'log', subject: subjects.logAll, type: 'service', response_type: 'Singleton' },
  ...['cmd.*.>', 'mark.*', 'live.*.>', 'dlv.*.>'].map(subject => ({ name: subject, subject, type: 'stream' })),
];

/** The accounts' public keys, as the server's configuration names them. */
export function accountsOf(keys: BusKeys): { system: string; account: string } {
  return { system: nkeyOf(keys.systemSeed).publicKey, account: nkeyOf(keys.accountSeed).publicKey };
}

function mint(issuerSeed: string, name: string): Credentials {
  const user = nkey('user');
  const nats = { pub: { allow: ['>'] }, sub: { allow: ['>'] }, subs: unlimited, data: unlimited, payload: unlimited };
  const token = state(nkeyOf(issuerSeed), {
    subject: user.publicKey,
    name,
    issuedAt: now(),
    nats: { ...nats, ...version('user') },
  });
  return { creds: credsText(token, user.seed), publicKey: user.publicKey };
}

/** The control plane itself: everything in CORE. */
export const mintServer = (keys: BusKeys, name = 'server'): Credentials => mint(keys.accountSeed, name);

/** A user of the system account: may push account statements and read statistics. */
export const mintSystem = (keys: BusKeys): Credentials => mint(keys.systemSeed, 'system');

/** Which node it is. A number alone names two: a database that went back gives it to the next one. */
export interface NodeName {
  nodeID: number;
  /** the node's user nkey (`U…`) */
  publicKey: string;
}

/** The key of a node's account. Derived, so that a lost table or folder loses no account. */
export function nodeAccount(keys: BusKeys, { nodeID, publicKey }: NodeName): Nkey {
  const raw = hkdfSync('sha256', Buffer.from(keys.master, 'base64url'), '', `node account ${nodeID} ${publicKey}`, 32);
  return nkey('account', new Uint8Array(raw));
}

export interface NodePlace extends NodeName {
  /** null: joined and not yet in a zone: it hears no documents */
  zoneID: number | null;
  /** cut off: nobody may connect */
  cut?: boolean;
}

/**
 * The statement of a node's account. The same facts give the same text, so pushing it again changes nothing: also not of an account that
 * was deleted meanwhile, which stays shut until the bus has been told another text.
 */
export function nodeStatement(keys: BusKeys, place: NodePlace): string {
  const { nodeID, zoneID, cut } = place;
  const account = nodeAccount(keys, place);
  const core = accountsOf(keys).account;
  const service = (subject: string, local: string) => ({
    name: local,
    subject,
    account: core,
    local_subject: local,
    type: 'service',
  });
  const stream = (subject: string, local: string) => ({
    name: local,
    subject,
    account: core,
    local_subject: local,
    type: 'stream',
  });
  const nats = {
    imports: [
      ...words.map(word => service(subjects.said(word, nodeID), word)),
      service(subjects.log(nodeID, accessStream), own.log),
      stream(subjects.commandsOf(nodeID), own.commands),
      stream(subjects.mark(nodeID), own.mark),
      stream(subjects.deliveriesOf(nodeID), own.deliveries),
      ...(zoneID === null ? [] : [stream(subjects.liveOfZone(zoneID), own.documents)]),
    ],
    limits: {
      ...limits(0, 0),
      subs: 40,
      data: unlimited,
      payload: nodePayloadMax,
      imports: unlimited,
      conn: cut ? 0 : nodeConnections,
    },
    default_permissions: {},
  };
  const operator = nkeyOf(keys.operatorSeed);
  // Not the clock: the order of pushes decides, and equal facts must give an equal statement.
  const issuedAt = claimsOf(keys.accountToken).iat;
  return state(operator, {
    subject: account.publicKey,
    name: `N${nodeID}`,
    issuedAt,
    nats: { ...nats, ...version('account') },
  });
}

/** The statement that deletes accounts (`$SYS.REQ.CLAIMS.DELETE`). */
export function deletion(keys: BusKeys, publicKeys: string[]): string {
  const operator = nkeyOf(keys.operatorSeed);
  const nats = { accounts: publicKeys, ...version('generic') };
  return state(operator, { subject: operator.publicKey, name: 'deletion', issuedAt: now(), nats });
}

/**
 * A node's token, for a key pair the node made itself: the seed never leaves the node.
 * @param node.publicKey the node's user nkey (`U…`)
 * @throws when the public key is none
 */
export function signNode(
  keys: BusKeys,
  { nodeID, publicKey, seconds = nodeTokenSeconds }: NodeName & { seconds?: number },
): string {
  if (!isPublicKey('user', publicKey)) throw new Error('not the public key of a user');
  const nats = {
    pub: { allow: [...words, own.log] },
    sub: { allow: [own.documents, own.commands, own.mark, own.delivery, own.inboxes] },
    // its own words and an inbox; each more would be sent the zone's documents once more
    subs: 10,
    data: unlimited,
    payload: nodePayloadMax,
  };
  const issuedAt = now();
  return state(nodeAccount(keys, { nodeID, publicKey }), {
    subject: publicKey,
    name: `node-${nodeID}`,
    issuedAt,
    expiresAt: issuedAt + seconds,
    nats: { ...nats, ...version('user') },
  });
}

/** A node's credentials for a key pair that is known here: for tests. Its account must be on the bus before. */
export function mintNode(
  keys: BusKeys,
  { nodeID, user, seconds }: { nodeID: number; user: Nkey; seconds?: number },
): Credentials {
  const token = signNode(keys, { nodeID, publicKey: user.publicKey, seconds });
  return { creds: credsText(token, user.seed), publicKey: user.publicKey };
}

const hex = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Signs what nodes are told. Ed25519: 30 µs. */
export class Signer {
  /** base64url, 32 bytes: what nodes pin */
  readonly publicKey: string;
  readonly #key;

  constructor(documentSeed: string) {
    this.#key = privateKey(Buffer.from(documentSeed, 'base64url'));
    this.publicKey = publicBytes(this.#key).toString('base64url');
  }
  #sign(text: string): string {
    return sign(null, Buffer.from(text), this.#key).toString('base64url');
  }
  document(facts: DocumentFacts, body: string | Uint8Array): string {
    return this.#sign(documentText(facts, hex(body)));
  }
  /** Whether it was `document` that made this signature. */
  isDocument(facts: DocumentFacts, body: string | Uint8Array, signature: string): boolean {
    const text = Buffer.from(documentText(facts, hex(body)));
    return verify(null, text, createPublicKey(this.#key), Buffer.from(signature, 'base64url'));
  }
  chunk(nodeID: number, request: string, payload: Uint8Array): string {
    return this.#sign(chunkText(nodeID, request, hex(payload)));
  }
  command(command: Command): string {
    return this.#sign(commandText(command, hex(command.body)));
  }
  bundle(manifest: string): string {
    return this.#sign(bundleText(hex(manifest)));
  }
}
