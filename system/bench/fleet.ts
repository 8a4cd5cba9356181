/**
 * A fleet below one control plane: `npm run bench -- fleet`
 *
 * 1. 500 light nodes with credentials of their own (_fleet-nodes.ts) in one zone. A change is committed, published, and acknowledged by each;
 *    in turn a message of the same size is published on the same bus to the same subscriptions of the same connections. None may be lost.
 * 2. What one of them costs while nothing changes, and what a change costs: processor time and memory of each process.
 * 3. A node that joins a zone of 100,000 domains: until its nginx has all of them, with the processor time and bytes that takes.
 *
 * BENCH_NODES, BENCH_CHANGES, BENCH_DOMAINS, BENCH_IDLE (seconds) make it smaller.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { joinTokenHash } from '#server/bus/join-token.ts';
import { freePort } from '#server/store/engine-process.ts';
import { testFolder } from '#system/engines.ts';
import { Rig, until } from '../../server/test/bus/rig.ts';
import { cpuSeconds, row } from './_cpu.ts';

const nodesCount = Number(process.env.BENCH_NODES ?? 500);
const changes = Number(process.env.BENCH_CHANGES ?? 100);
const domainsCount = Number(process.env.BENCH_DOMAINS ?? 100_000);
const idleSeconds = Number(process.env.BENCH_IDLE ?? 20);
const processes = 2;
const warmUp = 10;
const ratioMost = 3;
/** Of a domain that is switched off or on */
const documentBytes = 300;
const now = () => Number(process.hrtime.bigint()) / 1e6;
const memoryMb = (pid: number) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024;
const parentOf = (pid: number) =>
  Number(
    readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')[1],
  );
const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').filter(Boolean).map(Number);

export async function run(): Promise<void> {
  const rig = await Rig.start(undefined);
  const children: ChildProcess[] = [];
  try {
    const plane = spawnPlane(rig);
    children.push(plane);
    const server = `http://127.0.0.1:${JSON.parse(String((await once(plane.stdout!, 'data'))[0])).port}`;
    const parts = await partsOf(rig, plane);
    await fleet(rig, server, parts, children);
    await fresh(rig, server, parts, children);
  } finally {
    for (const child of children) child.kill();
    await new Promise(next => setTimeout(next, 300));
    await rig.end();
  }
}

/** Processes by what they are; PostgreSQL's come and go, its first one knows what those have spent that have ended. */
type Parts = Record<string, () => number[]>;
async function partsOf(rig: Rig, plane: ChildProcess): Promise<Parts> {
  const postmaster = parentOf(await rig.one('select pg_backend_pid()'));
  return {
    'control plane': () => [plane.pid!],
    NATS: () => [rig.engine.pid!],
    PostgreSQL: () => [postmaster, ...childrenOf(postmaster)],
  };
}
const spent = (parts: Parts) =>
  Object.fromEntries(
    Object.entries(parts).map(([name, pids]) => [name, pids().reduce((sum, pid) => sum + cpuSeconds(pid, true), 0)]),
  );

interface Told {
  cursors: number[];
  bytes: number;
  sent: number;
  documents: number;
  checkMs: number;
}

class Nodes {
  readonly children: ChildProcess[];
  readonly #waiting = new Map<string, { times: number[]; left: number; done(times: number[]): void }>();
  readonly #early = new Map<string, number[][]>();

  constructor(children: ChildProcess[]) {
    this.children = children;
    for (const child of children)
      child.on('message', (said: { reached?: string; times: number[] }) => {
        if (said.reached === undefined) return;
        const waits = this.#waiting.get(said.reached);
        if (!waits) return void this.#early.set(said.reached, [...(this.#early.get(said.reached) ?? []), said.times]);
        this.#take(said.reached, said.times);
      });
  }
  #take(what: string, times: number[]): void {
    const waits = this.#waiting.get(what)!;
    waits.times.push(...times);
    if (--waits.left > 0) return;
    this.#waiting.delete(what);
    waits.done(waits.times);
  }
  /** When each node came to it. */
  reached(what: string): Promise<number[]> {
    return new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`not everywhere within 30 s: ${what}`)), 30_000);
      const all = (times: number[]) => (clearTimeout(timer), done(times));
      this.#waiting.set(what, { times: [], left: this.children.length, done: all });
      for (const times of this.#early.get(what) ?? []) this.#take(what, times);
      this.#early.delete(what);
    });
  }
  async ask(): Promise<Told[]> {
    return Promise.all(
      this.children.map(async child => {
        const { promise, resolve } = Promise.withResolvers<Told>();
        const hear = (said: Partial<Told>) => said.cursors && (child.off('message', hear), resolve(said as Told));
        child.on('message', hear);
        child.send({});
        return promise;
      }),
    );
  }
}

