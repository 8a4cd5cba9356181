/** The statistic types as expressions over the roll-ups s5 and s1. */
import { type KeyedType, type StatisticNumber, keyedTypes, topTypes } from '#contract/analytics/shapes.ts';
import { httpVersions, methods, statisticTypes as t, statusCodesTracked } from '#contract/limits.ts';

/** A sum over many nodes: no forged figure makes it begin again at 0, and it stays a number that is exact in JSON. */
export const totalOf = (column: string) => `toUInt64(least(sum(toUInt128(${column})), ${Number.MAX_SAFE_INTEGER}))`;

/** Type → column of sums. */
export const sumColumn: Partial<Record<StatisticNumber, string>> = {
  [t.traffic]: 'bytes',
  [t.requests]: 'req',
  [t.cacheHitTraffic]: 'hit_bytes',
  [t.cacheHitRequests]: 'hit_req',
  [t.upstreamTraffic]: 'up_bytes',
  [t.upstreamRequests]: 'up_req',
};

/** Type → map column (s1 has only the first). */
export const mapColumn: Record<KeyedType, string> = {
  [t.statusCodes]: 'status',
  [t.methods]: 'method',
  [t.httpVersions]: 'version',
  [t.blockedRequests]: 'cause',
};

export const isKeyed = (type: number): type is KeyedType => (keyedTypes as readonly number[]).includes(type);
export const isTop = (type: number) => (topTypes as readonly number[]).includes(type);

const tracked = new Set<number>(statusCodesTracked);
const versionOf = (code: number) => httpVersions[Math.floor(code / 10)] ?? 'other';

const namesOf: Record<KeyedType, (code: number) => string[]> = {
  [t.statusCodes]: code => [tracked.has(code) ? String(code) : 'other'],
  [t.methods]: code => [methods[code] ?? 'other'],
  [t.httpVersions]: code => [versionOf(code), code % 10 === 6 ? 'ipv6' : 'ipv4'],
  [t.blockedRequests]: code => [String(code)],
};

/** A map as stored (codes) → as answered (names). */
export function named(type: KeyedType, stored: Record<string, number>): Record<string, number> {
  const parts: Record<string, number> = {};
  for (const [code, value] of Object.entries(stored))
    for (const name of namesOf[type](Number(code))) parts[name] = (parts[name] ?? 0) + value;
  return parts;
}

/** Codes that stand for exactly one request each. */
export const sumOf = (stored: Record<string, number>) => Object.values(stored).reduce((sum, value) => sum + value, 0);
