/** One Breakwater per data folder; and what a killed one left behind is cleared away. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { type Server, createServer } from 'node:net';
import { basename, join } from 'node:path';
import { writeWhole } from '#host/files.ts';
import { StartError, allPids, poll, processFacts, signalGroup } from '#server/store/engine-process.ts';

export class DataLock {
  readonly #server: Server;
  readonly #held: number;
  readonly #folder: string;
  readonly #sessions: string;
  readonly #boot = bootID();

  private constructor(server: Server, held: number, dataFolder: string) {
    this.#server = server;
    this.#held = held;
    this.#folder = realpathSync(dataFolder);
    this.#sessions = join(dataFolder, 'run/sessions');
  }

  /**
   * Takes the folder. There are two guards, and the kernel takes both back when this process ends in whatever way, so there is no stale
   * lock: an abstract unix socket named after the folder, which asks nothing of the file system but is one per network namespace; and a
   * lock of the folder itself, which whoever shares the folder meets, from another container as well. Errors: StartError.
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
    const name = createHash('sha256').update(realpathSync(dataFolder)).digest('hex').slice(0, 32);
    const server = createServer(socket => socket.destroy());
    const taken = () => {
      const pid = read(owner)?.trim();
      return new StartError(
        `Another Breakwater${pid ? ` (process ${pid})` : ''} runs on ${dataFolder}: end it first, or set BREAKWATER_DATA to another folder.`,
      );
    };
    await new Promise<void>((ok, fail) => {
      server.once('error', () => fail(taken()));
      server.listen(`\0breakwater-${name}`, ok);
    });
    server.unref();
    const held = lockFolder(dataFolder);
    if (held === undefined) {
      server.close();
      throw taken();
    }
    try {
      writeWhole(owner, `${process.pid}\n`, { durable: false });
    } catch (error) {
      throw new StartError(
        `The data folder ${dataFolder} cannot be written: ${(error as Error).message}. Make it writable for the user who starts Breakwater, or set BREAKWATER_DATA to another folder.`,
      );
    }
    return new DataLock(server, held, dataFolder);
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
      const inside = `${this.#folder}/`;
      return (
        readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(inside) ||
        `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(inside)
      );
    } catch {
      return false;
    }
  }

  release(): void {
    rmSync(join(this.#folder, 'run/owner'), { force: true });
    this.#server.close();
    closeSync(this.#held);
  }
}

const conflict = 75;
/**
 * The folder, open and locked (flock(2)); undefined: somebody else has it. flock(1) locks what it is handed, and what it is handed is
 * ours: the lock stays when it ends, for as long as our descriptor is open. Nothing we start inherits that.
 */
function lockFolder(folder: string): number | undefined {
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  const { status, error, stderr } = spawnSync('flock', ['--nonblock', '--conflict-exit-code', `${conflict}`, '3'], {
    stdio: ['ignore', 'ignore', 'pipe', fd],
    encoding: 'utf8',
  });
  if (status === 0) return fd;
  if (status === conflict) {
    closeSync(fd);
    return undefined;
  }
  // a file system without locks: the first guard is left
  const why = error?.message ?? stderr.trim();
  console.error(`${folder} cannot be locked (${why}): do not start a second Breakwater on it from another container.`);
  return fd;
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
