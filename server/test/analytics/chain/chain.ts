/** The chain of processes from log files to the store, each of which can be killed and started again at any moment. */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Engine, accepts, freePort, poll, signalGroup, spawnEngine } from '#server/store/engine-process.ts';
import { type Analytics, analytics } from '#server/store/analytics/client.ts';
import { migratedDatabase, testFolder } from '#system/engines.ts';
import { seedMembers } from '../members.ts';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const program = (name: string) => fileURLToPath(new URL(`../../../src/${name}`, import.meta.url));

export interface Part {
  name: string;
  start(): Promise<void>;
  kill(): Promise<void>;
  running: boolean;
  /** kill -9 that were survived */
  kills: number;
}

export interface Chain {
  parts: Part[];
  db: Analytics;
  truthDir: string;
  natsUrl: string;
  busDir: string;
  logDirs: Map<number, string>;
  part(name: string): Part;
  stopWriters(): Promise<void>;
  end(): Promise<void>;
  lastWords(): string;
}

export async function startChain(options: { nodes: number; linesPerSecond: number; rotateBytes: number }): Promise<Chain> {
  const root = testFolder('chain');
  const dir = (name: string) => {
    const made = path.join(root, name);
    fs.mkdirSync(made, { recursive: true });
    return made;
  };
  const databaseUrl = await migratedDatabase();
  // what the writers name
  const sites = [1, 2, 3].map(id => ({ id, domains: [0, 1].map(n => ({ id: id * 10 + n, host: `h${id}.example` })) }));
  await seedMembers(databaseUrl, { nodes: Array.from({ length: options.nodes }, (_, i) => i + 1), sites });
  const busDir = dir('bus');
  const truthDir = dir('truth');
  const natsPort = await freePort();
  const storePort = await freePort();
  const natsUrl = `nats://127.0.0.1:${natsPort}`;
  const storeUrl = `http://127.0.0.1:${storePort}`;
  const db = analytics({ url: storeUrl, database: 'chain' });
  const said: string[] = [];

  function part(
    name: string,
    command: string,
    args: string[],
    ready?: () => Promise<boolean>,
    env: NodeJS.ProcessEnv = {},
  ): Part {
    let engine: Engine | undefined;
    const self: Part = {
      name,
      running: false,
      kills: 0,
      async start() {
        engine = await spawnEngine({
          command,
          args,
          ref: false,
          deathSignal: 'SIGKILL',
          env: { ...process.env, ...env },
          onLine: line => {
            said.push(`${name}: ${line}`);
            if (said.length > 400) said.shift();
            if (process.env.CHAIN_LOG) console.error(`${name}: ${line}`);
          },
        });
        self.running = true;
        if (ready && !(await poll(ready, 120_000, 50)))
          throw new Error(`${name} did not start: ${engine.lastLines().slice(-5).join(' | ')}`);
      },
      async kill() {
        signalGroup(engine!.pid, 'SIGKILL');
        await engine!.exited;
        self.running = false;
        self.kills++;
      },
    };
    return self;
  }

  const logDirs = new Map(Array.from({ length: options.nodes }, (_, i) => [i + 1, dir(`log${i + 1}`)]));
  const parts = [
    part(
      'store',
      process.execPath,
      [program('store/analytics/store.ts'), '--data', path.join(root, 'store'), '--port', String(storePort)],
      () => db.ping(),
    ),
    part('bus', 'nats-server', ['-js', '-sd', busDir, '-p', String(natsPort), '-a', '127.0.0.1'], () => accepts(natsPort)),
    part('ingest', process.execPath, [program('ingest/main.ts')], undefined, {
      NATS_URL: natsUrl,
      NATS_CREDS: '',
      DATABASE_URL: databaseUrl,
      CLICKHOUSE_URL: storeUrl,
      CLICKHOUSE_DATABASE: 'chain',
      INGEST_FLUSH_MS: process.env.INGEST_FLUSH_MS ?? '300',
    }),
    ...[...logDirs].flatMap(([node, logDir]) => [
      part(`ship${node}`, process.execPath, [here('shipper.ts'), natsUrl, String(node), logDir, String(options.rotateBytes)]),
      part(`write${node}`, process.execPath, [here('writer.ts'), logDir, truthDir, String(node), String(options.linesPerSecond)]),
    ]),
  ];
  // The link must stand before the first line is written, as on a node, where the agent renders nginx's configuration.
  for (const one of parts.filter(p => !p.name.startsWith('write'))) await one.start();
  await poll(
    () => [...logDirs.values()].every(logDir => fs.lstatSync(path.join(logDir, 'access.log'), { throwIfNoEntry: false })),
    10_000,
  );
  for (const one of parts.filter(p => p.name.startsWith('write'))) await one.start();

  return {
    parts,
    db,
    truthDir,
    natsUrl,
    busDir,
    logDirs,
    part: name => parts.find(p => p.name === name)!,
    async stopWriters() {
      for (const one of parts) if (one.name.startsWith('write') && one.running) await one.kill();
    },
    async end() {
      for (const one of parts) if (one.running) await one.kill();
      db.close();
    },
    lastWords: () => said.slice(-25).join('\n'),
  };
}

export interface Truth {
  lines: number;
  bytes: number;
  torn: number;
  /** lines per `site/status` */
  bySite: Map<string, { lines: number; bytes: number }>;
  /** lines and bytes per `epoch minute/domain` */
  byMinute: Map<string, { lines: number; bytes: number }>;
}

/** What the writers really wrote, read from their files without any of the code under test. */
export function readTruth(truthDir: string): Truth {
  const truth: Truth = { lines: 0, bytes: 0, torn: 0, bySite: new Map(), byMinute: new Map() };
  const count = (map: Truth['bySite'], key: string, bytes: number) => {
    const found = map.get(key);
    if (found) {
      found.lines++;
      found.bytes += bytes;
    } else map.set(key, { lines: 1, bytes });
  };
  for (const name of fs.readdirSync(truthDir)) {
    const pieces = fs.readFileSync(path.join(truthDir, name), 'latin1').split('\x1e').slice(1);
    for (const piece of pieces) {
      if (!piece.endsWith('\n')) {
        truth.torn++;
        continue;
      }
      const [msec, site, domain, , , , , status, bytes] = piece.slice(0, -1).split('\t') as string[];
      truth.lines++;
      truth.bytes += Number(bytes);
      count(truth.bySite, `${site === '-' ? 0 : site}/${status}`, Number(bytes));
      count(truth.byMinute, `${Math.floor(Number(msec) / 60) * 60}/${domain === '-' ? 0 : domain}`, Number(bytes));
    }
  }
  return truth;
}
