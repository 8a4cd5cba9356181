/**
 * Who this node is: its key pair, made here and never sent anywhere, and what the control plane granted it.
 * The calls are those of contract/src/node/nodes.ts, `nodeSelf`.
 */
import { createHash, createHmac, createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type Bounds, isRuleName, ruleText } from '#contract/rules/rule.ts';
import { newKey } from '#host/certificates.ts';
import { writeWhole } from '#host/files.ts';
import { Box } from '#host/sealed.ts';
import { ownAddresses } from './addresses.ts';
import { askServer } from './ask-server.ts';
import { createUser, fromSeed } from '@nats-io/nkeys';

export interface Grant {
  nodeID: number;
  /** null: an operator has not put the node into a zone yet */
  zoneID: number | null;
  jwt: string;
  natsUrl: string;
  /** base64url: what signs documents and commands. The first one we were told counts until we join anew. */
  documentKey: string;
  /** how to check the bus, as told when this node joined; null: it is on this machine */
  tls: { ca: string; servername?: string } | null;
  /** base64url, 32 bytes: opens the private keys of the zone's certificates; null: no zone, or a server that tells none */
  zoneKey?: string | null;
  /** left out by a server that knows no relays */
  type?: 'edge' | 'relay';
  /** PEM: by which nodes of its zone know it, for `memberKey` */
  member?: { certificate: string; authority: string } | null;
}
type Answer = Grant & { code: number; message: string; errorData: unknown };
interface Stored {
  seed: string;
  /** address of the control plane */
  server: string;
  /** PEM of who vouches for it; none: one every machine knows */
  ca?: string;
  /** hash of the join token that made us a node; another one may make us a node again */
  joinedWith: string;
  grant: Grant | null;
  /** PEM: private key of its certificate among the nodes of its zone */
  memberKey?: string;
  /** number of the newest command obeyed */
  lastCommand?: number;
  /** where it told the control plane that it is */
  addresses?: string[];
  /** the machine whose it is (`thisMachine`); none: of an earlier release, or the machine has no id */
  machine?: string;
  /** number of the node whose disk this is a copy of, until this machine has joined by itself; 0: it had none */
  copyOf?: number;
}

/** The control plane said no; asking again will not help. */
export class Refusal extends Error {
  override name = 'Refusal';
  /** of HTTP; 0: nobody said it */
  readonly status: number;
  constructor(message: string, status = 0) {
    super(message);
    this.status = status;
  }
}
/** It says that it is asked too often from here: by us or by our neighbours. */
export class Held extends Error {
  override name = 'Held';
  readonly seconds: number;
  constructor(message: string, seconds: number) {
    super(message);
    this.seconds = seconds;
  }
}

const limitMs = 10_000;
const fileIn = (folder: string) => join(folder, 'identity.json');
const hash = (token: string) => createHash('sha256').update(token).digest('hex');

const nobody = (): Stored => ({
  seed: new TextDecoder().decode(createUser().getSeed()),
  server: '',
  joinedWith: '',
  grant: null,
});
const numberOf = ({ grant, copyOf }: Stored) => grant?.nodeID ?? copyOf ?? 0;

/**
 * Which machine this is, told by a hash that is ours alone: machine-id(5) asks not to show the id itself. A disk that is copied gets another
 * id there; a system that is made anew on the same machine with the same id stays the same.
 * @returns undefined: it has none
 */
export function thisMachine(file = '/etc/machine-id'): string | undefined {
  let id = '';
  try {
    id = readFileSync(file, 'utf8').trim();
  } catch {
    // not every system has one
  }
  return /^[0-9a-f]{32}$/.test(id) ? createHmac('sha256', id).update('breakwater node').digest('hex') : undefined;
}

/**
 * Which boot of which machine this is, also told by a hash: a machine that was copied with its id has another one, as has a container beside
 * this one. One that was copied with its memory has not.
 * @returns undefined: the system does not say
 */
export function thisBoot(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() + readlinkSync('/proc/self/ns/net');
    return createHmac('sha256', boot).update('breakwater node').digest('hex');
  } catch {
    return undefined;
  }
}

export class Identity {
  /** where it is now */
  readonly own: () => string[];
  readonly boot = thisBoot();
  readonly #file: string;
  #stored: Stored;

  private constructor(file: string, stored: Stored, own: () => string[]) {
    this.#file = file;
    this.#stored = stored;
    this.own = own;
  }

