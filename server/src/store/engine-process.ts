/**
 * Starting and ending the programs Breakwater brings along (PostgreSQL, NATS, the analytics store, …).
 *
 * Every engine runs in a session of its own, so that Ctrl-C in a terminal reaches only the supervisor and the engines can be ended in
 * order; and with a parent-death signal, so that a kill -9 of the supervisor or of a test leaves nothing behind (prctl(2), PR_SET_PDEATHSIG).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { access, chown, constants, lstat, mkdir, readdir, stat } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

/** The Debian user `nobody` and the group `nogroup`: PostgreSQL refuses to run as root, and nothing else needs to. */
export const nobody = { uid: 65_534, gid: 65_534 } as const;

const isRoot = process.getuid?.() === 0;

/** A failure a person can mend: the message is one sentence that says what is wrong and what to do; no stack trace is shown. */
export class StartError extends Error {
  override name = 'StartError';
}

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
  /** Give root away before the program starts (only has an effect when we are root). */
  unprivileged?: boolean;
  /** Paths the unprivileged user must be able to enter; if it cannot, it is lent the right to read and search (and nothing more). */
  reaches?: readonly string[];
  /** How it is asked to end; default SIGTERM. */
  stopSignal?: NodeJS.Signals;
  /** What it gets when we die without a word; default the stop signal. */
  deathSignal?: NodeJS.Signals;
  onLine?: (line: string) => void;
  /** false: this engine does not keep our event loop alive (tests). */
  ref?: boolean;
}

/** Starts a program; rejects with StartError when the program does not exist or cannot be executed. */
export async function spawnEngine(options: EngineOptions): Promise<Engine> {
  const stopSignal = options.stopSignal ?? 'SIGTERM';
  const setpriv = ['--pdeathsig', (options.deathSignal ?? stopSignal).slice(3)];
  if (options.unprivileged && isRoot) {
    setpriv.push('--reuid', String(nobody.uid), '--regid', String(nobody.gid), '--clear-groups');
    if (!(await everyoneMayEnter(options.reaches ?? []))) {
      // without the secure bit, access(2) would look at the user alone, and initdb asks it
      setpriv.push('--inh-caps', '+dac_read_search', '--ambient-caps', '+dac_read_search', '--securebits', '+no_setuid_fixup');
    }
  }
  const child = spawn('setpriv', [...setpriv, '--', options.command, ...options.args], {
    cwd: options.cwd ?? '/',
    env: options.env ?? process.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const tail: string[] = [];
  const take = (line: string) => {
    tail.push(line);
    if (tail.length > 40) tail.shift();
    options.onLine?.(line);
  };
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream, crlfDelay: Infinity }).on('line', take);
    if (options.ref === false) (stream as unknown as { unref(): void }).unref();
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

/** Whether any user may enter each path: every folder on the way is world-searchable. */
async function everyoneMayEnter(paths: readonly string[]): Promise<boolean> {
  for (const path of paths) {
    for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
      if (((await stat(folder)).mode & 0o001) === 0) return false;
      if (folder === '/') break;
    }
  }
  return true;
}

/** Creates a private folder (0700) for an engine and hands it, with all it holds, to the unprivileged user when we are root. */
export async function privateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (isRoot) await chownTree(folder);
}

async function chownTree(path: string): Promise<void> {
  const entry = await lstat(path);
  if (entry.isDirectory() && entry.uid === nobody.uid && entry.gid === nobody.gid) return; // handed over before
  if (!entry.isSymbolicLink()) {
    if (entry.isDirectory()) for (const name of await readdir(path)) await chownTree(join(path, name));
    await chown(path, nobody.uid, nobody.gid);
  }
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

/** A free loopback port below the ephemeral range, so that no outgoing connection can take it between our look and the engine's bind. */
export async function freePort(from = 20_000, to = 32_000): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    const port = from + Math.floor(Math.random() * (to - from));
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
  const deadline = Date.now() + limitMs;
  for (;;) {
    if (await condition()) return true;
    if (Date.now() >= deadline) return false;
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
