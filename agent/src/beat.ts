/** A heartbeat as text. The control plane reads 16 kB and some values of it: rather less of it than nothing. */
import type { OriginReport, ReportRoom } from './origin-report.ts';

const bytesMost = 16_000;
/** Of all that it holds, objects and arrays too: the last releases read 1,200. */
const valuesMost = 1100;

interface Said {
  checks: readonly unknown[];
  refusedOrigins: readonly unknown[];
  relaysAway: readonly unknown[];
  origins: OriginReport;
}

/**
 * What is said of customers gives way before what is said of the node: a customer has as many origins as it likes, and none of them may
 * hide what the node lacks. Step by step, as far as it takes.
 * @param report what is said of origins in so much room
 */
export function beatText<Facts extends Omit<Said, 'origins'>>(facts: Facts, report: (room: ReportRoom) => OriginReport): string {
  const of = (troubles: number, bytes: number) => report({ troubles, back: Math.min(troubles, 20), bytes });
  const shorter: (() => Partial<Said>)[] = [
    () => ({ refusedOrigins: facts.refusedOrigins.slice(0, 5), origins: of(20, 4000) }),
    () => ({ refusedOrigins: [], origins: of(10, 2000) }),
    () => ({ relaysAway: facts.relaysAway.slice(0, 20) }),
    () => ({ checks: facts.checks.slice(0, 5) }),
    () => ({ origins: of(0, 0) }),
  ];
  let said = { ...facts, origins: of(40, 8000) };
  for (const less of shorter) {
    const text = JSON.stringify(said);
    if (Buffer.byteLength(text) <= bytesMost && countOf(said) <= valuesMost) return text;
    said = { ...said, ...less() };
  }
  return JSON.stringify(said);
}

function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const one of Object.values(value)) count += countOf(one);
  return count;
}
