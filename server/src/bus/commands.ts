/** Commands to a node: signed, void after a while, and each with a number higher than the one before, so that a replay does nothing. */
import type { NatsConnection } from '@nats-io/transport-node';
import { subjects } from '#contract/edge/subjects.ts';
import type { Queryable } from '../compile/load.ts';
import type { Signer } from './credentials.ts';

/** As long as a node's clock may be wrong when it proves who it is. */
const validMs = 5 * 60_000;

/**
 * Sends a command; a node that is away misses it.
 * @returns its number: the node's answer names it
 */
export async function command(
  { db, nats, signer }: { db: Queryable; nats: NatsConnection; signer: Signer },
  nodeID: number,
  verb: string,
  body = '',
): Promise<number> {
  // The database's clock: one for all servers, and later than before also when a backup was restored.
  const { rows } = await db.query({
    name: 'command',
    text: `select (extract(epoch from clock_timestamp()) * 1000000)::bigint as count`,
    values: [],
  });
  const count = Number((rows[0] as { count: string }).count);
  send({ nats, signer }, { nodeID, verb, body, count });
  return count;
}

/** @param count microseconds since 1970 by the database's clock, higher than of any command this node was sent before */
export function send(
  { nats, signer }: { nats: NatsConnection; signer: Signer },
  { nodeID, verb, body, count }: { nodeID: number; verb: string; body: string; count: number },
): void {
  const what = { node: nodeID, verb, expires: Math.floor(count / 1000) + validMs, count, body };
  nats.publish(subjects.command(nodeID, verb), JSON.stringify({ ...what, signature: signer.command(what) }));
}
