/** What machine a node is, and how busy it is: cheap to ask, with every heartbeat. */
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, freemem, loadavg, release as kernel, totalmem, uptime } from 'node:os';
import { diskOf } from './checks.ts';

export interface MachineFacts {
  cores: number;
  cpu: string;
  kernel: string;
  nginx: string;
  node: string;
  uptimeSeconds: number;
  /** of the last minute, five and fifteen */
  load: [number, number, number];
  /** since the last heartbeat, of all cores, 0 to 100 */
  cpuPercent: number;
  memoryBytes: number;
  memoryFreeBytes: number;
  /** of the disk that holds the cache */
  diskBytes: number;
  diskFreeBytes: number;
  /** of all network interfaces but loopback, since the last heartbeat */
  inBitsPerSecond: number;
  outBitsPerSecond: number;
}

/** What the kernel calls available: free, and what it would give back. */
function available(): number {
  try {
    const kB = /^MemAvailable:\s+(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1];
    return kB ? Number(kB) * 1024 : freemem();
  } catch {
    return freemem();
  }
}

interface Counted {
  at: number;
  idle: number;
  all: number;
  bytesIn: number;
  bytesOut: number;
}
function count(): Counted {
  const counted: Counted = { at: performance.now(), idle: 0, all: 0, bytesIn: 0, bytesOut: 0 };
  for (const { times } of cpus()) {
    counted.idle += times.idle;
    counted.all += times.user + times.nice + times.sys + times.idle + times.irq;
  }
  try {
    for (const line of readFileSync('/proc/net/dev', 'utf8').split('\n')) {
      const [name, figures] = line.split(':');
      if (!figures || name!.trim() === 'lo') continue;
      const all = figures.trim().split(/\s+/).map(Number);
      counted.bytesIn += all[0] ?? 0;
      counted.bytesOut += all[8] ?? 0;
    }
  } catch {
    // a machine that does not say: nothing is counted
  }
  return counted;
}

export class Machine {
  readonly #folder: string;
  readonly #nginx: string;
  #before = count();
  #cpu = cpus()[0]?.model.slice(0, 100) ?? '';

  /** @param folder lies on the disk that holds the cache */
  constructor(folder: string, nginx: string) {
    this.#folder = folder;
    this.#nginx = nginx;
  }

  async facts(): Promise<MachineFacts> {
    const disk = await diskOf(this.#folder);
    const before = this.#before;
    const now = (this.#before = count());
    const seconds = Math.max(now.at - before.at, 1) / 1000;
    // an interface that went away takes its counters along
    const rate = (bytes: number) => Math.max(0, Math.round((bytes * 8) / seconds));
    const busy = now.all > before.all ? 1 - (now.idle - before.idle) / (now.all - before.all) : 0;
    return {
      cores: availableParallelism(),
      cpu: this.#cpu,
      kernel: kernel(),
      nginx: this.#nginx,
      node: process.version,
      uptimeSeconds: Math.round(uptime()),
      load: loadavg().map(one => Math.round(one * 100) / 100) as [number, number, number], // three, by its contract
      cpuPercent: Math.round(Math.min(Math.max(busy, 0), 1) * 1000) / 10,
      memoryBytes: totalmem(),
      memoryFreeBytes: available(),
      diskBytes: disk.totalBytes,
      diskFreeBytes: disk.freeBytes,
      inBitsPerSecond: rate(now.bytesIn - before.bytesIn),
      outBitsPerSecond: rate(now.bytesOut - before.bytesOut),
    };
  }
}
