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
  const known = new Map<number, { account: string; says: string }>();
  const ours = accountsOf(keys);

  const placesOf = async (ids: number[] | undefined): Promise<(NodePlace & { cutMs: number | null })[]> => {
    const { rows } = await db.query({
      name: 'node-places',
      text: `select id, "publicKey", "zoneID", greatest(0, extract(epoch from "cutUntil" - clock_timestamp()) * 1000)::float8 as "cutMs" from node
        where "deletedAt" is null and "publicKey" is not null and ($1::bigint[] is null or id = any($1))`,
      values: [ids ?? null],
    });
    return (rows as { id: string; publicKey: string; zoneID: string | null; cutMs: number | null }[]).map(
      ({ id, publicKey, zoneID, cutMs }) => ({
        nodeID: Number(id),
        publicKey,
        zoneID: zoneID === null ? null : Number(zoneID),
        cut: (cutMs ?? 0) > 0,
        cutMs,
      }),
    );
  };

  /** Derived once: it is the dearest part of looking at thousands. */
  const accounts = new Map<string, string>();
  function accountOf(place: NodePlace): string {
    const name = `${place.nodeID} ${place.publicKey}`;
    let account = accounts.get(name);
    if (!account) accounts.set(name, (account = nodeAccount(keys, place).publicKey));
    return account;
  }

  /** @param there accounts the bus has, as far as they were asked for */
  async function put(bus: SystemBus, places: NodePlace[], there: Set<string> | undefined): Promise<void> {
    for (let i = 0; i < places.length; i += inFlight)
      await Promise.all(
        places.slice(i, i + inFlight).map(async place => {
          const account = accountOf(place);
          const says = `${account} ${place.zoneID} ${place.cut}`;
          const isThere = there?.has(account) ?? true;
          if (isThere && known.get(place.nodeID)?.says === says) return;
          // The bus may have deleted it, and takes no notice of the very text it had before.
          if (!isThere && !place.cut) await bus.put(nodeStatement(keys, { ...place, cut: true }));
          await bus.put(nodeStatement(keys, place));
          known.set(place.nodeID, { account, says });
        }),
      );
  }

  /** @param ids undefined: all, and whatever account belongs to nobody is deleted */
  async function reconcile(ids: number[] | undefined): Promise<void> {
    const bus = (system ??= await openSystem(keys, natsUrl, tls, () => {
      known.clear();
      void look(undefined);
    }));
    // Before the rows are read: what another process makes meanwhile is nobody's to delete.
    const isNews = !ids || ids.some(id => !known.has(id));
    const there = isNews ? new Set(await bus.list()) : undefined;
    const places = await placesOf(ids);
    const had = new Map(known);
    await put(bus, places, there);
    // A cut that ends without a change of the row.
    const next = places.filter(place => place.cut).map(place => place.cutMs!);
    if (next.length) setTimeout(() => void look(undefined), Math.min(...next) + 50).unref();
    const expected = new Set([ours.system, ours.account, ...places.map(accountOf)]);
    const gone = ids ? ids.flatMap(id => had.get(id)?.account ?? []) : [...there!];
    const strangers = gone.filter(account => !expected.has(account));
    if (strangers.length) await bus.remove(strangers);
    const living = new Set(places.map(place => place.nodeID));
    for (const id of ids ?? known.keys()) if (!living.has(id)) known.delete(id);
    if (!ids) for (const [name, account] of accounts) if (!expected.has(account)) accounts.delete(name);
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
