/**
 * The embedded name server: Knot DNS with its module geoip (Debian's packages `knot` and `knot-module-geoip`). It runs as a user of its own.
 *
 * `DIR/knot.conf` is the launcher's and holds the key of updates; `DIR/lines/` is the server's, which writes there which zones there are and
 * what lines answer (knot.ts) and has it read by the control socket; `DIR/db/` is Knot's own: names come by updates and live in its journal.
 */
import { chmodSync, chownSync, existsSync, lchownSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '#host/files.ts';
import { accountOf } from '../store/accounts.ts';
import { type Engine, findProgram, freePort, poll, privateFolder, spawnEngine, StartError } from '../store/engine-process.ts';
import { ask } from './ask.ts';
import { geoKeys } from './knot-files.ts';
import { read } from './knot-said.ts';
import {
  type Begun,
  begunWhole,
  bringKeysBack,
  putBrokenAside,
  putCrashingAside,
  rememberCrashes,
  saysDamage,
} from './knot-stores.ts';
import { updateKeyName } from './names.ts';

export interface KnotOptions {
  dir: string;
  port: number;
  /** addresses it listens on; loopback is always one of them: the server speaks to it there */
  hosts: readonly string[];
  /** of updates, 32 bytes */
  key: Buffer;
  onLine?: (line: string) => void;
  /** false: it keeps nobody's event loop alive (tests) */
  ref?: boolean;
}
const here = '127.0.0.1';
/** Of one network (/24, /56) over UDP; the whole of a large resolver stands behind one. */
const answersPerSecond = 500;

/**
 * Updates wait for the same workers that tell secondaries, one after the other, of changes: with one worker, one operator's secondary that
 * is silent held the updates of all others up for the whole of Knot's five seconds each.
 */
const workers = 8;
const secondaryMs = 500;
const earlyMost = 10_000;

/** Kept for the next start, which writes the number of its process and does not go on without: also on a disk that is full. */
const reserveBytes = 262_144;

/** Paths inside the folder that the server knows. */
export const knotPaths = (dir: string) => ({ lines: join(dir, 'lines'), socket: join(dir, 'run/knot.sock') });

/** It refuses what it has no zone for; that is an answer. */
export const knotAnswers = (port: number): Promise<boolean> =>
  ask({ host: here, port }, 'health.invalid', 6).then(
    () => true,
    () => false,
  );

export async function startKnot(options: KnotOptions): Promise<Engine> {
  const reserve = join(options.dir, 'reserve');
  rmSync(reserve, { force: true });
  try {
    return await started(options);
  } finally {
    try {
      writeWhole(reserve, Buffer.alloc(reserveBytes), { durable: false });
    } catch {
      // the disk is full: it is kept at the next start
    }
  }
}
async function started({ dir, port, hosts, key, onLine: said, ref }: KnotOptions): Promise<Engine> {
  const hears: ((line: string) => void)[] = [];
  /** all that was said of damage before somebody hears it: one line of a zone tells what the next is about */
  const early: string[] = [];
  const onLine = (line: string) => {
    said?.(line);
    if (hears.length === 0 && saysDamage(line) && early.length < earlyMost) early.push(line);
    for (const hear of hears) hear(line);
  };
  const command = await findProgram('knotd');
  if (!command)
    throw new StartError('The name server is missing: run `apt-get install knot knot-module-geoip`, then start again.');
  const account = accountOf('dns');
  const server = accountOf('server');
  const { lines, socket } = knotPaths(dir);
  mkdirSync(dir, { recursive: true });
  chmodSync(dir, 0o711);
  await privateFolder(join(dir, 'db'), 'dns');
  bringKeysBack(dir);
  await privateFolder(join(dir, 'run'), 'dns');
  // the server comes through to the control, and to nothing else
  if (account && server) chownSync(join(dir, 'run'), account.uid, server.gid);
  chmodSync(join(dir, 'run'), 0o710);
  // written by the server, read by the name server: what is made there has the group of the folder
  mkdirSync(lines, { recursive: true });
  const shared = server && account && { uid: server.uid, gid: account.gid };
  if (shared)
    for (const path of [lines, ...readdirSync(lines).map(name => join(lines, name))]) lchownSync(path, shared.uid, shared.gid);
  chmodSync(lines, 0o2750);
  // a list that was cut or lost is written anew by the server
  const zones = join(lines, 'zones.conf');
  if (!existsSync(zones)) writeWhole(zones, '# none yet\n', { mode: 0o640, owner: shared });
  const config = join(dir, 'knot.conf');
  const all = hosts.includes('0.0.0.0') ? hosts : [...new Set([here, ...hosts])];
  const configure = (control: string, at = { port, hosts: all }) => {
    const wanted = configuration({ dir, ...at, key, control });
    // a full disk keeps nobody from starting as before
    if (read(config) !== wanted) writeWhole(config, wanted, { owner: account });
  };
  configure(socket);
  // what cannot be read would keep all names from being answered; the server writes it anew when it finds its zones missing
  if (!(await isReadable(config, lines))) await putAside(dir, onLine);
  if (!(await isReadable(config, lines))) {
    onLine?.('what stood in lines/zones.conf cannot be read, and is put aside');
    renameSync(zones, `${zones}.unread`);
    writeWhole(zones, '# none yet\n', { mode: 0o640, owner: shared });
  }
  putCrashingAside(dir, onLine);
  await putBrokenAside(dir, onLine);
  const begin = async (as?: 'trial') => {
    early.length = 0;
    // nobody changes anything in one that is tried, and nobody asks it: without keys it would sign with others
    const control = as === 'trial' ? join(dir, 'run/trial.sock') : socket;
    const at = as === 'trial' ? { port: await freePort(), hosts: [here] } : { port, hosts: all };
    // it does not start while the file of its process id is there, whoever that was
    for (const left of [join(dir, 'run/knot.pid'), control]) rmSync(left, { force: true });
    configure(control, at);
    return begun({ command, config, port: at.port, lines, socket: control, onLine, ref });
  };
  const { engine, exit } = await begunWhole(dir, begin, onLine);
  const last = exit && engine.lastLines();
  if (last) {
    const why = last.filter(line => /error|critical/i.test(line));
    const how = exit?.signal ? `it ended by ${exit.signal}` : 'it said nothing';
    throw new StartError(`The name server did not start: ${why[0]?.replace(/^\S+ /, '') ?? how}`);
  }
  hears.push(rememberCrashes(dir, engine));
  // also what it said meanwhile
  for (const line of early.splice(0)) hears.forEach(hear => hear(line));
  // the server may speak to it, and nobody else
  if (account && server) chownSync(socket, account.uid, server.gid);
  chmodSync(socket, 0o660);
  return engine;
}

interface Begin extends Pick<KnotOptions, 'port' | 'onLine' | 'ref'> {
  command: string;
  config: string;
  lines: string;
  socket: string;
}
async function begun({ command, config, port, lines, socket, onLine, ref }: Begin): Promise<Begun> {
  const engine = await spawnEngine({
    command,
    args: ['-c', config],
    as: 'dns',
    keeps: ['net_bind_service'],
    reaches: [config, lines],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    deathSignal: 'SIGKILL',
    ...(onLine && { onLine }),
    ...(ref === undefined ? {} : { ref }),
  });
  let gone = false;
  void engine.exited.then(() => (gone = true));
  const up = await poll(async () => gone || (existsSync(socket) && (await knotAnswers(port))), 30_000, 50);
  if (up && !gone) return { engine };
  await engine.stop(2000);
  return { engine, exit: await engine.exited };
}

/** Files of lines that cannot be read go aside one by one: the zones that read them stay, and the server writes them anew. */
async function putAside(dir: string, onLine: KnotOptions['onLine']): Promise<void> {
  const { lines } = knotPaths(dir);
  const account = accountOf('dns');
  const server = accountOf('server');
  const config = join(dir, 'check.conf');
  const data = join(lines, readdirSync(lines).find(name => /^places-[0-9a-f]+\.mmdb$/.test(name)) ?? 'none.mmdb');
  for (const name of readdirSync(lines)) {
    // as the server names them, and nobody else
    if (!/^\d+\.(?:geo|places)$/.test(name)) continue;
    const file = join(lines, name);
    const content = [
      'mod-geoip:',
      '  - id: lines',
      `    config-file: "${file}"`,
      ...(name.endsWith('.geo') ? ['    mode: subnet'] : ['    mode: geodb', `    geodb-file: "${data}"`, `    ${geoKeys}`]),
      'zone:',
      '  - domain: check.invalid',
      '    module: mod-geoip/lines',
      '',
    ];
    writeWhole(config, content.join('\n'), { owner: account });
    if (await isReadable(config, lines)) continue;
    onLine?.(`lines/${name} cannot be read, and is put aside`);
    renameSync(file, `${file}.unread`);
    writeWhole(file, '', { mode: 0o640, owner: server && account && { uid: server.uid, gid: account.gid } });
  }
  rmSync(config, { force: true });
}

/**
 * What the server wrote may include any file and load any library: it is read by the account that is to run it, without any right, never
 * by whoever starts it.
 */
async function isReadable(config: string, lines: string): Promise<boolean> {
  const command = await findProgram('knotc');
  if (!command) return true;
  const checker = await spawnEngine({
    command,
    args: ['-c', config, 'conf-check'],
    as: 'dns',
    reaches: [config, lines],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    deathSignal: 'SIGKILL',
  });
  // a list may include what never ends
  const timer = setTimeout(() => void checker.stop(0), 60_000);
  const { code } = await checker.exited;
  clearTimeout(timer);
  return code === 0;
}

/** Knot's reader takes one thing a line. */
function configuration({
  dir,
  port,
  hosts,
  key,
  control,
}: Pick<KnotOptions, 'dir' | 'port' | 'hosts' | 'key'> & { control: string }): string {
  return [
    'server:',
    `  rundir: "${dir}/run"`,
    `  pidfile: "${dir}/run/knot.pid"`,
    ...hosts.map(host => `  listen: "${host}@${port}"`),
    // what it is and which version is nobody's business
    '  identity: ""',
    '  version: ""',
    '  edns-client-subnet: on',
    '  answer-rotation: on',
    `  background-workers: ${workers}`,
    `  tcp-remote-io-timeout: ${secondaryMs}`,
    'control:',
    `  listen: "${control}"`,
    'log:',
    '  - target: stderr',
    '    any: warning',
    'database:',
    `  storage: "${dir}/db"`,
    '  journal-db-max-size: 1G',
    '  kasp-db-max-size: 50M',
    '  timer-db-max-size: 50M',
    'key:',
    `  - id: ${updateKeyName}`,
    '    algorithm: hmac-sha256',
    `    secret: "${key.toString('base64')}"`,
    'acl:',
    '  - id: ours',
    '    address: [127.0.0.0/8, ::1]',
    `    key: ${updateKeyName}`,
    '    action: update',
    // who asks with others' addresses makes us answer these: past the rate every second answer is cut, so that real resolvers come by TCP
    'mod-rrl:',
    '  - id: visitors',
    `    rate-limit: ${answersPerSecond}`,
    '    slip: 2',
    '    whitelist: [127.0.0.1/32, "::1/128"]',
    'template:',
    '  - id: default',
    '    global-module: mod-rrl/visitors',
    `    storage: "${dir}/db"`,
    // names come by updates: there is no file of a zone, and none may be read over them
    '    zonefile-sync: -1',
    '    zonefile-load: none',
    '    journal-content: all',
    '    acl: ours',
    `include: "${dir}/lines/zones.conf"`,
    '',
  ].join('\n');
}