async function fleet(rig: Rig, server: string, parts: Parts, children: ChildProcess[]): Promise<void> {
  const { zoneID, productID } = await rig.zone('fleet');
  const siteID = await rig.site(productID, 'fleet');
  const domains: number[] = [];
  for (let i = 0; i < 20; i++) domains.push(await rig.domain(siteID, `f${i}.test`));
  await until('all is published', async () => (await rig.outbox()) === 0, 60_000);

  const before = Object.fromEntries(
    Object.entries(parts).map(([name, pids]) => [name, pids().reduce((a, pid) => a + memoryMb(pid), 0)]),
  );
  const joining = spent(parts);
  let from = now();
  const nodes = new Nodes(await startNodes(rig, server, zoneID));
  children.push(...nodes.children);
  const joined = now() - from;
  const serves = (rest: string) =>
    rig.one(`select count(*)::int from node n join "zoneHead" h on h."zoneID" = n."zoneID"
      where n."zoneID" = ${zoneID} and n.status = 'normal' and n."appliedSeq" = h.n ${rest}`);
  await until('all serve', async () => (await serves('')) === nodesCount, 120_000);
  const after = spent(parts);
  console.log(
    `${nodesCount} nodes joined, one by one, ${processes * 8} at a time, in ${(joined / 1000).toFixed(1)} s; all serve after ${((now() - from) / 1000).toFixed(1)} s`,
  );
  row('of each that joins', ...Object.keys(parts), 'ms CPU');
  row('', ...Object.keys(parts).map(name => (((after[name]! - joining[name]!) / nodesCount) * 1000).toFixed(2)));
  row(
    'MB of memory more, of all',
    ...Object.entries(parts).map(([name, pids]) => (pids().reduce((a, pid) => a + memoryMb(pid), 0) - before[name]!).toFixed(1)),
  );

  // In turns, so that whatever else the machine does meets both.
  const [bare, acknowledged, recorded, committedMs]: number[][] = [[], [], [], []];
  let n = await rig.one('select n from "zoneHead" where "zoneID" = $1', [zoneID]);
  const body = 'x'.repeat(documentBytes);
  const idle = spent(parts);
  await new Promise(next => setTimeout(next, idleSeconds * 1000));
  const idled = spent(parts);
  const changing = spent(parts);
  from = now();
  for (let i = 0; i < warmUp + changes; i++) {
    const heard = nodes.reached(`b${i}`);
    const sentAt = now();
    rig.nc.publish(`live.${zoneID}.bare.b${i}`, body);
    const plain = (await heard).map(at => at - sentAt);
    const served = nodes.reached(`n ${++n}`);
    const beganAt = now();
    await rig.change(
      [`domain ${domains[i % domains.length]}`],
      ['update domain set status = 1 - status where id = $1', [domains[i % domains.length]]],
    );
    const committedAt = now();
    const each = (await served).map(at => at - committedAt);
    await until('the database has it of all', async () => (await serves('')) === nodesCount);
    const noted = now() - committedAt;
    if (i < warmUp) continue;
    bare!.push(...plain);
    acknowledged!.push(...each);
    recorded!.push(noted);
    committedMs!.push(committedAt - beganAt);
  }
  const elapsed = (now() - from) / 1000;
  const changed = spent(parts);
  const [a, b] = [figures(bare!), figures(acknowledged!)];
  row('', 'p50 ms', 'p99 ms', 'max ms');
  row('bare publish → each subscriber', ...texts(a));
  row('committed → acknowledged by each', ...texts(b));
  row('ratio', (b.p50 / a.p50).toFixed(1), (b.p99 / a.p99).toFixed(1));
  row('committed → all of them in the database', ...texts(figures(recorded!)));
  row('the transaction itself', ...texts(figures(committedMs!)));

  const perSecond = (x: Record<string, number>, y: Record<string, number>, by: number) =>
    Object.keys(parts).map(name => (((y[name]! - x[name]!) / by) * 1000).toFixed(3));
  row('ms CPU', ...Object.keys(parts));
  const quiet = perSecond(idle, idled, idleSeconds * nodesCount);
  row('a node that only beats, each second', ...quiet);
  const busy = Object.keys(parts).map((name, i) => {
    const whole = (changed[name]! - changing[name]!) * 1000 - Number(quiet[i]) * nodesCount * elapsed;
    return (whole / (changes + warmUp) / nodesCount).toFixed(3);
  });
  row('a change and a bare message, each node', ...busy);
  const told = await nodes.ask();
  row('a signature checked, ms', Math.max(...told.map(({ checkMs }) => checkMs)).toFixed(3));
  row(
    'bytes a node was sent, and sent itself',
    ...[told.reduce((sum, { bytes }) => sum + bytes, 0), told.reduce((sum, { sent }) => sum + sent, 0)].map(sum =>
      (sum / nodesCount).toFixed(0),
    ),
  );

  await until('none is behind', async () => (await nodes.ask()).every(({ cursors }) => cursors.every(at => at === n)));
  const lost = nodesCount - (await serves(`and now() - n."lastBeat" < interval '8 s'`));
  console.log(`${changes + warmUp} changes to ${nodesCount} nodes: ${lost} lost`);
  for (const child of nodes.children) child.kill();
  if (lost) throw new Error('nodes were lost');
  if (b.p99 / a.p99 > ratioMost)
    console.log(`p99 is ${(b.p99 / a.p99).toFixed(1)} times the bare publish: more than the ${ratioMost} that are aimed at`);
}

