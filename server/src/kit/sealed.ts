/**
 * Columns that are encrypted at rest (`sealed` of a table). The stored text says with which key: `bw1.<key>.<nonce, tag, text>`, and holds
 * in its own column alone. Keys come from the installation's (secret.key); with several the first seals, all of them open, and what the
 * others sealed is sealed anew at the start (resealed), as is what an earlier release kept in the open.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { hidden, hiddenOther, isHidden } from '#contract/kit/hidden.ts';
import { isSetName } from '#contract/kit/secret.ts';
import { type Db, rows } from '../store/db.ts';
import type { Keys } from './crypto.ts';
import { declaredTables } from './table.ts';

const format = 'bw1';
const nonceBytes = 12;
const tagBytes = 16;

export class Sealing {
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #current: string;
  readonly #proofs: readonly Buffer[];

  /** the key that seals, then those that only open */
  constructor(keys: readonly [Keys, ...Keys[]]) {
    const idOf = (key: Keys) => key.of('sealed-column-id').subarray(0, 4).toString('hex');
    this.#keys = new Map(keys.map(key => [idOf(key), key.of('sealed-column')]));
    this.#current = idOf(keys[0]);
    this.#proofs = keys.map(key => key.of('proof'));
  }

  /** How a text begins that the present key has sealed. */
  get prefix() {
    return `${format}.${this.#current}.`;
  }

  /** Words that this installation alone can say about something: by its present key first, then by those it had. 32 hexadecimal digits. */
  proofs(about: string): string[] {
    return this.#proofs.map(key => createHmac('sha256', key).update(about).digest('hex').slice(0, 32));
  }

  /** `place`: table and column */
  seal(place: string, text: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#keys.get(this.#current)!, nonce).setAAD(Buffer.from(place));
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return this.prefix + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
  }

  /** @throws where it was sealed with a key that is not here, in another place, or is damaged; the error holds nothing of it */
  open(place: string, stored: string): string {
    const [, id, sealed] = /^bw1\.([0-9a-f]{8})\.([\w-]+)$/.exec(stored) ?? [];
    if (id === undefined) throw new Error(`${place} holds something that is not sealed`);
    const key = this.#keys.get(id);
    if (!key) throw new Error(`${place} was sealed with the key ${id}, which is not here: restore secret.key of the same backup`);
    const bytes = Buffer.from(sealed!, 'base64url');
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes)).setAAD(Buffer.from(place));
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      throw new Error(`${place} holds what was not sealed there, or is damaged`);
    }
  }
}

type Row = Record<string, unknown>;
const isSealed = (stored: string) => /^bw1\.[0-9a-f]{8}\.[\w-]+$/.test(stored);
const placeOf = (table: string, column: string) => `${table}.${column}`;

/** What the store does with the columns a table seals. */
export class Sealed {
  readonly columns: readonly string[];
  readonly #table: string;
  readonly #sealing: Sealing;

  constructor(table: string, columns: readonly string[], sealing: Sealing) {
    this.columns = columns;
    this.#table = table;
    this.#sealing = sealing;
  }

  /** Values as they are stored; '' is none. */
  seal(values: Row): Row {
    return this.#each(values, (name, value) =>
      value === '' || value === null ? null : this.#sealing.seal(placeOf(this.#table, name), String(value)),
    );
  }

  open(name: string, stored: unknown): string | null {
    return typeof stored === 'string' ? this.#sealing.open(placeOf(this.#table, name), stored) : null;
  }

  /** A row as it leaves the store: of a secret whether it is set. */
  told<T extends Row>(values: T): T {
    const result: Row = { ...values };
    for (const name of this.columns) {
      if (!(name in result)) continue;
      result[isSetName(name)] = result[name] !== null;
      delete result[name];
    }
    return result as T;
  }

  /** Values as the audit has them. */
  marked(values: Row): Row {
    return this.#each(values, (_, value) => (isHidden(value) ? value : value === null || value === '' ? null : hidden));
  }

  /** A row and what is wished of it, with marks for secrets. One that is given is another: who sends guesses learns nothing. */
  compared(stored: Row, values: Row): { before: Row; wanted: Row } {
    const wanted = this.#each(values, (name, value) =>
      value === null || value === '' ? null : stored[name] === null ? hidden : hiddenOther,
    );
    return { before: this.marked(stored), wanted };
  }

  #each(values: Row, change: (name: string, value: unknown) => unknown) {
    const result = { ...values };
    for (const name of this.columns) if (result[name] !== undefined) result[name] = change(name, result[name]);
    return result;
  }
}

const batch = 200;
/**
 * Seals what stands in the open or was sealed with another key of ours, in rows that were removed too; answers how many values. Several
 * processes may do it at once.
 */
export async function resealed(db: Db, sealing: Sealing): Promise<number> {
  const places = new Map(
    declaredTables.flatMap(({ table, sealed = [] }) => sealed.map(column => [placeOf(table, column), { table, column }])),
  );
  let count = 0;
  for (const [place, { table, column }] of places)
    for (;;) {
      const done = await db.transaction().execute(async transaction => {
        const found = await rows<{ id: number; value: string }>(
          transaction,
          sql`select id, ${sql.ref(column)} as value from ${sql.table(table)}
              where not starts_with(${sql.ref(column)}, ${sealing.prefix}) order by id limit ${batch} for no key update`,
        );
        for (const { id, value } of found) {
          const text = isSealed(value) ? sealing.open(place, value) : value;
          await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${text === '' ? null : sealing.seal(place, text)} where id = ${id}`.execute(
            transaction,
          );
        }
        return found.length;
      });
      count += done;
      if (done < batch) break;
    }
  return count;
}
