/** The parts of one machine: how each is started, asked for its health, and what environment it gets. */
import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, writeWhole } from '#host/files.ts';
import { startNats } from '#server/bus/nats-launcher.ts';
import { type Disk, diskFrom, leastOf } from '#contract/system/room.ts';
import {
  type Engine,
  type Right,
  StartError,
  freePort,
  poll,
  portIsFree,
  privateFolder,
  spawnEngine,
} from '#server/store/engine-process.ts';
import { answers, startPostgres } from '#server/store/postgres-launcher.ts';
import { busTlsOf } from '#server/bus/tls.ts';
import { busTrouble } from '#server/system/ask-bus.ts';
import { dnsPart } from './dns.ts';
import type { Logs } from './logs.ts';
import type { Environment } from './environment.ts';
import { bytesFile } from './keys.ts';
import { accountOfPart, handOver } from './hand-over.ts';
import { ownFiles } from './own-authority.ts';
import { type PartName, type Settings, projectFolder } from './settings.ts';
import type { Part } from './supervise.ts';

/** What the parts tell each other, by the names of environment.ts; hand-over.ts makes of it what each child is told. */
export type ChildEnv = Environment;

export interface Context {
  settings: Settings;
  logs: Logs;
  env: ChildEnv;
}

/** Ports of embedded engines, chosen once and kept, so that who knows an address finds it again after a restart. */
export async function rememberedPort(dataFolder: string, name: string): Promise<number> {
  const file = join(dataFolder, 'run/ports.json');
  const ports = readJson(file, isPorts) ?? {}; // cut or lost: chosen anew, and handed on to who asks
  const known = ports[name];
  if (known && (await portIsFree(known))) return known;
  const taken = new Set(Object.values(ports));
  do ports[name] = await freePort();
  while (taken.has(ports[name]));
  writeWhole(file, `${JSON.stringify(ports, null, 1)}\n`);
  return ports[name];
}

/** The console's port is chosen by who starts it; who asks later need not know it. */
function rememberPort(dataFolder: string, name: string, port: number): void {
  const file = join(dataFolder, 'run/ports.json');
  const ports = readJson(file, isPorts) ?? {};
  if (ports[name] !== port) writeWhole(file, `${JSON.stringify({ ...ports, [name]: port }, null, 1)}\n`);
}

/** Where the parts of this machine listen: no origin lies there, also where loopback is allowed. */
function ownPorts(settings: Settings): Environment {
  const ports = readJson(join(settings.dataFolder, 'run/ports.json'), isPorts) ?? {};
  const { outer } = settings.addresses;
  const tls = outer ? [outer.port] : [];
  const engines = Object.entries(ports).flatMap(([name, port]) => (name === 'demo-origin' ? [] : [port]));
  return { BREAKWATER_OWN_PORTS: [...engines, settings.edgeHttpPort, settings.edgeHttpsPort, settings.dnsPort, ...tls].join() };
}

export const diskOf = (folder: string): Disk => diskFrom(statfsSync(folder));

/** Refuses to begin on a disk that is nearly full: databases end badly there. */
export function checkDisk(folder: string): void {
  const disk = diskOf(folder);
  if (disk.freeBytes < leastOf(disk))
    throw new StartError(
      `Only ${Math.floor(disk.freeBytes / 1e6)} MB are free on the disk that holds ${folder}: free at least ${Math.ceil(leastOf(disk) / 1e6)} MB, or set BREAKWATER_DATA to a folder on another disk.`,
    );
}

/** What an engine cannot live without: on less than this a restart ends as it began. */
const engineNeedsBytes = 64_000_000;
function fullDisk(folder: string): string | undefined {
  const { freeBytes } = diskOf(folder);
  if (freeBytes >= engineNeedsBytes) return undefined;
  return `the disk that holds ${folder} is full. Free some space.`;
}

