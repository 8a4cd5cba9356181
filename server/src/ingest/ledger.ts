/**
 * What has been taken from the bus: one manifest row before each insert, in the store itself, so that the ledger is exactly as durable as
 * the rows. The row names every range of the insert; after a crash the same ranges are inserted again under the same token, which
 * changes nothing where they had arrived. The newest row is the only one that can be unfinished.
 */
import { randomBytes } from 'node:crypto';
import { logBounds } from '#contract/limits.ts';
import { type Analytics, AnalyticsError } from '../store/analytics/client.ts';
import type { Batch } from './batch.ts';
import { AsideRoom } from './aside-room.ts';
import { findRefused } from './refused.ts';

export interface ManifestRow {
  n: number;
  /** random: makes the insert's token unlike that of any other store's row n */
  id: string;
  owner: string;
  epoch: string;
  last_seq: number;
  streams: string[];
  froms: number[];
  tos: number[];
  /** when it was written; not read back */
  at?: string;
}

/** Another ingest wrote the row we meant to write. */
export class FencedError extends Error {
  constructor(n: number) {
    super(`another ingest process wrote manifest row ${n}: only one may run`);
    this.name = 'FencedError';
  }
}

/** One insert must stay one block, or a token covers only a part of it. */
const oneBlock = {
  async_insert: 0,
  max_insert_threads: 1,
  max_insert_block_size: 4_000_000,
  min_insert_block_size_rows: 4_000_000,
  min_insert_block_size_bytes: 2_000_000_000,
  deduplicate_blocks_in_dependent_materialized_views: 1,
};
const rowsIn = {
  ...oneBlock,
  input_format_parallel_parsing: 0,
  // A line nobody can read must not stop all others for ever.
  input_format_allow_errors_num: 4_000_000,
  input_format_allow_errors_ratio: 1,
};

const part = 0;
/** So much of each line that is set aside is kept. */
const asideLineBytes = 2048;

export class Ledger {
  readonly owner = randomBytes(8).toString('hex');
  /** the newest row, finished or not */
  last: ManifestRow | undefined;
  #db: Analytics;
  #room = new AsideRoom();
  /** what is kept of a batch: the same when it is inserted again */
  readonly #kept = new WeakMap<Batch, Buffer>();

  constructor(db: Analytics) {
    this.#db = db;
  }

  /** Reads the newest row and how far each stream is taken (that row included). */
  async load(): Promise<Map<string, number>> {
    const columns = 'n, id, owner, epoch, last_seq, streams, froms, tos';
    // A crash may have come between the manifest and its views: the table itself has the last word on the newest rows.
    const rows = await this.#db.query<ManifestRow>(
      `SELECT ${columns} FROM (SELECT * FROM manifest WHERE part = {part:UInt16} ORDER BY n DESC LIMIT 2 UNION ALL SELECT * FROM manifest_last WHERE part = {part:UInt16}) ORDER BY n`,
      { part },
    );
    const marks = await this.#db.query<{ stream: string; mark: number }>(
      `SELECT stream, max(m.mark) AS mark FROM marks AS m WHERE m.part = {part:UInt16} GROUP BY stream
       ORDER BY max(m.at) DESC LIMIT ${logBounds.filesPerNodeMax} BY substringIndex(stream, '/', 1)`,
      { part },
    );
    // the longest untouched first, as positions.ts forgets them
    const taken = new Map(marks.reverse().map(m => [m.stream, m.mark]));
    for (const row of rows)
      for (const [i, stream] of row.streams.entries()) taken.set(stream, Math.max(taken.get(stream) ?? 0, row.tos[i]!));
    this.last = rows.at(-1);
    this.#room = await AsideRoom.read(this.#db);
    return taken;
  }

  /** Writes the next row; throws FencedError when somebody else did. May be repeated after any other error. */
  async write(row: ManifestRow, batch: Batch): Promise<void> {
    const line = { part, ...row, lines: batch.counted, torn: batch.torn, lost: batch.lost };
    await this.#db.insert('manifest', 'JSONEachRow', Buffer.from(`${JSON.stringify(line)}\n`), {
      ...oneBlock,
      insert_deduplication_token: `m${part}-${row.n}-${this.last?.id ?? ''}`,
    });
    const [found] = await this.#db.query<{ id: string }>(
      'SELECT id FROM manifest WHERE part = {part:UInt16} AND n = {n:UInt64}',
      { part, n: row.n },
    );
    if (found?.id !== row.id) throw new FencedError(row.n);
    this.last = row;
  }

  /** Whether the newest row is the one this knows: nobody else works meanwhile. */
  async isNewest(): Promise<boolean> {
    const [found] = await this.#db.query<{ n: number; id: string }>(
      'SELECT n, id FROM manifest WHERE part = {part:UInt16} ORDER BY n DESC LIMIT 1',
      { part },
    );
    return found?.id === this.last?.id;
  }

  /** The row that would name this batch. */
  next(batch: Batch, epoch: string): ManifestRow {
    const entries = [...batch.ranges];
    return {
      n: (this.last?.n ?? 0) + 1,
      id: randomBytes(8).toString('hex'),
      owner: this.owner,
      epoch,
      last_seq: batch.lastSeq,
      streams: entries.map(([stream]) => stream),
      froms: entries.map(([, range]) => range.from),
      tos: entries.map(([, range]) => range.to),
      at: new Date().toISOString().slice(0, 23).replace('T', ' '),
    };
  }

  /** Inserts the lines a row names, and what was set aside of them. May be repeated as often as it takes. */
  async insert(row: ManifestRow, batch: Batch): Promise<void> {
    const token = (kind: string) => ({ insert_deduplication_token: `${kind}${part}-${row.n}-${row.id}` });
    try {
      await this.#rows('access_in', batch.body(), token('p'));
    } catch (error) {
      if (!(error instanceof AnalyticsError)) throw error;
      // One line that the store cannot take must not hold up all others: it is found, and the rest is inserted under the same token,
      // so that a table that had taken its part already does not take it twice.
      const refused = await findRefused(error, batch.split(), lines => this.#rows('probe_in', lines, {}));
      if (refused.size === 0) throw error;
      batch.reject(refused);
      await this.#rows('access_in', batch.body(), token('p'));
    }
    const counts = batch.asideCounts();
    if (counts.length === 0) return;
    const json = (lines: readonly object[]) => Buffer.from(lines.map(line => `${JSON.stringify(line)}\n`).join(''));
    const kept =
      this.#kept.get(batch) ??
      json(
        batch
          .asideLines(({ nodeID, receivedAt, line }) =>
            this.#room.take(nodeID, receivedAt, Math.min(line.length, asideLineBytes)),
          )
          .map(({ nodeID, reason, receivedAt, line }) => ({
            at: receivedAt.toFixed(3),
            node: nodeID,
            reason,
            line: line.subarray(0, asideLineBytes).toString('latin1').trimEnd(),
          })),
      );
    this.#kept.set(batch, kept);
    if (kept.length > 0) await this.#db.insert('aside', 'JSONEachRow', kept, { ...oneBlock, ...token('a') });
    await this.#db.insert('aside_n', 'JSONEachRow', json(counts), { ...oneBlock, ...token('c') });
  }

  async #rows(table: string, body: readonly Buffer[], token: { insert_deduplication_token?: string }) {
    if (body.length > 0) await this.#db.insert(table, 'TSV', body, { ...rowsIn, ...token });
  }
}
