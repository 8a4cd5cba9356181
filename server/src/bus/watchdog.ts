/**
 * NATS has no limit on how fast a client sends. Each flood ends in a stream that refuses it, but refusing costs too; so whoever sends far
 * more than a node ever has to is named and cut off for a while, and the operator sees it on the node.
 */
import type { Queryable } from '../compile/load.ts';
import { eventOf } from '../kit/metrics.ts';
import { type BusKeys, nodeAccount } from './credentials.ts';
import { busEvents } from './settle.ts';
import type { AccountTraffic, SystemBus } from './system.ts';

/**
 * A node sends a few messages a second, and at most some tens of megabytes when it catches up with its log. It is sent what its zone is
 * sent, once: far more comes to one that subscribes many times.
 */
export interface FloodLimits {
  messagesPerSecond: number;
  bytesPerSecond: number;
  /** what the bus sends it */
  bytesOutPerSecond?: number;
}
export const floodLimits: FloodLimits = {
  messagesPerSecond: 2000,
  bytesPerSecond: 128 * 2 ** 20,
  bytesOutPerSecond: 512 * 2 ** 20,
};
const checkMs = 1000;
const leastSeconds = 0.2;
/** A node that floods again is cut off for longer: 30 s, 1 min, … 1 h. */
const cutSeconds = { first: 30, most: 3600 };
/** One that kept quiet for a day starts anew. */
const forgotten = `coalesce("cutUntil", '-infinity') < clock_timestamp() - interval '1 day'`;

const flooded = eventOf('bus', 'nodeCutOff');

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
  /**
   * What each account had sent when it was last looked at. Accounts, since connections come and go and may be more than a list holds; and
   * only against an earlier look, since the bus has counted for longer than this process lives.
   */
  let before = new Map<string, { at: number; one: AccountTraffic }>();
  let running: Promise<void> | undefined;
  let told = '';

  async function look(): Promise<void> {
    const bus = system();
    if (!bus) return;
    const { at, accounts } = await bus.traffic();
    const loud: [account: string, rate: Rate][] = [];
    const now = new Map<string, { at: number; one: AccountTraffic }>();
    for (const one of accounts) {
      now.set(one.acc, { at, one });
      const old = before.get(one.acc);
      const rate = old && rateOf(old.one, one, (at - old.at) / 1000);
      if (rate && exceeds(rate, limits)) loud.push([one.acc, rate]);
    }
    before = now;
    if (!loud.length) return;
    const { rows } = await db.query(`select id, "publicKey" from node where "deletedAt" is null and "publicKey" is not null`);
    const nodes = new Map(
      (rows as { id: string; publicKey: string }[]).map(({ id, publicKey }) => [
        nodeAccount(keys, { nodeID: Number(id), publicKey }).publicKey,
        Number(id),
      ]),
    );
    for (const [account, rate] of loud) {
      const nodeID = nodes.get(account);
      if (nodeID !== undefined) await cut(nodeID, rate); // our own account may be as loud as it needs
    }
  }

  async function cut(nodeID: number, rate: Rate): Promise<void> {
    const what =
      `it flooded the bus: ${Math.round(rate.messages)} messages and ${Math.round(rate.bytes / 1024)} kB in a second, ` +
      `${Math.round(rate.bytesOut / 1024)} kB to it`;
    const { rows } = await db.query(
      `update node set floods = case when ${forgotten} then 1 else floods + 1 end, status = case when status = 'paused' then status else 'natsError' end, "busProblem" = $2,
         "cutUntil" = clock_timestamp() + interval '1 second' * least($4, $3 * power(2, case when ${forgotten} then 0 else least(floods, 10) end))
       where id = $1 and "deletedAt" is null and ("cutUntil" is null or "cutUntil" < clock_timestamp()) returning status`,
      [nodeID, what, cutSeconds.first, cutSeconds.most],
    );
    const row = rows[0] as { status: string } | undefined;
    if (!row) return; // another process was faster
    flooded();
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

interface Rate {
  messages: number;
  bytes: number;
  bytesOut: number;
}

/** @returns undefined when it cannot be told: the bus began anew, and counts from 0 */
function rateOf(old: AccountTraffic, one: AccountTraffic, seconds: number): Rate | undefined {
  // a moment says nothing: what waited in a buffer comes at once
  if (!(seconds >= leastSeconds)) return undefined;
  const messages = one.received.msgs - old.received.msgs;
  const bytes = one.received.bytes - old.received.bytes;
  const bytesOut = one.sent.bytes - old.sent.bytes;
  if (messages < 0 || bytes < 0 || bytesOut < 0) return undefined;
  return { messages: messages / seconds, bytes: bytes / seconds, bytesOut: bytesOut / seconds };
}

const exceeds = (rate: Rate, limits: FloodLimits) =>
  rate.messages > limits.messagesPerSecond ||
  rate.bytes > limits.bytesPerSecond ||
  rate.bytesOut > (limits.bytesOutPerSecond ?? Number.POSITIVE_INFINITY);
