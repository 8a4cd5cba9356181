/**
 * Starting and ending the programs Breakwater brings along (PostgreSQL, NATS, the analytics store, …).
 *
 * Every engine runs in a session of its own, so that Ctrl-C in a terminal reaches only the supervisor and the engines can be ended in
 * order; and with a parent-death signal, so that a kill -9 of the supervisor or of a test leaves nothing behind (prctl(2), PR_SET_PDEATHSIG).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { access, chmod, constants, lchown, lstat, mkdir, readdir } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Account, type PartAccount, accountOf } from './accounts.ts';
import { viewOf } from './private-view.ts';
import { StartError } from './start-error.ts';

export { StartError };

/** A right of root that a part may keep (capabilities(7)). */
export type Right = 'net_bind_service' | 'net_admin';
const bits: Record<Right | 'setpcap', number> = { setpcap: 8, net_bind_service: 10, net_admin: 12 };

export interface EngineExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Engine {
  readonly pid: number;
  /** Resolves when the process has ended, for whatever reason; never rejects. */
  readonly exited: Promise<EngineExit>;
  /** Asks the engine to end, and kills its whole process group after `limitMs`. Resolves when it is gone. */
  stop(limitMs?: number): Promise<EngineExit>;
  /** The last lines it wrote (at most 40), to explain a failed start. */
  lastLines(): string[];
}

export interface EngineOptions {
  command: string;
  args: readonly string[];
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** The part whose user it runs as, without any right of root but `keeps` (only has an effect when we are root). */
  as?: PartAccount;
  /** Rights it keeps, as far as we have them. */
  keeps?: readonly Right[];
  /** Paths that user must be able to reach; where it cannot, it gets a view in which it can (private-view.ts). */
  reaches?: readonly string[];
  /** What it reads on stdin; default nothing. */
  input?: string;
  /** How it is asked to end; default SIGTERM. */
  stopSignal?: NodeJS.Signals;
  /** What it gets when we die without a word; default the stop signal. */
  deathSignal?: NodeJS.Signals;
  onLine?: (line: string, stream: 'stdout' | 'stderr') => void;
  /** false: this engine does not keep our event loop alive (tests). */
  ref?: boolean;
}

