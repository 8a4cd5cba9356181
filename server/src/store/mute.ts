/**
 * A PostgreSQL that accepts connections and answers nothing (its processes stopped, its disk hanging, its machine frozen) keeps no
 * limit of its own: `statement_timeout` is kept by whoever stands still. So what was asked and is not answered makes us ask on a
 * new connection whether there is anybody. If not, the connections that wait are cut, and whoever waits is told 101005. A statement
 * that takes long is no reason: the question beside it is answered.
 */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import pg from 'pg';

/** So long an answer may take before it is asked whether there is anybody. */
const patienceMs = 5000;
/** So long that question may take. */
const questionMs = 5000;
const lookMs = 500;

// pg has it, its types have not
const connectionOf = (client: pg.Client) => (client as unknown as { connection: EventEmitter & { stream: Socket } }).connection;

/** Ends the connection at once, without a word to the other side; what waits for it fails. */
export const cut = (client: pg.Client): void => void connectionOf(client).stream.destroy();

/** Whether a new connection is answered: a refusal (too many connections, a start under way) is an answer too. */
async function isThere(config: pg.ClientConfig): Promise<boolean> {
  const { connectionString, host, port, user, password, database, ssl } = config;
  const client = new pg.Client({
    ...(connectionString === undefined ? { host, port, user, password, database } : { connectionString }),
    ssl,
    application_name: 'breakwater-question',
    connectionTimeoutMillis: questionMs,
    query_timeout: questionMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch (error) {
    return error instanceof pg.DatabaseError;
  } finally {
    cut(client);
  }
}

/** Those who wait for an answer from one place, and since when the one question of theirs that is under way. */
interface Place {
  config: pg.ClientConfig;
  waiting: Map<pg.Client, number>;
  isAsked: boolean;
  /** when anybody was answered last */
  answeredAt: number;
}
const places = new Map<string, Place>();
let timer: NodeJS.Timeout | undefined;

function look(): void {
  for (const place of places.values()) {
    if (place.isAsked || !overdue(place).length) continue;
    place.isAsked = true;
    const askedAt = performance.now();
    void isThere(place.config).then(there => {
      place.isAsked = false;
      // under a heavy load a new connection may take longer than an answer
      if (there || place.answeredAt > askedAt) for (const client of overdue(place)) place.waiting.set(client, performance.now());
      else for (const client of overdue(place)) cut(client);
    });
  }
}
function overdue({ waiting }: Place): pg.Client[] {
  const before = performance.now() - patienceMs;
  return [...waiting].filter(([, since]) => since < before).map(([client]) => client);
}

/** For a test: since when each waits. */
export const waitingSince = (): number[] => [...places.values()].flatMap(({ waiting }) => [...waiting.values()]);

/** Watches what a client asks; call the answer before each question. */
export function watchAnswers(client: pg.Client, config: pg.ClientConfig): () => void {
  const name = JSON.stringify([config.connectionString, config.host, config.port, config.user, config.database]);
  const place = places.get(name) ?? { config, waiting: new Map<pg.Client, number>(), isAsked: false, answeredAt: -Infinity };
  places.set(name, place);
  const answered = () => void place.waiting.delete(client);
  // One question is answered; what waits behind it is asked now. A connection that always has another one never drains.
  connectionOf(client).on('readyForQuery', () => {
    place.answeredAt = performance.now();
    if (place.waiting.has(client)) place.waiting.set(client, place.answeredAt);
  });
  // all that was asked is answered
  client.on('drain', answered);
  let hasEnded = false;
  for (const event of ['end', 'error'] as const)
    client.on(event, () => {
      hasEnded = true;
      answered();
    });
  timer ??= setInterval(look, lookMs).unref();
  return () => {
    if (!hasEnded && !place.waiting.has(client)) place.waiting.set(client, performance.now());
  };
}

/** A client that does not wait for a database that stands still. */
export class WatchedClient extends pg.Client {
  readonly #asks: () => void;

  constructor(config: pg.ClientConfig = {}) {
    super(config);
    this.#asks = watchAnswers(this, config);
    // Whoever listens to it hears of its end as well. One that is cut while nobody does (in a pool, between two statements of a
    // transaction) would end the process; its next statement fails in any case.
    this.on('error', () => {});
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- pg overloads it eight ways; all pass
  override query(...args: any[]): any {
    this.#asks();
    return super.query(...(args as [string]));
  }
}
