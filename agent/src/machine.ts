/** What machine a node is, and how busy it is: read from /proc and statfs with every heartbeat, which takes a millisecond. */
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, freemem, loadavg, release as kernel, totalmem, uptime } from 'node:os';
import { CacheSize } from './cache-size.ts';
import { diskOf } from './checks.ts';
import type { Connections } from './control.ts';

export interface MachineFacts {
  cores: number;
  cpu: string;
  kernel: string;
  nginx: string;
  node: string;
  uptimeSeconds: number;
  /** of the last minute, five and fifteen */
  load: [number, number, number];
  /** since the last look, of all cores, 0 to 100 */
  cpuPercent: number;
  memoryBytes: number;
  memoryFreeBytes: number;
  /** of the disk that holds the cache */
  diskBytes: number;
  diskFreeBytes: number;
  /** of all network interfaces but loopback, since the last look */
  inBitsPerSecond: number;
  outBitsPerSecond: number;
  /** of nginx, with those between its halves; left out while it says nothing */
  connections?: number;
  requests?: number;
  requestsPerSecond?: number;
  /** what lies in the cache's folder, walked piece by piece: up to some minutes old */
  cacheBytes?: number;
  cacheFiles?: number;
  cacheMaxBytes: number;
}

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // a machine that does not say: nothing is counted
  }
};

/** What the kernel calls available: free, and what it would give back. */
function available(): number {
  const kB = /^MemAvailable:\s+(\d+) kB/m.exec(read('/proc/meminfo'))?.[1];
  return kB ? Number(kB) * 1024 : freemem();
}

/** Numbers of the CPUs this process may run on (`Cpus_allowed_list`). */
export const allowedCPUs = (pid: number | 'self' = 'self'): string =>
  /^Cpus_allowed_list:\s*(\S+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? '';

interface Counted {
  at: number;
  idle: number;
  all: number;
  bytesIn: number;
  bytesOut: number;
  requests: number | undefined;
}
function count(requests: number | undefined): Counted {
  const counted: Counted = { at: performance.now(), idle: 0, all: 0, bytesIn: 0, bytesOut: 0, requests };
  // user nice system idle iowait irq softirq steal; the two of guests are in the first two
  const ticks = read('/proc/stat').split('\n', 1)[0]!.split(/\s+/).slice(1, 9).map(Number);
  counted.all = ticks.reduce((sum, one) => sum + one, 0);
  counted.idle = (ticks[3] ?? 0) + (ticks[4] ?? 0);
  for (const line of read('/proc/net/dev').split('\n')) {
    const [name, figures] = line.split(':');
    if (!figures || name!.trim() === 'lo') continue;
    const all = figures.trim().split(/\s+/).map(Number);
    counted.bytesIn += all[0] ?? 0;
    counted.bytesOut += all[8] ?? 0;
  }
  return counted;
}

export interface MachineOptions {
  /** on the disk that holds the cache */
  folder: string;
  cacheFolder: string;
  /** its release, as text */
  nginx: string;
  /** what nginx says of its connections; undefined while it says nothing */
  connections(): Promise<Connections | undefined>;
  cacheMaxBytes(): number;
}

export class Machine {
  readonly #options: MachineOptions;
  readonly #cache: CacheSize;
  #before = count(undefined);
  #cpu = cpus()[0]?.model.slice(0, 100) ?? '';

  constructor(options: MachineOptions) {
    this.#options = options;
    this.#cache = new CacheSize(options.cacheFolder);
  }

  async facts(): Promise<MachineFacts> {
    const { folder, nginx, connections, cacheMaxBytes } = this.#options;
    const [disk, said] = await Promise.all([diskOf(folder), connections().catch(() => undefined), this.#cache.step()]);
    const before = this.#before;
    const now = (this.#before = count(said?.requests));
    const seconds = Math.max(now.at - before.at, 1) / 1000;
    // an interface that went away takes its counters along, an nginx that was started anew begins at 0
    const rate = (more: number) => Math.max(0, Math.round(more / seconds));
    const busy = now.all > before.all ? 1 - (now.idle - before.idle) / (now.all - before.all) : 0;
    return {
      cores: availableParallelism(),
      cpu: this.#cpu,
      kernel: kernel(),
      nginx,
      node: process.version,
      uptimeSeconds: Math.round(uptime()),
      load: loadavg().map(one => Math.round(one * 100) / 100) as [number, number, number], // three, by its contract
      cpuPercent: Math.round(Math.min(Math.max(busy, 0), 1) * 1000) / 10,
      memoryBytes: totalmem(),
      memoryFreeBytes: available(),
      diskBytes: disk.totalBytes,
      diskFreeBytes: disk.freeBytes,
      inBitsPerSecond: rate((now.bytesIn - before.bytesIn) * 8),
      outBitsPerSecond: rate((now.bytesOut - before.bytesOut) * 8),
      ...(said && { connections: said.active, requests: said.requests }),
      ...(now.requests !== undefined &&
        before.requests !== undefined && { requestsPerSecond: rate(now.requests - before.requests) }),
      ...this.#cache.found(),
      cacheMaxBytes: cacheMaxBytes(),
    };
  }
}
