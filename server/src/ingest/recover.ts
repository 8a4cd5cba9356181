/** After a crash: the ranges of the newest manifest row, collected from the bus and the nodes once more. */
import { setTimeout as delay } from 'node:timers/promises';
import type { JsMsg } from '@nats-io/jetstream';
import { Batch } from './batch.ts';
import type { ManifestRow } from './ledger.ts';
import type { Members } from './members.ts';
import { readMessage, unpack } from './message.ts';

const askEveryMs = 1000;
/** All the waiting for one row, in `recoverMs`: nobody's lines are counted meanwhile, however little a node sends at a time. */
const waitsMost = 5;

export interface RecoverOptions {
  row: ManifestRow;
  /** from the first message the bus has */
  messages: AsyncGenerator<JsMsg>;
  /** the bus has not been wiped since */
  sameBus: boolean;
  members: Members;
  /** it is given up when nothing more of it has come for so long, or not all of it in five times as long */
  recoverMs: number;
  /** asks a node to send a stream again from a position */
  ask: (stream: string, at: number) => void;
  log: (event: string, facts?: Record<string, unknown>) => void;
  /** milliseconds of a clock that only goes on */
  now?: () => number;
  /** It cannot be repeated: nobody knows whether its lines are in the figures. */
  onGivenUp: () => void;
}

/** The lines of the row; undefined when they cannot be had any more, or need not be. */
export async function collectAgain(options: RecoverOptions): Promise<Batch | undefined> {
  const { row, messages, sameBus, members, recoverMs, ask, log, now = () => performance.now(), onGivenUp } = options;
  const wanted = new Map(row.streams.map((stream, i) => [stream, { at: row.froms[i]!, to: row.tos[i]! }]));
  const missing = () => [...wanted].filter(([, w]) => w.at < w.to);
  const again = new Batch();
  const latest = now() + waitsMost * recoverMs;
  let deadline = now() + recoverMs;
  let askedAt = -Infinity;
  let reading: Promise<IteratorResult<JsMsg>> | undefined;
  try {
    while (missing().length > 0) {
      if (deadline < now()) {
        log('an unfinished insert cannot be repeated: taken as done', { n: row.n, missing: missing().map(([stream]) => stream) });
        onGivenUp();
        return;
      }
      reading ??= messages.next();
      const got = await Promise.race([reading, delay(Math.max(Math.min(deadline - now(), 500), 1), undefined)]);
      if (got) {
        reading = undefined;
        if (got.done) return;
        const message = readMessage(got.value);
        const want = message && wanted.get(message.stream);
        if (!want || want.at >= want.to) continue;
        // A node forgets a file only when all of it is announced, and a row is announced as a whole.
        if (message.kind === 'gone') {
          log('the unfinished insert was announced before: it is done', { n: row.n });
          return;
        }
        if (message.from > want.at || message.to <= want.at) continue;
        const end = Math.min(message.to, want.to);
        if (message.kind === 'bytes') {
          const raw = unpack(message, want.at, end);
          if (!raw) continue;
          again.add(raw, message, members, { stream: message.stream, from: want.at, to: end });
        }
        want.at = end;
        // whoever has some of it sends the rest too: there is no hurry while it comes
        deadline = Math.min(now() + recoverMs, latest);
      } else if (!sameBus || again.ageMs > 2000) {
        // The bus has nothing more: nodes still hold what was never announced.
        if (now() - askedAt < askEveryMs) continue;
        askedAt = now();
        for (const [stream, want] of missing()) ask(stream, want.at);
      }
    }
    return again;
  } finally {
    reading?.catch(() => undefined);
    void messages.return(undefined).catch(() => undefined);
  }
}
