/**
 * Nodes' accounts on the bus follow their rows: made when a node joins, given another import when it moves, shut while it is cut off,
 * deleted when it is removed. All of them are looked at when a server starts, when the bus was away (it may have come back empty), when a
 * row changes, and once a minute. Several processes may: statements are equal for equal rows.
 */
import type { Queryable } from '../compile/load.ts';
import { listen } from '../store/db.ts';
import { type BusKeys, type NodePlace, accountsOf, nodeAccount, nodeStatement } from './credentials.ts';
import { type SystemBus, openSystem } from './system.ts';
import type { BusTls } from './tls.ts';

export interface AccountOptions {
  databaseUrl: string;
  db: Queryable;
  natsUrl: string;
  tls?: BusTls | undefined;
  keys: BusKeys;
  log?: (message: string) => void;
}
export interface Accounts {
  /** Waits until the bus knows this node as its row says it, a little while at most. */
  settled(nodeID: number): Promise<void>;
  /** The connection to the system account, when there is one. */
  system(): SystemBus | undefined;
  stop(): Promise<void>;
}

const checkMs = 60_000;
const retryMs = 1000;
const settleMs = 3000;
/** Statements under way at once. */
const inFlight = 32;

export function startAccounts({ databaseUrl, db, natsUrl, tls, keys, log = () => {} }: AccountOptions): Accounts {
  let stopped = false;
  let system: SystemBus | undefined;
  let running: Promise<void> | undefined;
  /** undefined: all of them */
  let wanted: Set<number> | undefined = new Set();
  let timer: NodeJS.Timeout | undefined;
  let told = '';
  /** What the bus was told in this life of the connection. */
  const known = new Map<number, string>();
  const ours = accountsOf(keys);

  const placesOf = async (ids: number[] | undefined): Promise<(NodePlace & { cutMs: number | null })[]> => {
    const { rows } = await db.query({
      name: 'node-places',
      text: `select id, "zoneID", greatest(0, extract(epoch from "cutUntil" - clock_timestamp()) * 1000)::float8 as "cutMs" from node
        where "deletedAt" is null and "publicKey" is not null and ($1::bigint[] is null or id = any($1))`,
      values: [ids ?? null],
    });
    return (rows as { id: string; zoneID: string | null; cutMs: number | null }[]).map(({ id, zoneID, cutMs }) => ({
      nodeID: Number(id),
      zoneID: zoneID === null ? null : Number(zoneID),
      cut: (cutMs ?? 0) > 0,
      cutMs,
    }));
  };

  async function put(bus: SystemBus, places: NodePlace[]): Promise<void> {
    for (let i = 0; i < places.length; i += inFlight)
      await Promise.all(
        places.slice(i, i + inFlight).map(async place => {
          const says = `${place.zoneID} ${place.cut}`;
          if (known.get(place.nodeID) === says) return;
          await bus.put(nodeStatement(keys, place));
          known.set(place.nodeID, says);
        }),
      );
  }

  /** @param ids undefined: all, and whatever account belongs to nobody is deleted */
  async function reconcile(ids: number[] | undefined): Promise<void> {
    const bus = (system ??= await openSystem(keys, natsUrl, tls, () => {
      known.clear();
      void look(undefined);
    }));
    const there = ids ? undefined : await bus.list();
    const places = await placesOf(ids);
    await put(bus, places);
    // A cut that ends without a change of the row.
    const next = places.filter(place => place.cut).map(place => place.cutMs!);
    if (next.length) setTimeout(() => void look(undefined), Math.min(...next) + 50).unref();
    const living = new Set(places.map(place => place.nodeID));
    const gone = ids ? ids.filter(id => !living.has(id)).map(id => nodeAccount(keys, id).publicKey) : strangers(there!, places);
    if (gone.length) await bus.remove(gone);
    for (const id of ids ?? known.keys()) if (!living.has(id)) known.delete(id);
  }
  function strangers(there: string[], places: NodePlace[]): string[] {
    const expected = new Set([ours.system, ours.account, ...places.map(place => nodeAccount(keys, place.nodeID).publicKey)]);
    return there.filter(key => !expected.has(key));
  }

  const work = async () => {
    while (!stopped && (wanted === undefined || wanted.size)) {
      const ids = wanted && [...wanted];
      wanted = new Set();
      try {
        await reconcile(ids);
        told = '';
      } catch (error) {
        wanted = undefined;
        const message = (error as Error).message;
        if (message !== told && !stopped) log(`accounts of nodes: ${message}`);
        told = message;
        again(retryMs);
        return;
      }
    }
    again(checkMs);
  };
  const again = (ms: number) => {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(() => void look(undefined), ms);
  };
  function look(nodeID: number | undefined): Promise<void> {
    if (nodeID === undefined) wanted = undefined;
    else wanted?.add(nodeID);
    return (running ??= work().finally(() => (running = undefined)));
  }

  const notices = listen(databaseUrl, ['node_account'], (_, payload) => void look(payload ? Number(payload) : undefined));
  void look(undefined);
  return {
    system: () => system,
    settled: async nodeID => {
      const limit = new Promise<void>(done => setTimeout(done, settleMs).unref());
      const done = (async () => {
        await look(nodeID);
        // It may have joined a round that had begun before.
        if (!known.has(nodeID)) await look(nodeID);
      })();
      await Promise.race([done, limit]);
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      // what asks a bus that is away is answered by this
      await Promise.all([notices.stop(), system?.close()]);
      await running;
      // it may have been opened meanwhile
      await system?.close();
    },
  };
}
