/** One Breakwater per data folder; and what a killed one left behind is cleared away. */
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs';
import { type Server, createServer } from 'node:net';
import { basename, join } from 'node:path';
import { writeWhole } from '#host/files.ts';
import { type FolderLock, lockFolder } from '#host/folder-lock.ts';
import { StartError, allPids, poll, processFacts, signalGroup } from '#server/store/engine-process.ts';

export class DataLock {
  readonly #locks: readonly Pick<FolderLock, 'release'>[];
  readonly #folder: string;
  readonly #sessions: string;
  readonly #boot = bootID();

  private constructor(locks: readonly Pick<FolderLock, 'release'>[], dataFolder: string) {
    this.#locks = locks;
    this.#folder = realpathSync(dataFolder);
    this.#sessions = join(dataFolder, 'run/sessions');
  }

  /**
   * Takes the folder, which is locked itself (host/folder-lock.ts): there is no stale lock. Where the file system has none, an abstract
   * unix socket named after the folder is taken, which is one per network namespace and which anybody on the machine could have taken
   * before. Errors: StartError.
   */
  static async take(dataFolder: string): Promise<DataLock> {
    const run = join(dataFolder, 'run');
    try {
      mkdirSync(dataFolder, { recursive: true, mode: 0o711 });
      mkdirSync(run, { recursive: true, mode: 0o711 });
    } catch (error) {
      throw new StartError(
        `The data folder ${dataFolder} cannot be made: ${(error as Error).message}. BREAKWATER_DATA names another one.`,
      );
    }
    const owner = join(run, 'owner');
    const taken = () => {
      const pid = read(owner)?.trim();
      return new StartError(
        `Another Breakwater${pid ? ` (process ${pid})` : ''} runs on ${dataFolder}: end it first, or set BREAKWATER_DATA to another folder.`,
      );
    };
    const lock = lockFolder(dataFolder);
    if (!lock) throw taken();
    const locks: Pick<FolderLock, 'release'>[] = [lock];
    if (lock.missing) {
      console.error(
        `${dataFolder} cannot be locked (${lock.missing}): do not start a second Breakwater on it from another container.`,
      );
      const socket = await nameTaken(dataFolder);
      if (!socket) throw taken();
      locks.push({ release: () => socket.close() });
    }
    try {
      writeWhole(owner, `${process.pid}\n`, { durable: false });
    } catch (error) {
      throw new StartError(
        `The data folder ${dataFolder} cannot be written: ${(error as Error).message}. Make it writable for the user who starts Breakwater, or set BREAKWATER_DATA to another folder.`,
      );
    }
    return new DataLock(locks, dataFolder);
  }

  /** Remembers a session we started, so that its members can be found after a crash of ours. */
  remember(name: string, pid: number): void {
    appendFileSync(this.#sessions, `${pid} ${processFacts(pid)?.start ?? 0} ${this.#boot} ${name}\n`, { mode: 0o600 });
  }

  /** Ends every process of earlier or present sessions of this data folder that still runs; answers how many there were. */
  async endLeftovers(): Promise<number> {
    const recorded = (read(this.#sessions) ?? '')
      .split('\n')
      .map(line => line.split(' '))
      .filter(([, , boot]) => boot === this.#boot)
      .map(([pid, start]) => ({ pid: Number(pid), start: start! }));
    const find = () => this.#members(recorded);
    const count = find().length;
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const left = find();
      if (left.length === 0) break;
      for (const pid of left) signalOne(pid, signal);
      await poll(() => find().length === 0, 5000);
    }
    rmSync(this.#sessions, { force: true });
    return count;
  }

  /** Processes of our sessions, and engines that work on our folder whatever session they are in (nginx makes its own). */
  #members(recorded: readonly { pid: number; start: string }[]): number[] {
    const sessions = new Set<number>();
    for (const { pid, start } of recorded) {
      const leader = processFacts(pid);
      if (!leader || leader.start === start) sessions.add(pid); // else the number was given to somebody new
    }
    return allPids().filter(pid => {
      if (pid === process.pid) return false;
      const facts = processFacts(pid);
      return !!facts && (sessions.has(facts.session) || this.#isEngineOfOurs(pid));
    });
  }

  #isEngineOfOurs(pid: number): boolean {
    try {
      if (!['nginx', 'nats-server', 'postgres'].includes(basename(readlinkSync(`/proc/${pid}/exe`)))) return false;
      const inside = (path: string) => `${path}/`.startsWith(`${this.#folder}/`);
      // as it stands by itself, or behind an option's name
      const named = readFileSync(`/proc/${pid}/cmdline`, 'latin1')
        .split('\0')
        .some(word => inside(word) || inside(word.slice(word.indexOf('=') + 1)));
      if (!named && !inside(readlinkSync(`/proc/${pid}/cwd`))) return false;
      // one in a container may call another folder by the same name
      const [theirs, ours] = [statSync(`/proc/${pid}/root${this.#folder}`), statSync(this.#folder)];
      return theirs.ino === ours.ino && theirs.dev === ours.dev;
    } catch {
      return false;
    }
  }

  release(): void {
    rmSync(join(this.#folder, 'run/owner'), { force: true });
    for (const lock of this.#locks) lock.release();
  }
}

/** undefined: somebody has the name */
async function nameTaken(folder: string): Promise<Server | undefined> {
  const name = createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 32);
  const server = createServer(socket => socket.destroy());
  server.unref();
  return new Promise(done => {
    server.once('error', () => done(undefined));
    server.listen(`\0breakwater-${name}`, () => done(server));
  });
}

/** Kills at once whatever a session left in its group. */
export function endSession(pid: number): void {
  signalGroup(pid, 'SIGKILL');
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // already gone
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function bootID(): string {
  return read('/proc/sys/kernel/random/boot_id')?.trim() ?? '-';
}