  /**
   * Reads the identity, or makes the key pair at the first start.
   * @param ca PEM: by this authority the control plane is known from now on; null: by those every machine knows; default: by that of before
   * @param listen addresses for visitors; default: all of this machine
   * @param machine the machine this is (`thisMachine`). '': it has no id. Of another one's
   * identity nothing counts but where the control plane is
   */
  static async open(folder: string, ca?: string | null, listen?: readonly string[], machine = thisMachine()): Promise<Identity> {
    await mkdir(folder, { recursive: true, mode: 0o711 });
    const file = fileIn(folder);
    const found = await read(file);
    // one whose control plane is on its own machine is copied along with that: a backup that is restored elsewhere
    const isElsewhere = found?.machine !== undefined && found.machine !== machine && found.grant?.tls !== null;
    const isCopy = Boolean(machine) && isElsewhere;
    // an operator who gave this very machine another id can put it back
    if (isCopy) await copyFile(file, `${file}.copied`);
    const stored = isCopy
      ? { ...nobody(), server: found.server, ...(found.ca && { ca: found.ca }), copyOf: numberOf(found) }
      : found;
    const believed = ca === undefined ? stored?.ca : (ca ?? undefined);
    const own = () => ownAddresses(listen);
    const isBound = !machine || stored?.machine === machine;
    if (stored && believed === stored.ca && isBound) return new Identity(file, stored, own);
    const { ca: _, ...others }: Stored = stored ?? nobody();
    const identity = new Identity(file, { ...others, ...(believed && { ca: believed }), ...(machine && { machine }) }, own);
    await identity.#save();
    return identity;
  }

