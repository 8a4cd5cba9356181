/**
 * NATS has no limit on how fast a client sends. Each flood ends in a stream that refuses it, but refusing costs too; so whoever sends far
 * more than a node ever has to is named and cut off for a while, and the operator sees it on the node.
 */
import type { Queryable } from '../compile/load.ts';
import { counter } from '../kit/metrics.ts';
import { type BusKeys, nodeAccount } from './credentials.ts';
import { busEvents } from './settle.ts';
import type { Connection, SystemBus } from './system.ts';

/** A node sends a few messages a second, and at most some tens of megabytes when it catches up with its log. */
export interface FloodLimits {
  messagesPerSecond: number;
  bytesPerSecond: number;
}
export const floodLimits: FloodLimits = { messagesPerSecond: 2000, bytesPerSecond: 128 * 2 ** 20 };
const checkMs = 1000;
/** A node that floods again is cut off for longer: 30 s, 1 min, … 1 h. */
const cutSeconds = { first: 30, most: 3600 };

const floods = counter('bus_floods_total', 'Nodes cut off the bus because they flooded it');

export interface WatchdogOptions {
  db: Queryable;
  keys: BusKeys;
  system(): SystemBus | undefined;
  limits?: FloodLimits;
  log?: (message: string) => void;
}

export function startWatchdog({ db, keys, system, limits = floodLimits, log = () => {} }: WatchdogOptions): {
  stop(): Promise<void>;
} {
  /** What each connection had sent when it was last looked at. */
  let before = new Map<number, Connection>();
  let at = performance.now();
  let running: Promise<void> | undefined;
  let told = '';

  async function look(): Promise<void> {
    const bus = system();
    if (!bus) return;
    const now = performance.now();
    const list = await bus.connections();
    const seconds = Math.max(0.2, (now - at) / 1000);
    at = now;
    const rates = new Map<string, { messages: number; bytes: number }>();
    for (const one of list) {
      if (!one.account) continue;
      const old = before.get(one.cid);
      const rate = rates.get(one.account) ?? { messages: 0, bytes: 0 };
      rate.messages += (one.in_msgs - (old?.in_msgs ?? 0)) / seconds;
      rate.bytes += (one.in_bytes - (old?.in_bytes ?? 0)) / seconds;
      rates.set(one.account, rate);
    }
    before = new Map(list.map(one => [one.cid, one]));
    const loud = [...rates].filter(([, rate]) => rate.messages > limits.messagesPerSecond || rate.bytes > limits.bytesPerSecond);
    if (!loud.length) return;
    const { rows } = await db.query(`select id from node where "deletedAt" is null and "publicKey" is not null`);
    const nodes = new Map((rows as { id: string }[]).map(({ id }) => [nodeAccount(keys, Number(id)).publicKey, Number(id)]));
    for (const [account, rate] of loud) {
      const nodeID = nodes.get(account);
      if (nodeID !== undefined) await cut(nodeID, rate); // our own account may be as loud as it needs
    }
  }

  async function cut(nodeID: number, rate: { messages: number; bytes: number }): Promise<void> {
    const what = `it flooded the bus: ${Math.round(rate.messages)} messages and ${Math.round(rate.bytes / 1024)} kB in a second`;
    const { rows } = await db.query(
      `update node set floods = floods + 1, status = case when status = 'paused' then status else 'natsError' end, "busProblem" = $2,
         "cutUntil" = clock_timestamp() + interval '1 second' * least($4, $3 * power(2, least(floods, 10)))
       where id = $1 and "deletedAt" is null and ("cutUntil" is null or "cutUntil" < clock_timestamp()) returning status`,
      [nodeID, what, cutSeconds.first, cutSeconds.most],
    );
    const row = rows[0] as { status: string } | undefined;
    if (!row) return; // another process was faster
    floods.inc();
    log(`node ${nodeID} is cut off the bus: ${what}`);
    await db.query(`select pg_notify('node', $1)`, [`${nodeID} ${row.status}`]);
    busEvents.emit('node', nodeID, row.status);
  }

  const timer = setInterval(() => {
    running ??= look()
      .then(() => (told = ''))
      .catch((error: Error) => {
        if (error.message !== told) log(`watchdog of the bus: ${error.message}`);
        told = error.message;
      })
      .then(() => (running = undefined));
  }, checkMs);
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}
