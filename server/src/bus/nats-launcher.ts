/**
 * NATS with JetStream from the Debian package nats-server (2.9.10): its process, its configuration, its keys.
 *
 * Folder: `keys.json` (0600: the seeds), `server.creds` and `system.creds` (0600), `nats.conf`, `jwt/` (account statements), `jetstream/`.
 */
import { mkdir, readFile, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { sizes } from '#contract/system/room.ts';
import { writeWhole } from '#host/files.ts';
import { type BusKeys, type FormerBusKeys, adoptKeys, createBusKeys, mintServer, mintSystem } from './credentials.ts';
import { natsConfig } from './nats-config.ts';
import { isLoopback } from './tls.ts';
import { accountOf } from '../store/accounts.ts';
import {
  type Engine,
  StartError,
  accepts,
  findProgram,
  freePort,
  poll,
  portIsFree,
  privateFolder,
  spawnEngine,
} from '../store/engine-process.ts';

export interface NatsOptions {
  dir: string;
  /** TCP port; default a free one. */
  port?: number;
  /** Address to listen on; default loopback. */
  host?: string;
  /** PEM files; a must beyond loopback */
  tls?: { cert: string; key: string } | undefined;
  onLine?: (line: string) => void;
  ref?: boolean;
}

export interface NatsEngine extends Engine {
  readonly url: string;
  readonly port: number;
  readonly keys: BusKeys;
  /** Paths of 0600 files, and their text: secrets, never log them. */
  readonly keysFile: string;
  readonly serverCredsFile: string;
  readonly systemCredsFile: string;
  readonly serverCreds: string;
  readonly sysCreds: string;
}

/** Starts NATS on a folder, making its keys at the first start. Errors: StartError. */
export async function startNats(options: NatsOptions): Promise<NatsEngine> {
  const { dir, host = '127.0.0.1', tls } = options;
  if (!isLoopback(host) && !tls)
    throw new StartError(`The bus may listen on ${host} with TLS alone: give it a certificate, or let it listen on loopback.`);
  const command = await findProgram('nats-server');
  if (!command) throw new StartError('The program nats-server is missing: run `apt-get install nats-server` as root.');
  await mkdir(dir, { recursive: true, mode: 0o711 });
  const secrets = await busSecrets(dir);
  const port = options.port ?? (await freePort());
  if (!(await portIsFree(port, host))) throw new StartError(`Port ${port} of NATS is taken by another program.`);
  const work = join(dir, 'work');
  await privateFolder(work, 'nats');
  const config = join(dir, 'nats.conf');
  const pair = tls && (await readable(tls, dir));
  const { bavail, blocks, bsize } = await statfs(work);
  // stated, because NATS would take three quarters of what is free now: after a start on a full disk it would refuse its own streams
  const storeBytes = sizes.busStoreBytes({ freeBytes: bavail * bsize, totalBytes: blocks * bsize });
  const text = natsConfig({
    about: 'Written at each start; changes made here are lost.',
    name: 'breakwater',
    host,
    port,
    work,
    keys: secrets.keys,
    tls: pair,
    storeBytes,
  });
  writeWhole(config, text, { owner: accountOf('nats') });
  const engine = await spawnEngine({
    command,
    args: ['-c', config],
    cwd: work,
    env: { PATH: '/usr/bin:/bin', TZ: 'UTC' },
    as: 'nats',
    reaches: [config, work, ...(pair ? [pair.cert, pair.key] : [])],
    onLine: options.onLine,
    ref: options.ref,
  });
  let gone = false;
  void engine.exited.then(() => (gone = true));
  const ready = await poll(
    async () => gone || (engine.lastLines().some(l => l.includes('Server is ready')) && (await accepts(port, host))),
    60_000,
  );
  if (gone || !ready) {
    await engine.stop(2000);
    throw new StartError(explain(engine.lastLines(), dir));
  }
  return {
    ...engine,
    ...secrets,
    port,
    url: `${tls ? 'tls' : 'nats'}://${reachable(host)}:${port}`,
  };
}

/** Reads the secrets of the bus in a folder, or makes them at the first start. */
export async function busSecrets(dir: string) {
  const keysFile = join(dir, 'keys.json');
  const serverCredsFile = join(dir, 'server.creds');
  const systemCredsFile = join(dir, 'system.creds');
  const stored = await readFile(keysFile, 'utf8').catch(() => undefined);
  const found = stored === undefined ? undefined : (JSON.parse(stored) as BusKeys | FormerBusKeys);
  const keys = found === undefined ? createBusKeys() : isCurrent(found) ? found : adoptKeys(found);
  if (keys !== found) {
    // Credentials first: if we are interrupted here, they are made once more.
    await rm(serverCredsFile, { force: true });
    await rm(systemCredsFile, { force: true });
    writeWhole(keysFile, `${JSON.stringify(keys, null, 1)}\n`);
  }
  const serverCreds = await readOrWrite(serverCredsFile, () => mintServer(keys).creds);
  const sysCreds = await readOrWrite(systemCredsFile, () => mintSystem(keys).creds);
  return { keys, keysFile, serverCredsFile, systemCredsFile, serverCreds, sysCreds };
}

const isCurrent = (keys: BusKeys | FormerBusKeys): keys is BusKeys => 'master' in keys;

async function readOrWrite(path: string, make: () => string): Promise<string> {
  const stored = await readFile(path, 'utf8').catch(() => undefined);
  if (stored !== undefined) return stored;
  const made = make();
  writeWhole(path, made);
  return made;
}

/** The address others on this machine use for one that listens everywhere. */
export const reachable = (host: string): string =>
  host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;

/** NATS runs as somebody else: it gets copies it can read. */
async function readable(tls: { cert: string; key: string }, dir: string): Promise<{ cert: string; key: string }> {
  const folder = join(dir, 'tls');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  const copy = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  for (const name of ['cert', 'key'] as const) {
    const text = await readFile(tls[name]).catch(error => {
      throw new StartError(
        `The ${name === 'cert' ? 'certificate' : 'key'} of the bus cannot be read: ${(error as Error).message}.`,
      );
    });
    writeWhole(copy[name], text, { durable: false });
  }
  await privateFolder(folder, 'nats');
  return copy;
}

/** One sentence out of what NATS said before it ended. */
function explain(lines: string[], dir: string): string {
  const text = lines.join('\n');
  if (/no space left on device/i.test(text)) return `The disk that holds ${dir} is full: free some space and start again.`;
  if (/address already in use/i.test(text)) return 'The port of NATS is taken by another program.';
  const said = lines.filter(line => /\[(FTL|ERR)\]|nats-server:/.test(line)).at(-1) ?? lines.at(-1) ?? 'it said nothing';
  return `NATS did not start: ${said.trim()}`;
}
