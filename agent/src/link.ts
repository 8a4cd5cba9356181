/**
 * The node's line to the control plane: join once, connect, stay connected, fetch new credentials when told to or when the old
 * ones are refused. Everything here may fail for days; the node serves meanwhile.
 */
import { type NatsConnection, connect, errors, jwtAuthenticator } from '@nats-io/transport-node';
import { own } from '#contract/edge/subjects.ts';
import { Backoff } from './backoff.ts';
import { obey, type Verbs } from './commands.ts';
import { type Grant, Held, type Identity, Refusal } from './identity.ts';
import { Where } from './where.ts';

export interface LinkOptions {
  identity: Identity;
  /** address of the control plane; default: the one joined last */
  server?: string;
  joinToken?: string;
  name: string;
  version: string;
  /** A connection is there: the first one, or one to another bus. `closed` of the former has run. */
  connected(nc: NatsConnection, grant: Grant): Promise<void>;
  /** The connection was lost and is there again. */
  again(): void;
  /** The node was put into another zone, or out of any; the connection is about to be made anew with the new rights. */
  moved(grant: Grant): Promise<void>;
  /** Credentials were fetched; `grant` is what counts now. */
  renewed?(grant: Grant): void;
  /** What the control plane may tell us to do, beside `renew`. */
  verbs?: Verbs;
  /** The connection is given up. */
  closed(): Promise<void>;
  log(message: string): void;
  /** default: one by the clock */
  backoff?: Backoff;
}

const retryMs = { least: 500, most: 10_000 };
const refusedMs = 30_000;
/** A token that has lived so much of its life is exchanged for another. */
const renewAtShare = 2 / 3;
const lookAtTokenMs = { least: 500, most: 3_600_000 };
/** After so long without a bus the server is asked whether it moved. */
const askAgainMs = 30_000;

