/**
 * How long a change takes: committed in PostgreSQL → relay → JetStream → agent → nginx answers otherwise, with 10,000 domains loaded,
 * against a bare publish-to-subscriber round trip on the same bus in the same run. `npm run bench -- propagation`
 *
 * Five processes of their own take part, as in life: PostgreSQL, NATS, the control plane, the agent, nginx. A change switches one of
 * the 10,000 domains off or on; before it is committed, its page is in nginx's cache, and from the moment COMMIT is sent nginx is
 * asked over one keep-alive connection, every half millisecond, until it answers 904 instead of 200, or back. The bare side publishes a message
 * of the same size into a stream of the same kind (file storage, one message per subject) and waits until an ordered
 * consumer of another connection has it. Both sides take turns.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connectServer } from '#server/bus/bus.ts';
import { joinTokenHash } from '#server/bus/join-token.ts';
import { freePort } from '#server/store/engine-process.ts';
import { testFolder } from '#system/engines.ts';
import { Rig, until } from '../../server/test/bus/rig.ts';
import { row } from './_cpu.ts';

const domains = Number(process.env.BENCH_DOMAINS ?? 10_000);
const changes = Number(process.env.BENCH_CHANGES ?? 300);
/** domains switched off and on before anything counts: code and caches are warm then */
const warmUp = 10;
/** Between two questions to nginx, so that asking does not take the cores away from what is measured; it is part of the figure. */
const pauseMs = 0.5;
const pause = new Int32Array(new SharedArrayBuffer(4));
const sitesCount = Math.ceil(domains / 10);
/** What the store puts into the outbox for a list and for a purge. */
const purgeKinds = { lists: ['whitelists', 'blacklists', 'userAgents'], purge: 'purges' };
/** p99 of the change is at most so many times the p99 of the bare round trip. */
const ratioMost = 20;

export async function run(): Promise<void> {
  const rig = await Rig.start(undefined);
  const children: { kill(): void }[] = [];
  try {
    await measure(rig, children);
  } finally {
    for (const child of children) child.kill();
    await new Promise(next => setTimeout(next, 300));
    await rig.end();
  }
}

async function measure(rig: Rig, children: { kill(): void }[]): Promise<void> {
  const origin = http.createServer((_, answer) => answer.setHeader('cache-control', 'max-age=3600').end('page'));
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  origin.unref();
  const { zoneID, productID } = await rig.zone('bench');
  await fill(rig, productID, (origin.address() as net.AddressInfo).port);
  const plane = spawnPlane(rig);
  children.push(plane);
  const server = `http://127.0.0.1:${JSON.parse(String((await once(plane.stdout!, 'data'))[0])).port}`;
  const node = await startNode(rig, zoneID, server);
  children.push(node);

  let from = performance.now();
  await until('all is published', async () => (await rig.outbox()) === 0, 120_000);
  const published = performance.now() - from;
  from = performance.now();
  await until('the node holds all', async () => (await node.gauge('agent_records')) === domains + sitesCount + 1, 120_000);
  console.log(`${domains} domains: published in ${ms(published)} ms; the node has them ${ms(performance.now() - from)} ms later`);
  await until('in step', async () => (await node.gauge('agent_in_step')) === 1);

  const loaded = await rig.one('select last_value from revision');
  const bare = await bareRoundTrip(rig);
  const workers = node.workers();
  const visitor = new Visitor(node.httpPort);
  const served: number[] = [];
  const plain: number[] = [];
  for (let i = 0; i < warmUp + changes / 2; i++) {
    const id = 1 + ((i * 7919) % domains);
    const host = `d${id}.test`;
    await until('its page is served', async () => (await visitor.ask(host)) === 200);
    await visitor.ask(host); // from the cache
    for (const [status, wanted] of [
      [0, 904],
      [1, 200],
    ] as const) {
      const took = await change(rig, id, status, async () => (await visitor.ask(host)) === wanted);
      const round = await bare(id);
      if (i < warmUp) continue;
      served.push(took);
      plain.push(round);
    }
  }
  const after = node.workers();
  const [a, b] = [figures(plain), figures(served)];
  row('', 'p50 ms', 'p99 ms', 'max ms');
  row('publish → subscriber (bare JetStream)', ms(a.p50), ms(a.p99), ms(a.max));
  row('committed → served by nginx', ms(b.p50), ms(b.p99), ms(b.max));
  row('ratio', (b.p50 / a.p50).toFixed(1), (b.p99 / a.p99).toFixed(1));
  const { rows } = await rig.pool.query(
    `select percentile_cont(0.5) within group (order by ms) p50, percentile_cont(0.99) within group (order by ms) p99
    from ack where revision > $1`,
    [loaded],
  );
  row('committed → acknowledged (by the database)', ms(rows[0].p50 ?? 0), ms(rows[0].p99 ?? 0));
  console.log(
    `${served.length} changes; nginx workers ${workers.join(' ')} before, ${after.join(' ')} after: ${same(workers, after) ? 'no reload' : 'RELOADED'}`,
  );
  if (!same(workers, after)) throw new Error('nginx was reloaded');
  await purge(rig, node, visitor);
  const ratio = b.p99 / a.p99;
  if (ratio > ratioMost) throw new Error(`p99 is ${ratio.toFixed(1)} times the bare round trip, more than ${ratioMost}`);
}