/** Its nodes have joined. @throws when it ends before */
const isUp = (child: ChildProcess) =>
  Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error('a process of nodes has ended');
    }),
  ]);

async function startNodes(rig: Rig, server: string, zoneID: number): Promise<ChildProcess[]> {
  const folder = testFolder('fleet');
  const children: ChildProcess[] = [];
  for (let i = 0; i < processes; i++) {
    const tokens = Array.from({ length: nodesCount / processes }, (_, n) => `bench-${i}-${n}`);
    for (const token of tokens)
      await rig.pool.query(
        `insert into "joinToken" (hash, "clientID", "zoneID", "expiredAt") values ($1, 1, $2, now() + interval '1 hour')`,
        [joinTokenHash(token), zoneID],
      );
    const facts = { server, tokens, folder, name: `light${i}` };
    children.push(fork(new URL('./_fleet-nodes.ts', import.meta.url), [JSON.stringify(facts)]));
  }
  await Promise.all(children.map(isUp));
  return children;
}

async function fresh(rig: Rig, server: string, parts: Parts, children: ChildProcess[]): Promise<void> {
  const { zoneID, productID } = await rig.zone('large');
  const sites = Math.ceil(domainsCount / 10);
  await rig.pool.query(
    `with s as (insert into site ("clientID", "userID", "productID", "siteName", revision, "changedAt")
       select 1, 2, $1, 's' || i, nextval('revision'), now() from generate_series(1, $2::int) i returning id, revision),
     d as (insert into domain ("siteID", "domainName") select id, 'd' || id || '-' || i || '.test' from s, generate_series(1, 10) i returning id, "siteID"),
     u as (insert into upstream ("domainID", address, port) select id, '192.0.2.1', 80 from d)
     insert into outbox (kind, "entityID", "siteID", revision) select 'site', id, id, revision from s
       union all select 'domain', d.id, d."siteID", s.revision from d join s on s.id = d."siteID"`,
    [productID, sites],
  );
  await rig.pool.query('analyze');
  let [from, cpu] = [now(), spent(parts)];
  await until('all is published', async () => (await rig.outbox()) === 0, 600_000);
  const published = now() - from;
  const [bytes, documents] = (
    await rig.pool.query(
      `select sum(octet_length(body))::float8 as bytes, count(*)::int as documents from published where "zoneID" = $1`,
      [zoneID],
    )
  ).rows.map(one => [one.bytes, one.documents] as const)[0]!;
  console.log(
    `${domainsCount} domains of ${sites} sites: ${documents} documents, ${(bytes / 1e6).toFixed(1)} MB, published in ${(published / 1000).toFixed(1)} s`,
  );
  const each = (before: Record<string, number>, by: number) =>
    Object.entries(spent(parts)).map(([name, seconds]) => (((seconds - before[name]!) / by) * 1000).toFixed(3));
  row('ms CPU of a document that is published', ...each(cpu, documents));

  await rig.pool.query(
    `insert into "joinToken" (hash, "clientID", "zoneID", "expiredAt") values ($1, 1, $2, now() + interval '1 hour')`,
    [joinTokenHash('fresh'), zoneID],
  );
  cpu = spent(parts);
  from = now();
  const node = await startNode(server);
  children.push(node.child);
  await until('it has joined', () => node.hasJoined(), 120_000);
  const joinedAt = now();
  await until('the node holds all', async () => (await node.gauge('agent_records')) >= domainsCount + sites, 300_000);
  await until('it has said so', async () => (await node.gauge('agent_in_step')) === 1);
  const [took, sinceJoined] = [now() - from, now() - joinedAt];
  const nginx = node.nginx();
  const agent = node.child.pid!;
  console.log(
    `a fresh node has them ${(sinceJoined / 1000).toFixed(1)} s after it has joined, ${(took / 1000).toFixed(1)} s after it was started`,
  );
  row('seconds CPU', 'agent', 'nginx', ...Object.keys(parts));
  const seconds = [cpuSeconds(agent), nginx.reduce((sum, pid) => sum + cpuSeconds(pid), 0)];
  row(
    '',
    ...seconds.map(one => one.toFixed(2)),
    ...Object.entries(spent(parts)).map(([name, one]) => (one - cpu[name]!).toFixed(2)),
  );
  row('MB of memory', memoryMb(agent).toFixed(0), ...nginx.map(pid => memoryMb(pid).toFixed(0)));
  node.child.kill();

  // What goes over the line: a light node is told the same.
  await rig.pool.query(
    `insert into "joinToken" (hash, "clientID", "zoneID", "expiredAt") values ($1, 1, $2, now() + interval '1 hour')`,
    [joinTokenHash('light'), zoneID],
  );
  const facts = { server, tokens: ['light'], folder: testFolder('light'), name: 'light' };
  const child = fork(new URL('./_fleet-nodes.ts', import.meta.url), [JSON.stringify(facts)]);
  children.push(child);
  await isUp(child);
  const light = new Nodes([child]);
  const head = await rig.one('select n from "zoneHead" where "zoneID" = $1', [zoneID]);
  await until('the light one has all', async () => (await light.ask())[0]!.cursors[0] === head, 300_000);
  const { bytes: over } = (await light.ask())[0] as { bytes: number };
  console.log(`over the line: ${(over / 1e6).toFixed(1)} MB, ${(over / documents).toFixed(0)} bytes a document`);
}

