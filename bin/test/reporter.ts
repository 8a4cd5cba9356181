/** A node:test reporter that writes one JSON object per finished test: what bin/test.ts counts and shows. */
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
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stack = error.stack ?? error.message;
  return stack
    .split('\n')
    .filter(line => !/^\s+at .*\(?node:/.test(line))
    .join('\n');
}
