/** A control plane for bus tests: a migrated database with one operator, a NATS server of its own, and the wishes in SQL. */
import type { TestContext } from 'node:test';
import { type NatsConnection, connect, credsAuthenticator, headers } from '@nats-io/transport-node';
import pg from 'pg';
import { jetstreamManager } from '@nats-io/jetstream';
import { signed } from '#contract/edge/signed.ts';
import { type DocumentKind, kinds } from '#contract/edge/kinds/index.ts';
import { parseConfigSubject } from '#contract/edge/subjects.ts';
import { connectServer } from '#server/bus/bus.ts';
import { Signer, mintNode, nodeStatement } from '#server/bus/credentials.ts';
import { type Nkey, nkey } from '#server/bus/nkeys.ts';
import type { NatsEngine } from '#server/bus/nats-launcher.ts';
import { type SystemBus, openSystem } from '#server/bus/system.ts';
import { migratedDatabase, nats } from '#system/engines.ts';

export class Rig {
  readonly url: string;
  readonly pool: pg.Pool;
  engine: NatsEngine;
  nc: NatsConnection;
  #given = 0;
  readonly #ends: (() => Promise<unknown>)[] = [];

  private constructor(url: string, pool: pg.Pool, engine: NatsEngine, nc: NatsConnection) {
    this.url = url;
    this.pool = pool;
    this.engine = engine;
    this.nc = nc;
  }

