/** Rows out of PostgreSQL for the compiler: one statement per kind, whatever the number of entities. */
import type { DocumentKind } from '#contract/edge/kinds/index.ts';
import { type RowOf, sources } from './compile.ts';
import type { Loaded } from './source.ts';

/** What a `pg` pool or client offers. A statement with a name is planned once per connection. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  query(statement: { name?: string; text: string; values?: unknown[] }): Promise<{ rows: unknown[] }>;
}

/** @returns by id; who is missing from the answer is gone */
export async function load<K extends DocumentKind>(
  db: Queryable,
  kind: K,
  ids: number[],
): Promise<Map<number, Loaded<RowOf<K>>>> {
  if (!ids.length) return new Map();
  const { rows } = await db.query({ name: `load-${kind}`, text: sources[kind].text, values: [ids] });
  return new Map(
    (rows as Loaded<RowOf<K>>[]).map(loaded => [
      Number(loaded.id),
      {
        ...loaded,
        id: Number(loaded.id),
        zoneID: Number(loaded.zoneID),
        siteID: loaded.siteID === null ? null : Number(loaded.siteID),
        revision: Number(loaded.revision),
      },
    ]),
  );
}
