/** A node:test reporter that writes one JSON object per finished test, and at the end what the file cost: what bin/test.ts counts and shows. */
import { readFileSync } from 'node:fs';
import type { TestEvent } from 'node:test/reporters';

export interface Outcome {
  name: string;
  ok: boolean;
  /** A suite or a test around other tests: shown when it fails by itself, never counted twice. */
  group: boolean;
  skipped: boolean;
  nesting: number;
  ms: number;
  error?: string;
}

/** CPU of the file's process and of all that it started and waited for, s; engines of the whole run are not among it. */
export interface Cost {
  cpu: number;
}

interface Finished {
  name: string;
  nesting: number;
  skip?: string | boolean;
  todo?: string | boolean;
  details: { duration_ms: number; type?: string; error?: Error & { cause?: unknown; failureType?: string } };
}

export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const parents = new Set<number>(); // nesting levels whose next finished test had children
  for await (const event of source) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    const data = event.data as unknown as Finished;
    const { error } = data.details;
    const outcome: Outcome = {
      name: data.name,
      ok: event.type === 'test:pass',
      group: parents.delete(data.nesting) || data.details.type === 'suite',
      skipped: data.skip !== undefined || data.todo !== undefined,
      nesting: data.nesting,
      ms: data.details.duration_ms,
      ...(error && error.failureType !== 'subtestsFailed' && { error: describe(error.cause ?? error) }),
    };
    if (data.nesting > 0) parents.add(data.nesting - 1);
    yield `${JSON.stringify(outcome)}\n`;
  }
  yield `${JSON.stringify({ cpu: cpuSeconds() } satisfies Cost)}\n`;
}

/** utime, stime, cutime and cstime of proc(5), in hundredths of a second on every Linux of this architecture. */
function cpuSeconds(): number {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const times = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return times.reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stack = error.stack ?? error.message;
  return stack
    .split('\n')
    .filter(line => !/^\s+at .*\(?node:/.test(line))
    .join('\n');
}