async function fill(rig: Rig, productID: number, port: number): Promise<void> {
  await rig.pool.query(
    `insert into site ("clientID", "userID", "productID", "siteName", revision, "changedAt") select 1, 2, $1, 's' || i, nextval('revision'), now() from generate_series(1, $2::int) i`,
    [productID, sitesCount],
  );
  await rig.pool.query(
    `insert into domain ("siteID", "domainName") select 1 + (i - 1) / 10, 'd' || i || '.test' from generate_series(1, $1::int) i`,
    [domains],
  );
  await rig.pool.query(`insert into upstream ("domainID", address, port) select id, '127.0.0.1', $1 from domain`, [port]);
  await rig.pool.query(`insert into outbox (kind, "entityID", "siteID", revision) select 'site', id, id, revision from site`);
  await rig.pool.query(
    `insert into outbox (kind, "entityID", "siteID", revision) select 'domain', d.id, s.id, s.revision from domain d join site s on s.id = d."siteID"`,
  );
  await rig.pool.query('analyze');
}

/** One change as the store commits it. @returns milliseconds from sending COMMIT to the first request that `seen` is true for */
async function change(rig: Rig, id: number, status: number, seen: () => Promise<boolean>): Promise<number> {
  const client = await rig.pool.connect();
  try {
    await client.query('begin');
    await client.query('update domain set status = $2 where id = $1', [id, status]);
    await client.query(
      `with s as (update site set revision = nextval('revision'), "changedAt" = clock_timestamp() where id = (select "siteID" from domain where id = $1) returning id, revision)
       insert into outbox (kind, "entityID", "siteID", revision) select 'domain', $1, id, revision from s`,
      [id],
    );
    const from = performance.now();
    const committed = client.query('commit');
    while (!(await seen())) {
      if (performance.now() - from > 10_000) throw new Error('not served within 10 s');
      Atomics.wait(pause, 0, 0, pauseMs);
    }
    const took = performance.now() - from;
    await committed;
    return took;
  } finally {
    client.release();
  }
}

/** A purge of one URL of a site with three lists at their bound: what is sent for it, and how long until the page is fetched anew. */
async function purge(rig: Rig, node: { gauge(name: string): Promise<number> }, visitor: Visitor): Promise<void> {
  const ips = Array.from({ length: 9000 }, (_, i) => `203.0.${i >> 8}.${i & 255}`);
  await rig.pool.query(`insert into blacklist ("siteID", ips, "blockType") values (1, $1, 'deny')`, [ips]);
  await rig.pool.query(`insert into whitelist ("siteID", ips, urls) values (1, $1, '{}')`, [ips]);
  await rig.pool.query(
    `insert into "userAgent" ("siteID", "urlRegex", "userAgentRegex", "blockType")
     select 1, '^/none' || i, repeat('x', 900) || i, 'deny' from generate_series(1, 130) i`,
  );
  const tell = (kind: string) =>
    rig.pool.query(
      `with s as (update site set revision = nextval('revision'), "changedAt" = clock_timestamp() where id = 1 returning id, revision)
       insert into outbox (kind, "entityID", "siteID", revision) select $1, id, id, revision from s`,
      [kind],
    );
  for (const kind of purgeKinds.lists) await tell(kind);
  const applied = () =>
    rig.one<boolean>(
      `select bool_and(a.revision = s.revision) from site s left join ack a on a."siteID" = s.id where s.id = 1 and not exists (select from outbox)`,
    );
  await until('the lists are served', applied, 60_000);
  const add = async (n: number) => {
    await rig.pool.query(
      `with g as (select nextval('revision') as n) insert into "purgeTask" ("siteID", type, url, generation) select 1, 1, $1, n from g`,
      [`http://d1.test/purged/${n}`],
    );
    await tell(purgeKinds.purge);
  };
  await add(0);
  await until('the first purge is served', applied);
  const took: number[] = [];
  let bytes = 0;
  for (let i = 1; i <= 20; i++) {
    const head = await rig.one('select max(n) from published');
    await visitor.ask('d1.test');
    await add(i);
    await until('the purge is served', applied);
    bytes = await rig.one('select coalesce(sum(octet_length(body)), 0) from published where n > $1', [head]);
    took.push(await rig.one('select max(ms) from ack where "siteID" = 1'));
  }
  const { p50, p99 } = figures(took);
  console.log(
    `a purge of one URL, the site has ${await rig.one(`select sum(octet_length(body)) from published where "siteID" = 1`)} bytes of documents: ${bytes} bytes are sent; committed → acknowledged p50 ${ms(p50)} ms, p99 ${ms(p99)} ms`,
  );
  if ((await node.gauge('agent_documents_refused')) !== 0) throw new Error('the node refused a document');
}