/** How each part is made, or undefined where an outside engine or --only leaves it out. Order matters: each reads what earlier ones put into `env`. */
export const makers: Record<PartName, (context: Context) => Promise<Part | undefined>> = {
  async postgres({ settings, logs, env }) {
    if (settings.databaseUrl) {
      env.DATABASE_URL = settings.databaseUrl;
      if (!(await answers(settings.databaseUrl, 5000)))
        throw new StartError('The PostgreSQL of DATABASE_URL does not answer: check its address, user and password.');
      return undefined;
    }
    const port = await rememberedPort(settings.dataFolder, 'postgres');
    return {
      name: 'postgres',
      stopLimitMs: 20_000,
      async start() {
        const engine = await startPostgres({
          dir: join(settings.dataFolder, 'postgres'),
          port,
          onLine: line => logs.line('postgres', line, { quiet: true }),
        });
        env.DATABASE_URL = engine.url;
        return engine;
      },
      healthy: () => answers(env.DATABASE_URL!, 5000),
      hopeless: () => fullDisk(settings.dataFolder),
    };
  },

  async nats({ settings, logs, env }) {
    if (settings.natsUrl) {
      env.NATS_URL = settings.natsUrl;
      const trouble = await busTrouble(settings.natsUrl, env.NATS_CREDS, 5000, busTlsOf(env));
      if (trouble)
        throw new StartError(
          `The NATS of NATS_URL (${settings.natsUrl
            .split(',')
            .map(one => new URL(one).host)
            .join(', ')}) does not answer: ${trouble}.`,
        );
      return undefined;
    }
    const { bus, busFiles } = settings.addresses;
    const port = bus?.port ?? (await rememberedPort(settings.dataFolder, 'nats'));
    if (bus?.port) rememberPort(settings.dataFolder, 'nats', port);
    return {
      name: 'nats',
      async start() {
        const engine = await startNats({
          dir: join(settings.dataFolder, 'nats'),
          port,
          host: bus?.host,
          tls: busFiles ?? (bus && ownFiles(settings.dataFolder)),
          onLine: line => logs.line('nats', line, { quiet: true }),
        });
        env.NATS_URL = engine.url;
        env.NATS_CREDS = engine.serverCredsFile;
        env.NATS_SYSTEM_CREDS = engine.systemCredsFile;
        env.NATS_KEYS = engine.keysFile;
        return engine;
      },
      // An open port says nothing: a bus that hangs, or that turned JetStream off on a full disk, still accepts connections.
      healthy: async () => (await busTrouble(env.NATS_URL!, env.NATS_CREDS, 2500, busTlsOf(env))) === undefined,
      healthEveryMs: 2000,
      patience: 4,
      hopeless: () => fullDisk(settings.dataFolder),
    };
  },

  async store({ settings, logs, env }) {
    if (settings.clickhouseUrl) {
      env.CLICKHOUSE_URL = settings.clickhouseUrl;
      if (!(await pings(`${new URL(settings.clickhouseUrl).origin}/ping`)))
        throw new StartError('The ClickHouse of CLICKHOUSE_URL does not answer: check its address.');
      return undefined;
    }
    const port = await rememberedPort(settings.dataFolder, 'store');
    const password = bytesFile(join(settings.dataFolder, 'store.password'), 24).toString('base64url');
    const ping = `http://127.0.0.1:${port}/ping`;
    // what a person set for a ClickHouse of his own is not meant for this one
    for (const name of ['CLICKHOUSE_USER', 'CLICKHOUSE_PASSWORD', 'CLICKHOUSE_DATABASE', 'CLICKHOUSE_CLUSTER']) delete env[name];
    env.CLICKHOUSE_URL = `http://default:${password}@127.0.0.1:${port}/breakwater`;
    return {
      name: 'store',
      stopLimitMs: 30_000,
      async start() {
        await privateFolder(join(settings.dataFolder, 'store'), 'store');
        return startProgram({
          name: 'store',
          file: 'server/src/store/analytics/store.ts',
          args: ['--data', join(settings.dataFolder, 'store'), '--port', String(port)],
          as: 'store',
          given: { CLICKHOUSE_PASSWORD: password },
          settings,
          logs,
          quiet: true,
          ready: () => pings(ping),
        });
      },
      healthy: () => pings(ping),
      hopeless: () => fullDisk(settings.dataFolder),
    };
  },

  dns: async context => dnsPart(context),

  async ingest({ settings, logs, env }) {
    // a process of its own: sorting log lines must never hold up the console
    const port = await rememberedPort(settings.dataFolder, 'ingest');
    const origin = `http://127.0.0.1:${port}`;
    env.BREAKWATER_PEERS = `ingest=${origin}`;
    return {
      name: 'ingest',
      stopLimitMs: 20_000,
      start: () =>
        startProgram({
          name: 'ingest',
          file: 'server/src/main.ts',
          args: ['--services=ingest'],
          // It has 54 MB that stay and makes little beside them. V8 then leaves less room above these than one young generation, and takes
          // that for being full: it went through all of them every three seconds, four fifths of what an idle ingest cost.
          nodeArgs: ['--heap-growing-percent=100'],
          as: 'ingest',
          given: { ...env, BREAKWATER_PORT: String(port) },
          settings,
          logs,
          // it listens when it has all it needs; whether all is well, its checks say
          ready: () => pings(`${origin}/healthz`),
        }),
      healthy: () => pings(`${origin}/healthz`),
    };
  },

  async server({ settings, logs, env }) {
    const origin = `http://127.0.0.1:${settings.consolePort}`;
    rememberPort(settings.dataFolder, 'server', settings.consolePort);
    return {
      name: 'server',
      stopLimitMs: 20_000,
      async start() {
        // what it makes of data of where addresses are
        await privateFolder(join(settings.dataFolder, 'geo'), 'server');
        return startProgram({
          name: 'server',
          file: 'server/src/main.ts',
          args: ['--services=api,work,bus'],
          as: 'server',
          given: { ...env, ...ownPorts(settings), ...(settings.demo && { BREAKWATER_DEMO: 'true' }) },
          settings,
          logs,
          // it listens when it has all it needs; whether all is well, its checks say
          ready: () => pings(`${origin}/healthz`),
        });
      },
      healthy: () => pings(`${origin}/healthz`),
    };
  },

  async agent({ settings, logs, env }) {
    const port = await rememberedPort(settings.dataFolder, 'agent');
    const origin = `http://127.0.0.1:${port}`;
    return {
      name: 'agent',
      stopLimitMs: 20_000,
      async start() {
        await privateFolder(join(settings.dataFolder, 'node'), 'node');
        return startProgram({
          name: 'agent',
          file: 'agent/src/main.ts',
          args: ['--data', join(settings.dataFolder, 'node')],
          as: 'agent',
          keeps: ['net_bind_service', 'net_admin'],
          given: { ...env, BREAKWATER_AGENT_PORT: String(port) },
          settings,
          logs,
          ready: () => pings(`${origin}/readyz`),
        });
      },
      healthy: () => pings(`${origin}/healthz`),
    };
  },
};

