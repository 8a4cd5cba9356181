/** What share of the machine nginx may take (the zone's `resource`), as facts of its configuration. Pure. */
import type { DocumentOf } from '#contract/edge/kinds/index.ts';
import type { NodeFacts } from './render/nginx.ts';

export interface MachineSize {
  /** numbers of the CPUs we may run on */
  cpus: readonly number[];
  memoryBytes: number;
  diskBytes: number;
}
type Shares = NonNullable<DocumentOf<'zone'>['resource']>;

/** What nginx's dictionaries take that no share changes (edge/nginx/nginx.conf). */
const fixedMb = 224;
/** Keys of so many objects fit one megabyte (render/nginx.ts). */
const keysPerMb = 8000;
const parts = { records: 0.5, certificates: 0.25, keys: 0.25 };
const least = { records: 32, certificates: 32, keys: 8 };
const recordsMost = 4096;

/**
 * `cpu` counts whole cores, rounded up: a worker is one thread, and stays on its core. They are the last ones, so that the first is free
 * for the rest of the machine. `disk` bounds the cache. `memory` is shared out among records, certificates and keys of the cache.
 * @param workers as many as the node was started for; undefined: as many as cores
 */
export function factsOf(
  shares: Shares | undefined,
  { cpus, memoryBytes, diskBytes }: MachineSize,
  usual: Pick<NodeFacts, 'workers' | 'certificatesMb' | 'cacheFiles'>,
): Pick<NodeFacts, 'workers' | 'cpus' | 'cacheSizeMb' | 'recordsMb' | 'certificatesMb' | 'cacheFiles'> {
  const { cpu = 100, memory = 0, disk = 0 } = shares ?? {};
  const most = Math.max(1, Math.ceil((cpus.length * cpu) / 100));
  const isBound = most < cpus.length;
  const mb = (memoryBytes * memory) / 100 / 2 ** 20 - fixedMb;
  const share = (part: keyof typeof parts) => Math.max(least[part], Math.floor(mb * parts[part]));
  return {
    workers: isBound ? Math.min(usual.workers ?? most, most) : usual.workers,
    cpus: isBound ? cpus.slice(-most) : undefined,
    cacheSizeMb: disk ? Math.max(64, Math.floor((diskBytes * disk) / 100 / 2 ** 20)) : undefined,
    recordsMb: memory ? Math.min(share('records'), recordsMost) : undefined,
    certificatesMb: memory ? share('certificates') : usual.certificatesMb,
    cacheFiles: memory ? Math.min(usual.cacheFiles ?? Infinity, share('keys') * keysPerMb) : usual.cacheFiles,
  };
}

/** `0-3,8` as numbers. */
export const cpuList = (text: string): number[] =>
  text
    .trim()
    .split(',')
    .flatMap(range => {
      const [from, to = from] = range.split('-').map(Number);
      return from === undefined || !Number.isInteger(from) || !Number.isInteger(to)
        ? []
        : Array.from({ length: Math.max(0, to! - from + 1) }, (_, i) => from + i);
    });