async function bareRoundTrip(rig: Rig): Promise<(id: number) => Promise<number>> {
  const jsm = await jetstreamManager(rig.nc);
  await jsm.streams.add({ name: 'BARE', subjects: ['bare.>'], storage: 'file', max_msgs_per_subject: 1 });
  const js = jetstream(rig.nc);
  const body = 'x'.repeat(300);
  for (let i = 0; i < domains; i += 500)
    await Promise.all(Array.from({ length: 500 }, (_, n) => js.publish(`bare.${i + n}`, body)));
  const other = await connectServer(rig.engine.url, rig.engine.serverCreds);
  rig.onEnd(() => other.close());
  const consumer = await jetstream(other).consumers.get('BARE', { deliver_policy: 'new' } as never);
  let arrived: (subject: string) => void = () => {};
  await consumer.consume({ callback: message => arrived(message.subject) });
  const one = async (id: number) => {
    const subject = `bare.${id}`;
    const { promise, resolve } = Promise.withResolvers<void>();
    arrived = name => name === subject && resolve();
    const from = performance.now();
    const ack = js.publish(subject, body);
    await promise;
    const took = performance.now() - from;
    await ack;
    return took;
  };
  for (let i = 0; i < 20; i++) await one(i);
  return one;
}

function spawnPlane(rig: Rig) {
  const facts = { databaseUrl: rig.url, natsUrl: rig.engine.url, creds: rig.engine.serverCreds, keys: rig.engine.keys };
  return spawn(process.execPath, [new URL('./_plane.ts', import.meta.url).pathname, JSON.stringify(facts)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function startNode(rig: Rig, zoneID: number, server: string) {
  await rig.pool.query(
    `insert into "joinToken" (hash, "clientID", "zoneID", "expiredAt") values ($1, 1, $2, now() + interval '1 hour')`,
    [joinTokenHash('bench'), zoneID],
  );
  const data = testFolder('node');
  const [httpPort, health] = [await freePort(), await freePort()];
  const main = new URL('../../agent/src/main.ts', import.meta.url).pathname;
  const args = ['--data', data, '--server', server, '--join', 'bench', '--http', String(httpPort), '--health', String(health)];
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const gauge = async (name: string) =>
    Number(
      new RegExp(`^breakwater_${name} (.*)$`, 'm').exec(await (await fetch(`http://127.0.0.1:${health}/metrics`)).text())?.[1],
    );
  await until('nginx is up', async () => (await gauge('agent_nginx_up')) === 1);
  const workers = () => {
    const { pid } = JSON.parse(readFileSync(join(data, 'run', 'nginx.json'), 'utf8'));
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').map(Number);
  };
  return { httpPort, gauge, workers, kill: () => child.kill('SIGTERM') };
}

/** One keep-alive connection, one request after the other, nothing but the status is read. nginx ends a connection after 10,000. */
class Visitor {
  readonly #port: number;
  #socket: net.Socket | undefined;
  #heard = '';
  #next: (status: number) => void = () => {};

  constructor(port: number) {
    this.#port = port;
  }

  async ask(host: string): Promise<number> {
    const socket = this.#socket?.writable ? this.#socket : await this.#connect();
    return new Promise((done, fail) => {
      const lost = () => fail(new Error('nginx closed the connection'));
      socket.once('close', lost);
      this.#next = status => {
        socket.off('close', lost);
        done(status);
      };
      socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    });
  }

  async #connect(): Promise<net.Socket> {
    const socket = net.connect(this.#port, '127.0.0.1').setNoDelay(true).setEncoding('latin1');
    await once(socket, 'connect');
    this.#heard = '';
    socket.on('data', (text: string) => this.#take(text));
    return (this.#socket = socket);
  }

  #take(text: string): void {
    this.#heard += text;
    const end = this.#heard.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#heard.slice(0, end);
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    if (length === undefined ? !this.#heard.endsWith('0\r\n\r\n') : this.#heard.length < end + 4 + Number(length)) return;
    this.#heard = '';
    if (/\r\nconnection: close/i.test(head)) {
      this.#socket?.removeAllListeners('close').end();
      this.#socket = undefined;
    }
    this.#next(Number(head.slice(9, 12)));
  }
}

const same = (a: number[], b: number[]) => a.join() === b.join();
const ms = (value: number) => value.toFixed(2);
function figures(values: number[]) {
  const sorted = values.toSorted((x, y) => x - y);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1)! };
}