async function startNode(server: string) {
  const data = testFolder('node');
  const [httpPort, health] = [await freePort(), await freePort()];
  const main = new URL('../../agent/src/main.ts', import.meta.url).pathname;
  const args = ['--data', data, '--server', server, '--join', 'fresh', '--http', String(httpPort), '--health', String(health)];
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const gauge = async (name: string) =>
    Number(
      new RegExp(`^breakwater_${name} (.*)$`, 'm').exec(await (await fetch(`http://127.0.0.1:${health}/metrics`)).text())?.[1],
    );
  const nginx = () => {
    const { pid } = JSON.parse(readFileSync(`${data}/run/nginx.json`, 'utf8')) as { pid: number };
    return [pid, ...childrenOf(pid)];
  };
  const hasJoined = () => JSON.parse(readFileSync(`${data}/identity.json`, 'utf8')).grant !== null;
  return { child, gauge, nginx, hasJoined };
}

function spawnPlane(rig: Rig): ChildProcess {
  const facts = { databaseUrl: rig.url, natsUrl: rig.engine.url, creds: rig.engine.serverCreds, keys: rig.engine.keys };
  return spawn(process.execPath, [new URL('./_plane.ts', import.meta.url).pathname, JSON.stringify(facts)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function figures(values: number[]) {
  const sorted = values.toSorted((x, y) => x - y);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1)! };
}
const texts = ({ p50, p99, max }: { p50: number; p99: number; max: number }) => [p50, p99, max].map(one => one.toFixed(2));