  /** For a join beside a node that works in `from`; where there was none yet, there is nothing to copy. */
  static async copy(from: string, folder: string): Promise<void> {
    await copyFile(fileIn(from), fileIn(folder)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }

  /**
   * What came of a join beside it. A command that was obeyed meanwhile stays obeyed.
   * @throws a sentence: nobody has joined there; then nothing was changed
   */
  static async take(folder: string, from: string): Promise<void> {
    const theirs = await read(fileIn(from));
    if (!theirs?.grant) throw new Error(`nobody has joined in ${from}: the node here stays who it is`);
    const mine = await read(fileIn(folder));
    const lastCommand = Math.max(mine?.lastCommand ?? 0, theirs.lastCommand ?? 0);
    writeWhole(fileIn(folder), JSON.stringify({ ...theirs, lastCommand }));
  }

  /** What whoever looks is to read while this machine has not joined by itself; null: its disk is no copy. */
  get copied(): string | null {
    const { copyOf } = this.#stored;
    if (copyOf === undefined) return null;
    const whose = copyOf ? `node ${copyOf}` : 'a node';
    return `this disk was copied from ${whose} on another machine (/etc/machine-id differs): a new identity was made, and ${whose} stays who it is`;
  }
  get grant(): Grant | null {
    return this.#stored.grant;
  }
  get server(): string {
    return this.#stored.server;
  }
  /** PEM of who vouches for it */
  get ca(): string | undefined {
    return this.#stored.ca;
  }
  /** PEM */
  get memberKey(): string {
    return (this.#stored.memberKey ??= newKey());
  }
  get lastCommand(): number {
    return this.#stored.lastCommand ?? 0;
  }
  /** Resolves when it is on disk. @throws when it cannot be written: then it counts as not obeyed */
  async remember(command: number): Promise<void> {
    const stored = { ...this.#stored, lastCommand: command };
    await this.#save(stored);
    this.#stored = stored;
  }
  /** Where it said last that it is; undefined: it has not since this release. */
  get addresses(): readonly string[] | undefined {
    return this.#stored.addresses;
  }
  get seed(): Uint8Array {
    return new TextEncoder().encode(this.#stored.seed);
  }
  get publicKey(): string {
    return fromSeed(this.seed).getPublicKey();
  }
  /** A join token that was not used yet. */
  isNew(token: string | undefined): token is string {
    return Boolean(token) && this.#stored.joinedWith !== hash(token!);
  }

  /** @throws Refusal (the token is spent, expired or unknown); Error when the server cannot be reached */
  async join(server: string, token: string, facts: { name: string; version: string }): Promise<Grant> {
    const [addresses, time] = [this.own(), Date.now()];
    const body = { token, publicKey: this.publicKey, addresses, time, ...facts };
    const grant = await this.#askBoxed(server, 'join', (keys, isNew) => {
      const { boxKey = '', memberKey = '' } = keys;
      const text = `breakwater join ${hash(token)} ${time} ${boxKey} ${memberKey} addresses=${addresses.join(',')}`;
      return { ...body, ...keys, ...(isNew && { signature: this.#sign(text), boot: this.boot }) };
    });
    const before = this.#stored;
    const { copyOf: _, ...mine } = before;
    this.#stored = { ...mine, server, joinedWith: hash(token), grant, addresses };
    if (grant.zoneID === null || grant.zoneKey) {
      await this.#save();
      return grant;
    }
    // To who is known already the zone's key is told against a signature alone. Until it is, we have not joined.
    return this.renew(server).catch((error: unknown) => {
      this.#stored = before;
      throw error;
    });
  }

  /** New credentials, signed for with our key. @throws Refusal (we are no node any more, or our clock is wrong); Error */
  async renew(server = this.#stored.server): Promise<Grant> {
    const nodeID = this.#stored.grant!.nodeID;
    const [addresses, time] = [this.own(), Date.now()];
    const grant = await this.#askBoxed(server, 'credentials', (keys, isNew) => {
      const { boxKey = '', memberKey = '' } = keys;
      const where = isNew ? ` addresses=${addresses.join(',')}` : '';
      const text = `breakwater node ${nodeID} ${time}${boxKey && ` ${boxKey}`}${memberKey && ` ${memberKey}`}${where}`;
      return { nodeID, time, signature: this.#sign(text), ...keys, ...(isNew && { addresses, boot: this.boot }) };
    });
    const pinned = this.#stored.grant!.documentKey;
    // A former version knew of no such key: then this is the first.
    if (pinned && pinned !== grant.documentKey)
      throw new Refusal('the control plane shows another document key than the one this node joined: join it again');
    // of an earlier release, which was told without: it is not asked again and again
    this.#stored = { ...this.#stored, server, grant, addresses };
    await this.#save();
    return grant;
  }

  #sign(text: string): string {
    return Buffer.from(fromSeed(this.seed).sign(new TextEncoder().encode(text))).toString('base64');
  }

  /**
   * Sends a box along for the zone's key, and a key to be certified. A server of before zones had one, or before there were relays, takes no
   * such field: it is asked again without. `isNew`: the server may take what came after the last release.
   */
  async #askBoxed(server: string, call: string, bodyOf: (keys: Keys, isNew: boolean) => object): Promise<Grant> {
    const box = new Box();
    const member = createPublicKey(createPrivateKey(this.memberKey)).export({ type: 'spki', format: 'der' });
    const all: Keys = { boxKey: box.publicKey, memberKey: member.toString('base64url') };
    const tries = [[all, true] as const, [all, false] as const, [{ boxKey: box.publicKey }, false] as const];
    for (const [keys, isNew] of tries)
      try {
        return await this.#ask(server, call, bodyOf(keys, isNew), box);
      } catch (error) {
        if (!(error instanceof Refusal) || error.status !== 400) throw error;
      }
    return this.#ask(server, call, bodyOf({}, false), box);
  }

  async #ask(server: string, call: string, body: unknown, box: Box): Promise<Grant> {
    const url = new URL(`/api/v1/node/${call}`, server);
    const { status, headers, said } = await askServer(url, body, limitMs, this.#stored.ca);
    const {
      nodeID,
      zoneID = null,
      jwt,
      natsUrl,
      documentKey,
      tls = null,
      zoneKey,
      type = 'edge',
      member: told = null,
      code,
      message,
      errorData,
    }: Partial<Answer> = said;
    const isGood = status >= 200 && status < 300;
    if (isGood && typeof nodeID === 'number' && typeof jwt === 'string' && typeof natsUrl === 'string' && documentKey)
      return {
        nodeID,
        zoneID,
        jwt,
        natsUrl,
        documentKey,
        tls,
        zoneKey: zoneKey ? box.open(zoneKey) : null,
        type,
        member: told && kept(this.#stored.grant?.member, told),
      };
    const why = `the server answers ${status}: ${[message ?? 'no reason given', ...sentencesOf(errorData)].join('. ')}`;
    if (status === 429) throw new Held(why, Number(headers['retry-after']) || 0);
    // a proxy that answers for a server that is away does not speak in its name
    const isRefused = status >= 400 && status < 500 && typeof code === 'number';
    throw isRefused ? new Refusal(why, status) : new Error(why);
  }

  async #save(stored = this.#stored): Promise<void> {
    writeWhole(this.#file, JSON.stringify(stored));
  }
}

/** What is wrong and what to do, where the server says it by rules that are known here. Whoever joins a machine reads it there alone. */
function sentencesOf(errorData: unknown): string[] {
  const all: { rule?: unknown; bounds?: Bounds }[] = Array.isArray(errorData) ? errorData.map(one => ({ ...one })) : [];
  return all.flatMap(({ rule, bounds }) => (isRuleName(rule) ? [ruleText({ rule, ...(bounds && { bounds }) }, 'en_US')] : []));
}

interface Keys {
  boxKey?: string;
  memberKey?: string;
}

/**
 * The certificate of before is kept while more than half of its life is left: another one is a reload of nginx. It names node and zone: one
 * that was deleted and joined again has another number, by which alone its zone knows it.
 */
function kept(held: Grant['member'] | undefined, told: NonNullable<Grant['member']>): Grant['member'] {
  if (!held) return told;
  const read = [held.certificate, told.certificate, held.authority, told.authority].map(pem => new X509Certificate(pem));
  const [certificate, next, authority, now] = read;
  const [from, until] = [certificate!.validFromDate, certificate!.validToDate].map(Number);
  const isYoung = Date.now() < (from! + until!) / 2;
  const isSame = certificate!.subjectAltName === next!.subjectAltName && authority!.publicKey.equals(now!.publicKey);
  return isYoung && isSame ? held : told;
}

/** Half an identity is none; it is kept, for whoever wants to look. */
async function read(file: string): Promise<Stored | undefined> {
  const text = await readFile(file, 'utf8').catch(error => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  const stored = text ? whole(text) : undefined;
  if (text && !stored) await rename(file, `${file}.damaged`);
  return stored;
}

function whole(text: string): Stored | undefined {
  try {
    const stored = JSON.parse(text) as Stored;
    fromSeed(new TextEncoder().encode(stored.seed)).getPublicKey(); // a seed carries a checksum
    return stored.grant && typeof stored.grant.nodeID !== 'number' ? { ...stored, grant: null } : stored;
  } catch {
    return undefined;
  }
}
