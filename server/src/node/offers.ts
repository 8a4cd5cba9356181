/**
 * Which machines of the control plane have which bundle. A node is told of one by whoever works on the task and fetches it from whichever
 * machine answers: they must all have the same, so each says what it has, and nothing is begun while they differ. Nothing is copied from
 * one to another: what is signed is what lies on the machine that signs it.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { sql } from 'kysely';
import type { NodeOffer } from '../kit/services.ts';
import { type Db, rows } from '../store/db.ts';

const sayMs = 1000;
/** One that has said nothing for so long is gone. */
const goneSeconds = 20;

export interface Differing {
  machine: string;
  /** null: it has none */
  version: string | null;
}

/** @returns machines that have another bundle than this one, or none */
export const differing = (db: Db, hash: string | undefined): Promise<Differing[]> =>
  rows<Differing>(
    db,
    sql`select distinct machine, version from "nodeOffer"
      where hash is distinct from ${hash ?? null} and "seenAt" > clock_timestamp() - ${goneSeconds} * interval '1 second' order by machine, version limit 20`,
  );

export class Offers {
  readonly #db: Db;
  readonly #offer: Pick<NodeOffer, 'held'>;
  readonly #machine: string;
  readonly #process = randomUUID();
  readonly #log: (message: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #saying: Promise<void> | undefined;
  #told = '';

  constructor(db: Db, offer: Pick<NodeOffer, 'held'>, log: (message: string) => void = () => {}, machine = hostname()) {
    this.#db = db;
    this.#offer = offer;
    this.#log = log;
    this.#machine = machine;
  }

  async start(): Promise<void> {
    await this.#say();
    this.#timer = setInterval(() => (this.#saying ??= this.#say().finally(() => (this.#saying = undefined))), sayMs);
  }
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#saying;
    // where the database is away, what we said is old soon
    await sql`delete from "nodeOffer" where process = ${this.#process}`.execute(this.#db).catch(() => {});
  }

  async #say(): Promise<void> {
    try {
      const { version = null, hash = null } = this.#offer.held() ?? {};
      await sql`insert into "nodeOffer" (process, machine, version, hash, "seenAt") values (${this.#process}, ${this.#machine}, ${version}, ${hash}, clock_timestamp())
        on conflict (process) do update set version = excluded.version, hash = excluded.hash, "seenAt" = excluded."seenAt"`.execute(
        this.#db,
      );
      await sql`delete from "nodeOffer" where "seenAt" < clock_timestamp() - interval '1 day'`.execute(this.#db);
      this.#told = '';
    } catch (error) {
      const message = String(error);
      if (message !== this.#told) this.#log(`what this machine has for nodes cannot be said: ${message}`);
      this.#told = message;
    }
  }
}
