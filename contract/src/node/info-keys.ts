/** Apart from the calls: a screen needs the names alone. */

/** Lines of `node-info`, in their order; bytes, seconds, percent and bit/s in their names. */
export const nodeInfoKeys = [
  'status',
  'cpuPercent',
  'cores',
  'load1',
  'load5',
  'load15',
  'memoryBytes',
  'memoryFreeBytes',
  'diskBytes',
  'diskFreeBytes',
  'inBitsPerSecond',
  'outBitsPerSecond',
  'connections',
  'requests',
  'requestsPerSecond',
  'cacheBytes',
  'cacheFiles',
  'cacheMaxBytes',
  'uptimeSeconds',
  'at',
] as const;
export type NodeInfoKey = (typeof nodeInfoKeys)[number];
