/**
 * Of several ingests one works and the others wait: two fence each other every few seconds, which loses nothing and costs both. The
 * database's session holds the place, so one that is frozen loses it within seconds. While the database is away nobody waits: then the
 * manifest alone sees to it that each line is stored once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { WatchedClient } from '../store/mute.ts';

/** Any number; it names "ingest" among PostgreSQL's advisory locks. */
const lockKey = 72_013;
const seconds = 8;
const pingMs = 2000;
const standbyMs = 500;

export class Lease {
  readonly #databaseUrl: string;
  readonly #turn: () => void;
  #client: WatchedClient | undefined;
  #ping: NodeJS.Timeout | undefined;

  /** @param turn called while it waits */
  constructor(databaseUrl: string, turn: () => void = () => {}) {
    this.#databaseUrl = databaseUrl;
    this.#turn = turn;
  }

  /** Whether it has the place, as far as it knows. */
  get isHeld(): boolean {
    return this.#client !== undefined;
  }

  /** Waits for the place; ends without it when the database is away, or when it is told to. */
  async wait(isOver: () => boolean): Promise<void> {
    if (this.#client) return;
    const client = new WatchedClient({
      connectionString: this.#databaseUrl,
      application_name: 'breakwater-ingest-lease',
      keepAlive: true,
      connectionTimeoutMillis: 5000,
    });
    const forget = () => {
      if (this.#client !== client) return;
      this.#client = undefined;
      clearInterval(this.#ping);
    };
    client.on('error', forget);
    client.on('end', forget);
    try {
      await client.connect();
      for (;;) {
        const { rows } = await client.query('select pg_try_advisory_lock($1) as held', [lockKey]);
        if ((rows as { held: boolean }[])[0]!.held) break;
        if (isOver()) return await client.end();
        this.#turn();
        await delay(standbyMs);
      }
      await client.query(`set idle_session_timeout = '${seconds}s'`);
      this.#client = client;
      this.#ping = setInterval(() => void client.query('select 1').catch(forget), pingMs);
      this.#ping.unref();
    } catch {
      await client.end().catch(() => {}); // the database is away
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#ping);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }
}