  /** @param database a migrated one of its own */
  static async start(t: TestContext | undefined, database = migratedDatabase()): Promise<Rig> {
    const [url, engine] = await Promise.all([database, nats()]);
    const pool = new pg.Pool({ connectionString: url, max: 5, allowExitOnIdle: true });
    pool.on('error', () => {});
    const rig = new Rig(url, pool, engine, await connectServer(engine.url, engine.serverCreds));
    t?.after(() => rig.end());
    await pool.query(
      `insert into account (email, name, auth, "isRoot") values ('c@x.test', 'c', 'client', true), ('u@x.test', 'u', 'user', true)`,
    );
    // origins of these tests listen on loopback
    await pool.query(`insert into setting (key, value) values ('originEnvironment', '["127.0.0.0/8"]')`);
    return rig;
  }
  get signer(): Signer {
    return new Signer(this.engine.keys.documentSeed);
  }
  /** Runs before the engines go, last one first. */
  onEnd(act: () => Promise<unknown>): void {
    this.#ends.unshift(act);
  }
  async end(): Promise<void> {
    for (const act of this.#ends) await act();
    await this.nc.close();
    await this.pool.end();
    await this.engine.stop();
  }

  async one<T = number>(text: string, values: unknown[] = []): Promise<T> {
    const { rows } = await this.pool.query(text, values);
    const value = Object.values(rows[0] ?? {})[0];
    return (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value) as T;
  }

  /** One transaction whose changes are put into the outbox as the store does. */
  async change(entities: string[], ...statements: [string, unknown[]?][]): Promise<unknown[][]> {
    const client = await this.pool.connect();
    const results: unknown[][] = [];
    try {
      await client.query('begin');
      for (const [text, values] of statements) results.push((await client.query(text, values)).rows);
      for (const entity of entities) {
        const [kind, id] = entity.split(' ');
        const site = {
          site: '$2::bigint',
          domain: '(select "siteID" from domain where id = $2)',
          module: '(select "siteID" from module where id = $2)',
          certificate: '(select "siteID" from certificate where id = $2)',
          port: '(select "siteID" from port where id = $2)',
          zone: 'null::bigint',
          node: 'null::bigint',
        }[kinds[kind as DocumentKind].on];
        if (kind === 'node') await client.query(`select nextval('revision')`);
        else if (kind === 'zone') await client.query(`update zone set revision = nextval('revision') where id = $1`, [id]);
        else
          await client.query(
            `update site set revision = nextval('revision'), "changedAt" = clock_timestamp() where id = ${site.replaceAll('$2', '$1')}`,
            [id],
          );
        await client.query(
          `insert into outbox (kind, "entityID", "siteID", revision) values ($1, $2::bigint, ${site}, (select last_value from revision))`,
          [kind, id],
        );
      }
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
    return results;
  }

  /** A zone with a group and a product. */
  async zone(name: string): Promise<{ zoneID: number; productID: number }> {
    const zoneID = await this.one(`insert into zone ("clientID", name) values (1, $1) returning id`, [name]);
    const groupID = await this.one(`insert into "group" ("clientID", "zoneID", name) values (1, $1, $2) returning id`, [
      zoneID,
      name,
    ]);
    const productID = await this.one(`insert into product ("clientID", "groupID", name) values (1, $1, $2) returning id`, [
      groupID,
      name,
    ]);
    await this.change([`zone ${zoneID}`]);
    return { zoneID, productID };
  }
  async site(productID: number, name: string): Promise<number> {
    const id = await this.one(
      `insert into site ("clientID", "userID", "productID", "siteName") values (1, 2, $1, $2) returning id`,
      [productID, name],
    );
    await this.change([`site ${id}`]);
    return id;
  }
  async domain(siteID: number, host: string, address = '127.0.0.1', port = 80): Promise<number> {
    const id = await this.one(`insert into domain ("siteID", "domainName") values ($1, $2) returning id`, [siteID, host]);
    await this.pool.query(`insert into upstream ("domainID", address, port) values ($1, $2, $3)`, [id, address, port]);
    await this.change([`domain ${id}`]);
    return id;
  }
  setOrigin(domainID: number, port: number): Promise<unknown> {
    return this.change([`domain ${domainID}`], ['update upstream set port = $2 where "domainID" = $1', [domainID, port]]);
  }
  async outbox(): Promise<number> {
    return this.one('select count(*)::int from outbox');
  }

  /** Publishes a text as the relay would, whatever it says: signed, with the next number of its zone. */
  async publish(subject: string, body: string): Promise<void> {
    const { zoneID } = parseConfigSubject(subject)!;
    const head = await this.one('select n from "zoneHead" where "zoneID" = $1', [zoneID]);
    const n = Math.max(head, this.#given) + 1;
    this.#given = n;
    const epoch = await this.one<string>('select epoch from "busStream"');
    const facts = headers();
    facts.set(signed.number, String(n));
    facts.set(signed.epoch, epoch);
    facts.set(signed.signature, this.signer.document({ zoneID, epoch, n, subject }, body));
    await this.nc.request(subject, body, { headers: facts, timeout: 5000 });
    // as the relay does: what a node says of a number that was not given is not written down
    await this.pool.query('update "zoneHead" set n = greatest(n, $2) where "zoneID" = $1', [zoneID, n]);
  }

  /** What stands on the bus: subject → document, or null for an empty body. */
  async stands(): Promise<Record<string, { seq: number; document: Record<string, unknown> | null }>> {
    const jsm = await jetstreamManager(this.nc);
    const info = await jsm.streams.info('CFG', { subjects_filter: '>' });
    const found: Awaited<ReturnType<Rig['stands']>> = {};
    for (const subject of Object.keys(info.state.subjects ?? {}).sort()) {
      const message = (await jsm.streams.getMessage('CFG', { last_by_subj: subject }))!;
      found[subject] = { seq: message.seq, document: message.data.length ? message.json() : null };
    }
    return found;
  }
}

/** The key pair of a test's node. */
export const userOf = (nodeID: number): Nkey => nkey('user', new Uint8Array(32).fill(nodeID));
/** What its account is called by, and what its credentials are made of. */
export const named = (nodeID: number) => ({ nodeID, user: userOf(nodeID), publicKey: userOf(nodeID).publicKey });

/** A system connection of a bus without control plane, and nodes on it as joining would make them. */
export async function nodesOf(engine: NatsEngine): Promise<{
  system: SystemBus;
  node(nodeID: number, zoneID: number | null): Promise<{ nc: NatsConnection; creds: string; denied: string[] }>;
  close(): Promise<void>;
}> {
  const system = await openSystem(engine.keys, engine.url, undefined, () => {});
  const open: NatsConnection[] = [];
  return {
    system,
    async node(nodeID, zoneID) {
      await system.put(nodeStatement(engine.keys, { ...named(nodeID), zoneID }));
      const { creds } = mintNode(engine.keys, named(nodeID));
      const nc = await connectNode(engine, creds);
      open.push(nc);
      const denied: string[] = [];
      void (async () => {
        for await (const status of nc.status()) if (status.type === 'error') denied.push(status.error.message);
      })();
      return { nc, creds, denied };
    },
    async close() {
      for (const nc of open) await nc.close();
      await system.close();
    },
  };
}
export const connectNode = (engine: NatsEngine, creds: string, reconnect = false): Promise<NatsConnection> =>
  connect({
    servers: engine.url,
    authenticator: credsAuthenticator(new TextEncoder().encode(creds)),
    tls: null,
    ...(reconnect ? { maxReconnectAttempts: -1, reconnectTimeWait: 50 } : { reconnect: false }),
  });

/** Waits for a condition; the error says what was waited for. */
export async function until<T>(
  what: string,
  condition: () => Promise<T> | T,
  limitMs = 20_000,
): Promise<Exclude<NonNullable<T>, false>> {
  const deadline = Date.now() + limitMs;
  let last: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value as Exclude<NonNullable<T>, false>;
      last = value;
    } catch (error) {
      last = error;
    }
    if (Date.now() > deadline)
      throw new Error(`waited in vain: ${what} (${last instanceof Error ? last.message : JSON.stringify(last)})`);
    await new Promise(next => setTimeout(next, 15));
  }
}