interface Program {
  name: string;
  file: string;
  args: string[];
  /** for Node itself, before the file */
  nodeArgs?: readonly string[];
  as: 'store' | 'ingest' | 'server' | 'agent';
  keeps?: readonly Right[];
  /** All there is to know; it is told what is for it. */
  given: ChildEnv;
  settings: Settings;
  logs: Logs;
  /** Its lines go to the log file alone. */
  quiet?: boolean;
  ready: () => Promise<boolean>;
}

/** Starts one of our own programs under this Node and waits until it says it can be used, at most two minutes. */
async function startProgram({
  name,
  file,
  args,
  nodeArgs = [],
  as,
  keeps,
  given,
  settings,
  logs,
  quiet,
  ready,
}: Program): Promise<Engine> {
  const env = handOver(as, given, settings.dataFolder);
  const engine = await spawnEngine({
    command: process.execPath,
    args: [...nodeArgs, join(projectFolder, file), ...args],
    cwd: projectFolder,
    env,
    as: accountOfPart[as],
    keeps,
    reaches: [join(projectFolder, file), join(settings.dataFolder, 'run')],
    onLine: line => logs.line(name, line, { quiet }),
  });
  let gone = false;
  void engine.exited.then(() => (gone = true));
  const up = await poll(async () => gone || (await ready()), 120_000, 100);
  if (up && !gone) return engine;
  await engine.stop(2000);
  const said = engine.lastLines().filter(line => line.trim() && !/^\s+at |^Node\.js v|^node:/.test(line));
  throw new StartError(
    `${name} did not ${gone ? 'start' : 'become ready within 120 s'}: ${said.at(-1)?.trim() ?? 'it said nothing'}`,
  );
}

/** Whether a URL answers with 2xx within 3 s. */
export async function pings(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(3000), redirect: 'manual' });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

export const isPorts = (value: unknown): value is Record<string, number> =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every(port => Number.isInteger(port) && port > 0 && port < 65_536);
