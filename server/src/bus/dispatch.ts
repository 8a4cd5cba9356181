/**
 * Commands that tasks wrote down for nodes → the bus, and what nodes say became of them → the rows. A command is sent again until its node
 * has answered, or its time is over: it names its row, and a node does each once. Several processes may.
 */
import type { NatsConnection } from '@nats-io/transport-node';
import type { Queryable } from '../compile/load.ts';
import { listen } from '../store/db.ts';
import { send } from './commands.ts';
import type { Signer } from './credentials.ts';
import { busEvents } from './settle.ts';
import { isHeard, saysWell } from '../kit/node-well.ts';

/** An answer comes within milliseconds, or after a node is back. */
const againSeconds = 3;
const lookMs = 1000;
const atOnce = 500;

interface DispatchOptions {
  databaseUrl: string;
  db: Queryable;
  nats: NatsConnection;
  signer: Signer;
  log?: (message: string) => void;
}

export function startDispatch({ databaseUrl, db, nats, signer, log = () => {} }: DispatchOptions): { stop(): Promise<void> } {
  let stopped = false;
  let working: Promise<void> | undefined;
  let isAsked = false;
  let told = '';
  const answers = new Set<Promise<void>>();

  /** Held and numbered in one statement: no other process sends the same one meanwhile, and an answer finds its number written down. */
  async function round(): Promise<boolean> {
    const { rows } = await db.query({
      name: 'commands-due',
      text: `with due as (
         select id from "nodeCommand" where "endedAt" is null and "expiresAt" > clock_timestamp()
           and ("sentAt" is null or "sentAt" < clock_timestamp() - ${againSeconds} * interval '1 second')
           -- one that was ill, and is silent or well by now, is not to obey in the moment when it is back
           and (verb <> 'rollback' or exists (select from node n where n.id = "nodeID" and ${isHeard('n')} and not ${saysWell('n')}))
         order by id limit ${atOnce} for update skip locked
       ), numbered as (
         select id, (extract(epoch from clock_timestamp()) * 1000000)::bigint + row_number() over (order by id) as count from due
       )
       update "nodeCommand" c set "sentAt" = clock_timestamp(), counts = c.counts || n.count from numbered n where c.id = n.id
       returning c.counts[1] as id, c."nodeID", c.verb, c.body, n.count`,
      values: [],
    });
    // By its first number, which the clock gave: rows are numbered anew after a restore, and in another installation, and a node
    // remembers which it has done. And: the statement's columns; a node takes them by rising numbers alone
    const due = (rows as { id: string; nodeID: string; verb: string; body: object; count: string }[])
      .map(row => ({ id: Number(row.id), nodeID: Number(row.nodeID), verb: row.verb, body: row.body, count: Number(row.count) }))
      .sort((a, b) => a.count - b.count);
    for (const { id, nodeID, verb, count, body } of due)
      send({ nats, signer }, { nodeID, verb, count, body: JSON.stringify({ ...body, id }) });
    return due.length === atOnce;
  }

  const expire = () =>
    db.query({
      name: 'commands-over',
      text: `update "nodeCommand" set "endedAt" = clock_timestamp() where "endedAt" is null and "expiresAt" <= clock_timestamp()`,
      values: [],
    });

  async function work(): Promise<void> {
    do {
      isAsked = false;
      try {
        // what is published while the bus is away would wait in the client and arrive late
        if (!nats.isClosed()) while (!stopped && (await round()));
        await expire();
        told = '';
      } catch (error) {
        const message = String(error);
        if (message !== told && !stopped) log(`commands to nodes: ${message}`);
        told = message;
      }
    } while (isAsked && !stopped);
  }
  function look(): void {
    isAsked = true;
    working ??= work().finally(() => (working = undefined));
  }

  async function answered(
    nodeID: number,
    { count, ok, why }: { count: number; ok: boolean; why?: string | undefined },
  ): Promise<void> {
    try {
      await db.query({
        name: 'command-answered',
        text: `update "nodeCommand" set "endedAt" = clock_timestamp(), ok = $3, why = $4
          where "nodeID" = $1 and "endedAt" is null and $2::bigint = any(counts)`,
        values: [nodeID, count, ok, why ?? null],
      });
    } catch (error) {
      log(`answer of node ${nodeID}: ${String(error)}`); // it is asked again
    }
  }
  const heard = (nodeID: number, answer: { count: number; ok: boolean; why?: string | undefined }) => {
    const one = answered(nodeID, answer);
    answers.add(one);
    void one.finally(() => answers.delete(one));
  };
  busEvents.on('answer', heard);
  const notices = listen(databaseUrl, ['node_command'], look);
  const timer = setInterval(look, lookMs);

  return {
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      busEvents.off('answer', heard);
      await notices.stop();
      await working;
      await Promise.all(answers);
    },
  };
}