export class Link {
  /** Why there is no connection; null while there is. */
  problem: string | null = 'not connected yet';
  readonly #options: LinkOptions;
  #nc: NatsConnection | undefined;
  #stopped = false;
  #wake: () => void = () => {};
  #running: Promise<void> = Promise.resolve();
  #renewing: Promise<void> | undefined;
  #renewedAt = -Infinity;
  readonly #server: Backoff;
  readonly #where: Where;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#server = options.backoff ?? new Backoff();
    const { identity } = options;
    this.#where = new Where({
      told: () => (identity.grant ? (identity.addresses ?? []) : undefined),
      own: identity.own,
      tell: () => void this.renew(),
    });
  }

  start(): void {
    this.#running = this.#run();
    this.#where.start();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#where.stop();
    this.#wake();
    await this.#nc?.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    let delay: number = retryMs.least;
    while (!this.#stopped) {
      try {
        const grant = await this.#grant();
        await this.#hold(grant);
        delay = retryMs.least;
      } catch (error) {
        if (this.#stopped) return;
        // with credentials of before the bus is tried on: they may count again
        const isAsking = this.#options.identity.grant === null && this.#server.waitMs > 0;
        const wait = isAsking ? this.#server.waitMs : spread(error instanceof Refusal ? refusedMs : delay);
        if (this.problem !== (error as Error).message) this.#options.log(`no connection: ${(error as Error).message}`);
        this.problem = (error as Error).message;
        await this.#sleep(wait);
        delay = Math.min(delay * 2, retryMs.most);
      }
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise(done => {
      const timer = setTimeout(done, ms);
      this.#wake = () => (clearTimeout(timer), done());
    });
  }

  get #address(): string {
    return this.#options.server || this.#options.identity.server;
  }

  async #grant(): Promise<Grant> {
    const { identity, joinToken, name, version, log } = this.#options;
    if (identity.grant?.documentKey) return identity.grant;
    // Joined with a former version: what it was granted does not say enough.
    if (identity.grant) return this.#server.ask(() => identity.renew(this.#address));
    const server = this.#address;
    const { copied } = identity;
    if (!joinToken || !server)
      throw new Refusal(`${copied ?? 'this node has not joined'}: start it with --server URL --join TOKEN`);
    const grant = await this.#server.ask(() => identity.join(server, joinToken, { name, version }));
    if (copied) log(copied);
    log(`joined as node ${grant.nodeID}${grant.zoneID === null ? ', waiting for a zone' : ` of zone ${grant.zoneID}`}`);
    return grant;
  }

  /** Connects and stays until the connection is given up. */
  async #hold(grant: Grant): Promise<void> {
    const { identity, connected, again, closed, log } = this.#options;
    const nc = await connect({
      servers: grant.natsUrl.split(','),
      // Asked at each reconnection: renewed credentials are used from the next one on.
      authenticator: jwtAuthenticator(() => identity.grant!.jwt, identity.seed),
      name: `node-${grant.nodeID}`,
      // Loopback speaks plainly; a client that may upgrade hangs there.
      tls: tlsOf(grant),
      timeout: 5000,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      reconnectJitter: 200,
      pingInterval: 5000,
      ignoreAuthErrorAbort: true,
    }).catch(async error => {
      if (refusedByBus(error)) await this.#server.ask(() => this.#renew());
      else await this.#askWhere();
      throw new Error(`the bus ${grant.natsUrl}: ${whyNot(error, grant)}`, { cause: error });
    });
    if (this.#stopped) return nc.close();
    this.#nc = nc;
    this.problem = null;
    log('connected to the bus');
    const commands = nc.subscribe(own.commands, {
      callback: (error, msg) => {
        if (error) return;
        void obey(msg, identity, { ...this.#options.verbs, renew: () => this.renew(false, true) }).then(
          answer => answer && !nc.isClosed() && nc.publish('ans', JSON.stringify(answer)),
          problem => log(`a command cannot be obeyed: ${(problem as Error).message}`),
        );
      },
    });
    let aging: NodeJS.Timeout;
    const watchAge = () => {
      const due = Math.max(dueMs(identity.grant!.jwt, renewAtShare) - Date.now(), this.#server.waitMs);
      aging = setTimeout(
        () => {
          if (due > lookAtTokenMs.most) return watchAge();
          void this.renew().then(() => this.#nc === nc && watchAge());
        },
        Math.min(Math.max(due, lookAtTokenMs.least), lookAtTokenMs.most),
      );
    };
    watchAge();
    void (async () => {
      let lostAt = 0;
      for await (const status of nc.status()) {
        if (status.type === 'disconnect') {
          lostAt = performance.now();
          this.problem = 'the connection to the bus is lost';
        } else if (status.type === 'reconnect') {
          lostAt = 0;
          this.problem = null;
          again();
        } else if (status.type === 'error' && refusedByBus(status.error)) {
          this.problem = 'the bus refuses our credentials';
          void this.renew(true);
        } else if (status.type === 'reconnecting' && lostAt && performance.now() - lostAt > askAgainMs) {
          lostAt = performance.now();
          void this.renew();
        }
      }
    })();
    try {
      await connected(nc, grant);
      const error = await nc.closed();
      if (error) throw error;
    } finally {
      clearTimeout(aging!);
      if (!nc.isClosed()) commands.unsubscribe();
      this.#nc = undefined;
      await closed();
      await nc.close();
    }
  }

  /**
   * Fetches credentials and acts on what changed. Never throws; at most once in two seconds.
   * @param refused the bus no longer takes the ones we have: if the server gives no others, knocking on is no use
   * @param told the control plane wants it: then it is not waited after a failure
   */
  renew(refused = false, told = false): Promise<void> {
    if (told) this.#server.clear();
    if (!this.#renewing && this.#server.waitMs > 0) return Promise.resolve();
    return (this.#renewing ??= (async () => {
      const wait = this.#renewedAt + 2000 - performance.now();
      if (wait > 0) await new Promise(next => setTimeout(next, wait));
      this.#renewedAt = performance.now();
      try {
        await this.#server.ask(() => this.#renew());
      } catch (error) {
        this.#options.log(`credentials not renewed: ${(error as Error).message}`);
        if (refused && error instanceof Refusal) await this.#nc?.close();
      } finally {
        this.#renewing = undefined;
      }
    })());
  }

  async #renew(): Promise<void> {
    const { identity, joinToken, name, version, moved, log } = this.#options;
    const before = identity.grant!;
    let grant: Grant;
    try {
      grant = await identity.renew(this.#address);
    } catch (error) {
      // The installation was made anew and handed us another token: we are another node now.
      const isAnswered = error instanceof Refusal || error instanceof Held;
      if (!isAnswered || !identity.isNew(joinToken)) throw error;
      grant = await identity.join(this.#address, joinToken, { name, version });
      log(`joined again as node ${grant.nodeID}`);
    }
    if (grant.zoneID !== before.zoneID) {
      log(grant.zoneID === null ? 'taken out of its zone' : `now in zone ${grant.zoneID}`);
      await moved(grant);
    }
    this.#options.renewed?.(grant);
    if (!this.#nc) return;
    // a connection keeps what it began with, also when it is made again: address, authority, and the key it checks documents by
    if (isElsewhere(grant, before) || isAnother(grant, before)) await this.#nc.close();
    // The bus lets go of whoever outlives the token it came with. A young one may stay: another zone is another import of the same account.
    else if (this.problem !== null || dueMs(before.jwt, 0.5) < Date.now()) await this.#nc.reconnect();
    else if (grant.zoneID !== before.zoneID) this.#options.again();
  }

  /** The bus cannot be reached: perhaps it moved. */
  async #askWhere(): Promise<void> {
    if (performance.now() - this.#renewedAt < askAgainMs) return;
    this.#renewedAt = performance.now();
    await this.#server.ask(() => this.#renew()).catch(() => {});
  }
}

/** Between half and one and a half of it. */
const spread = (ms: number) => ms * (0.5 + Math.random());

/** Whether the bus moved, or is to be checked in another way. */
const isElsewhere = (grant: Grant, before: Grant) =>
  grant.natsUrl !== before.natsUrl || grant.tls?.ca !== before.tls?.ca || grant.tls?.servername !== before.tls?.servername;

/** Whether we joined anew: as another node, or an installation with other keys. */
const isAnother = (grant: Grant, before: Grant) => grant.nodeID !== before.nodeID || grant.documentKey !== before.documentKey;

function refusedByBus(error: unknown): boolean {
  return error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError;
}

/** One sentence out of what the client says. */
function whyNot(error: unknown, { tls }: Grant): string {
  // A bus that demands TLS of a client that was given none: the client stumbles.
  if (!tls && [error, (error as Error).cause].some(one => one instanceof TypeError))
    return 'it speaks TLS alone, and this node was told of no authority to check it by';
  const { message, cause } = error as Error;
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? (error as NodeJS.ErrnoException).code ?? '';
  return /^UNABLE_TO_|SELF_SIGNED_CERT|^DEPTH_ZERO/.test(code) || /^(unable to (verify|get)|self-signed)/.test(message)
    ? 'its certificate is not signed by the authority this node was told of'
    : message;
}

/** @throws when the bus is elsewhere and there is nothing to check it by: never plainly beyond this machine */
export function tlsOf({ natsUrl, tls }: Grant): NonNullable<Grant['tls']> | null {
  const isNear = natsUrl.split(',').every(one => /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(new URL(one).hostname));
  if (!tls && !isNear) throw new Error('it is not on this machine, and no authority for TLS was given');
  return tls;
}

/** When a token will have lived this share of its life, in milliseconds since 1970; one that never ends: never. */
function dueMs(jwt: string, share: number): number {
  const { iat, exp } = JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString('utf8')) as { iat: number; exp?: number };
  return exp === undefined ? Number.POSITIVE_INFINITY : (iat + share * (exp - iat)) * 1000;
}
