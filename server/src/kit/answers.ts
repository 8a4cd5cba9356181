/** Answers that are no JSON: text and CSV with a file name, and events that go on until the reader leaves. */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { CallDef } from '#contract/kit/call.ts';

/** Text that a browser saves under a name (RFC 6266, RFC 8187): whole, or in pieces that are made as the reader takes them. */
export class FileAnswer {
  readonly name: string;
  readonly text: string | AsyncIterable<string>;
  constructor(name: string, text: string | AsyncIterable<string>) {
    this.name = name;
    this.text = text;
  }
}

const types = {
  text: 'text/plain; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  sse: 'text/event-stream; charset=utf-8',
} as const;
/** Proxies end a connection on which nothing comes. */
const heartbeatMs = 15_000;

type Text = Exclude<CallDef['as'], 'json' | 'sse' | undefined>;
function named(reply: FastifyReply, as: Text, name: string): void {
  const plain = name.replace(/[^\w.-]/g, '_');
  void reply
    .type(types[as])
    .header('Content-Disposition', `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name)}`);
}
export function sendOther(reply: FastifyReply, as: Text, answer: unknown) {
  if (!(answer instanceof FileAnswer)) return reply.type(types[as]).send(answer);
  named(reply, as, answer.name);
  return reply.send(answer.text);
}

/** A file in pieces. Where `signal` ends it the connection breaks off, so that nobody takes a part of it for the whole. */
export function sendPieces(reply: FastifyReply, { name, text }: FileAnswer, signal: AbortSignal): Readable {
  const pieces = Readable.from(text, { highWaterMark: 1 });
  signal.addEventListener('abort', () => pieces.destroy(new Error('who reads may read no longer')), { once: true });
  named(reply, 'csv', name);
  void reply.send(pieces);
  return pieces;
}

type Shown = (event: unknown) => unknown;
/** Sends events as they come, until `signal`. */
export function sendEvents(reply: FastifyReply, events: AsyncIterable<unknown>, signal: AbortSignal, shown: Shown): Readable {
  const frames = Readable.from(eventFrames(events, signal, shown));
  void reply.type(types.sse).send(frames);
  return frames;
}

/** `data:` lines (HTML standard, server-sent events) with a comment now and then while nothing happens. */
async function* eventFrames(events: AsyncIterable<unknown>, signal: AbortSignal, shown: Shown): AsyncGenerator<string> {
  const ended = new Promise<'ended'>(done => signal.addEventListener('abort', () => done('ended')));
  const iterator = events[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<unknown>> | undefined;
  try {
    for (;;) {
      next ??= iterator.next();
      let timer: NodeJS.Timeout | undefined;
      const idle = new Promise<undefined>(done => (timer = setTimeout(done, heartbeatMs, undefined)));
      const got = signal.aborted ? 'ended' : await Promise.race([next, idle, ended]);
      clearTimeout(timer);
      if (got === 'ended') return;
      if (!got) yield ': still here\n\n';
      else if (got.done) return;
      else {
        next = undefined;
        yield `data: ${JSON.stringify(shown(got.value))}\n\n`;
      }
    }
  } finally {
    // it may wait for something yet: the reader does not
    void iterator.return?.(undefined)?.catch(() => {});
    next?.catch(() => {});
  }
}

/** What spreadsheets take for a formula (OWASP, CSV injection): full-width signs too, and whatever stands before them unseen. */
const formula = /^([\s\p{Cf}]*[=+\-@＝＋－＠]|[\t\r\n])/u;

/** One line of a CSV (RFC 4180); a spreadsheet must not take a customer's text for a formula. */
export function csvLine(cells: readonly (string | number | boolean)[]): string {
  const cell = (value: string | number | boolean) => {
    const text = typeof value === 'string' && formula.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return `${cells.map(cell).join(',')}\r\n`;
}
