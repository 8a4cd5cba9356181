/**
 * Jobs beside each other: as many as there are CPUs, and more while these have nothing to do. A test that kills a process and waits for its
 * return uses no CPU; one that draws pages uses all there is. On a machine with other work it stays at one for each CPU.
 */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

export type Job = () => Promise<void>;

export interface Room {
  /** Jobs at a time, whatever the machine says. */
  usual: number;
  /** Never more. */
  most: number;
  /** Whether there is room for one beyond `usual`; asked about once in `everyMs`. */
  hasRoom: () => boolean;
  everyMs?: number;
}

/** Starts the jobs in their order; ends when all have. The first that throws is what it throws, once those under way have ended. */
export async function sideBySide(jobs: readonly Job[], { usual, most, hasRoom, everyMs = 1000 }: Room): Promise<void> {
  const queue = [...jobs];
  const going = new Set<Promise<void>>();
  const errors: unknown[] = [];
  const start = () => {
    const running: Promise<void> = queue.shift()!()
      .catch((error: unknown) => {
        errors.push(error);
        queue.length = 0;
      })
      .finally(() => going.delete(running));
    going.add(running);
  };
  while (queue.length > 0 || going.size > 0) {
    while (queue.length > 0 && going.size < usual) start();
    let timer: NodeJS.Timeout | undefined;
    const isTime = new Promise<boolean>(done => (timer = setTimeout(done, everyMs, true)));
    const asks = await Promise.race([isTime, ...going]);
    clearTimeout(timer);
    if (asks && queue.length > 0 && going.size < most && hasRoom()) start();
  }
  if (errors.length > 0) throw errors[0];
}

/** What one file may need at its most: an installation and a browser, bytes. */
const roomOfFile = 3e9;
/** The share of the CPUs that must have had nothing to do. */
const idleShare = 0.3;
/** Looks that are taken together: what just began has not yet shown what it needs. */
const looks = 3;

/**
 * The machine's own answer: the CPUs had little to do over a few looks together, and there is memory. After each yes it looks anew. Of looks
 * one by one, a busy second of files that wait for the rest of the time kept half of the CPUs idle.
 */
export function roomOfMachine(read = { cpuTimes, freeMemory }): () => boolean {
  let seen = [read.cpuTimes()];
  return () => {
    const now = read.cpuTimes();
    seen.push(now);
    if (seen.length <= looks) return false;
    const before = seen.shift()!;
    const share = (now.idle - before.idle) / Math.max(1, now.all - before.all);
    if (share < idleShare || read.freeMemory() < roomOfFile) return false;
    seen = [now];
    return true;
  };
}

function cpuTimes() {
  const times = cpus().map(cpu => cpu.times);
  const idle = times.reduce((sum, one) => sum + one.idle, 0);
  return { idle, all: times.reduce((sum, one) => sum + one.user + one.nice + one.sys + one.irq + one.idle, 0) };
}

/** Bytes that can be had without swapping. */
const freeMemory = () => Number(/^MemAvailable:\s+(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'latin1'))?.[1] ?? 0) * 1024;
