/** How a connection to the bus ends: with all that is under way while the bus is there, at once when it is not. */
import { setTimeout as delay } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';

const limitMs = 1000;

/**
 * Ends the work, then the connection. What asks a bus that is away waits for its own limit, several times over: so the connection is
 * closed under it, which answers every question. Lines and words that are on their way are sent again by whoever has them.
 */
export async function closeBus(nats: NatsConnection, endWork: () => Promise<unknown>): Promise<void> {
  const work = endWork();
  let ended = false;
  const end = () => (ended = true);
  work.then(end, end);
  while (!ended && !nats.isClosed()) {
    if (!(await answers(nats))) await nats.close();
    else await Promise.race([work, delay(limitMs, undefined, { ref: false })]).catch(() => {});
  }
  try {
    await work;
  } finally {
    if (!nats.isClosed() && (await answers(nats))) await within(nats.drain());
    await nats.close();
  }
}

const within = <T>(promise: Promise<T>): Promise<T | undefined> =>
  Promise.race([promise, delay(limitMs, undefined, { ref: false })]).catch(() => undefined);

/** A connection that is down says so at once; a bus that is mute is given its time. */
const answers = async (nats: NatsConnection): Promise<boolean> => (await within(nats.rtt())) !== undefined;