/** Starts a program; rejects with StartError when the program does not exist or cannot be executed. */
export async function spawnEngine(options: EngineOptions): Promise<Engine> {
  const stopSignal = options.stopSignal ?? 'SIGTERM';
  const cwd = options.cwd ?? '/';
  const account = options.as && accountOf(options.as);
  const view = account
    ? await viewOf(
        [...(options.reaches ?? []), options.command].filter(path => path.startsWith('/')),
        cwd,
      )
    : [];
  const [command, ...args] = [
    ...view,
    'setpriv',
    ...['--pdeathsig', (options.deathSignal ?? stopSignal).slice(3)],
    ...(account ? lessThanRoot(account, options.keeps ?? []) : []),
    ...['--', options.command, ...options.args],
  ];
  const child = spawn(command!, args, {
    cwd,
    env: options.env ?? process.env,
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  child.stdin?.on('error', () => {}).end(options.input);
  const tail: string[] = [];
  const take = (line: string, stream: 'stdout' | 'stderr') => {
    tail.push(line);
    if (tail.length > 40) tail.shift();
    options.onLine?.(line, stream);
  };
  for (const name of ['stdout', 'stderr'] as const) {
    createInterface({ input: child[name]!, crlfDelay: Infinity }).on('line', line => take(line, name));
    // pipes are sockets, which Node's types do not say
    if (options.ref === false) (child[name] as unknown as { unref(): void }).unref();
  }
  const exited = new Promise<EngineExit>(done => {
    child.once('close', (code, signal) => done({ code, signal }));
    child.once('error', () => done({ code: 127, signal: null }));
  });
  await new Promise<void>((ok, fail) => {
    child.once('spawn', ok);
    child.once('error', error => fail(new StartError(`Cannot start ${options.command}: ${error.message}.`)));
  });
  if (options.ref === false) child.unref();
  return {
    pid: child.pid!,
    exited,
    stop: (limitMs = 10_000) => stopGroup(child, exited, stopSignal, limitMs),
    lastLines: () => [...tail],
  };
}

/** The arguments of setpriv(1) that make a process a user without rights, who can never get any. */
function lessThanRoot({ uid, gid }: Account, keeps: readonly Right[]): string[] {
  const ours = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '0'}`);
  const have = (right: keyof typeof bits) => (ours & (1n << BigInt(bits[right]))) !== 0n;
  const kept = ['-all', ...keeps.filter(have).map(right => `+${right}`)].join(',');
  return [
    ...['--reuid', String(uid), '--regid', String(gid), '--clear-groups', '--no-new-privs'],
    ...(have('setpcap') ? ['--bounding-set', kept] : []), // a container may have taken it
    ...['--inh-caps', kept, '--ambient-caps', kept],
  ];
}

async function stopGroup(
  child: ChildProcess,
  exited: Promise<EngineExit>,
  signal: NodeJS.Signals,
  limitMs: number,
): Promise<EngineExit> {
  child.ref();
  child.kill(signal);
  const timer = setTimeout(() => signalGroup(child.pid!, 'SIGKILL'), limitMs);
  const exit = await exited;
  clearTimeout(timer);
  signalGroup(child.pid!, 'SIGKILL'); // what it left in its group
  return exit;
}

/** Sends a signal to a process group; a group that is gone is no error. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // already gone
  }
}

/** Creates a private folder (0700) for a part and hands it, with all it holds, to the part's user when we are root. */
export async function privateFolder(folder: string, part: PartAccount): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const account = accountOf(part);
  if (account) await chownTree(folder, account);
  await chmod(folder, 0o700);
}

/** Also for a folder that another user had: an earlier version, or another machine. The folder itself goes last: it says that all is done. */
async function chownTree(path: string, account: Account): Promise<void> {
  const { uid, gid } = account;
  const entry = await lstat(path);
  if (entry.isDirectory()) {
    if (entry.uid === uid && entry.gid === gid) return;
    for (const name of await readdir(path)) await chownTree(join(path, name), account);
  }
  await lchown(path, uid, gid);
}

/** The full path of a program in PATH or the system's folders, or undefined. */
export async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of [
    ...(process.env.PATH ?? '').split(':'),
    '/usr/local/sbin',
    '/usr/sbin',
    '/sbin',
    '/usr/local/bin',
    '/usr/bin',
    '/bin',
  ]) {
    if (!folder.startsWith('/')) continue;
    const path = join(folder, name);
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return path;
  }
  return undefined;
}

/** Whether a TCP port of an address can be bound now. */
export function portIsFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise(done => {
    const probe = createServer();
    probe.once('error', () => done(false));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => done(true)));
  });
}

/** `from-to`: what is a test file's own among those that run side by side (bin/test.ts), or one installation's of its. */
const [firstPort, portsEnd] = (process.env.TEST_PORTS ?? '20000-32000').split('-').map(Number) as [number, number];
/** What this process was given already: between our look and the engine's bind a port is free to everybody's eyes. */
const given = new Set<number>();

/** A free loopback port below the ephemeral range, so that no outgoing connection can take it; never the same one twice. */
export async function freePort(from = firstPort, to = portsEnd): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    const port = from + Math.floor(Math.random() * (to - from));
    if (given.has(port)) continue;
    given.add(port);
    if (await portIsFree(port)) return port;
  }
  throw new StartError(`No free TCP port was found between ${from} and ${to}: end programs that listen there.`);
}

/** Whether something accepts TCP connections there within `limitMs`. */
export function accepts(port: number, host = '127.0.0.1', limitMs = 2000): Promise<boolean> {
  return new Promise(done => {
    const socket = createConnection({ port, host });
    const end = (answer: boolean) => {
      socket.destroy();
      done(answer);
    };
    socket.setTimeout(limitMs, () => end(false));
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

/** Polls a condition until it holds; answers false after `limitMs`. */
export async function poll(condition: () => boolean | Promise<boolean>, limitMs: number, everyMs = 20): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() >= deadline) return false;
    await new Promise(next => setTimeout(next, everyMs));
  }
}

/** What /proc tells about one process: start in clock ticks since boot, session and state; undefined when it is gone. */
export function processFacts(pid: number): { start: string; session: number; state: string } | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' '); // the name may hold spaces and brackets
    const [state, , , session] = fields;
    return state === 'Z' || state === 'X' ? undefined : { state: state!, session: Number(session), start: fields[19]! };
  } catch {
    return undefined;
  }
}

/** All process ids of the machine that we can see. */
export function allPids(): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number);
}
