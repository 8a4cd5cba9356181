/** Answers that go on, events and files in pieces: few for each account, and none outlives the right to it. */
import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { Fail } from '#contract/errors.ts';
import { streams as limits } from '#contract/limits.ts';
import { queueOf } from './metrics.ts';

/** How many each account has open in this process. */
const open = new Map<number, number>();
queueOf('eventStreams', open, all => ({ waiting: 0, running: [...all.values()].reduce((sum, one) => sum + one, 0) }));

function enter(accountID: number): () => void {
  const count = open.get(accountID) ?? 0;
  if (count >= limits.perAccountMax)
    throw new Fail('parameter', {
      status: 429,
      errorData: [{ path: '', rule: 'tooManyStreams', bounds: { n: limits.perAccountMax } }],
    });
  open.set(accountID, count + 1);
  let isIn = true;
  return () => {
    if (!isIn) return;
    isIn = false;
    const left = open.get(accountID)! - 1;
    if (left) open.set(accountID, left);
    else open.delete(accountID);
  };
}

export interface Stream {
  accountID: number;
  /** Begins to send; it goes on until its end, or `signal`. */
  send(signal: AbortSignal): Promise<Readable>;
  /** Throws once the reader may no longer read: signed out, paused, expired, or the row is no longer its. */
  check(): Promise<void>;
}

/** Sends until the end, or the reader leaves or may read no longer. */
export async function sendStream(reply: FastifyReply, stream: Stream) {
  const leave = enter(stream.accountID);
  const end = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let isChecking = false;
  const stop = () => {
    clearInterval(timer);
    leave();
    end.abort();
  };
  reply.raw.once('close', stop);
  try {
    const sent = await stream.send(end.signal);
    sent.once('close', stop);
    if (end.signal.aborted) return reply;
    timer = setInterval(() => {
      if (isChecking) return;
      isChecking = true;
      stream.check().then(() => (isChecking = false), stop);
    }, limits.checkMs);
    return reply;
  } catch (error) {
    stop();
    throw error;
  }
}
