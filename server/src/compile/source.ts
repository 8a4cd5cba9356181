/**
 * How the documents of one kind come out of PostgreSQL: one statement for however many, and a pure function. One file of `kinds/` holds
 * both for one kind, and its row type: what the statement gives is what the function reads, and golden files write it by hand.
 */
import type { DocumentKind, DocumentOf, PartKind } from '#contract/edge/kinds/index.ts';

/** What every statement answers of an entity that has, or may have, a document. Who is missing from the answer is gone. */
export interface Loaded<Row> {
  id: number;
  zoneID: number;
  /** whose change it is; null: of no site alone */
  siteID: number | null;
  revision: number;
  /** What other documents take from it: when this changes they are compiled too. */
  inherited: string;
  row: Row;
}

export interface Source<K extends DocumentKind, Row> {
  /** Columns id, "zoneID", "siteID", revision, inherited, row (jsonb) of the entities `any($1::bigint[])`. */
  text: string;
  /** Pure. Leaves its rows as they were. */
  compile(loaded: Loaded<Row>): DocumentOf<K>;
}
/** A part also says, as SQL over the site `s`, whether there is one: the site's document names it. */
export interface PartSource<K extends PartKind, Row> extends Source<K, Row> {
  present: string;
}

export const headOf = ({ revision, id }: Pick<Loaded<unknown>, 'revision' | 'id'>) => ({ v: 1, rev: revision, id }) as const;

const servedSite = `site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID" join zone z on z.id = g."zoneID"`;

/** Sites that can be served: not deleted, with a product, its group and its zone. */
export const ofSites = (row: string, inherited = `''`) =>
  `select s.id, g."zoneID", s.id as "siteID", s.revision, ${inherited} as inherited, ${row} as row from ${servedSite}
   where s.id = any($1::bigint[]) and s."deletedAt" is null and z."deletedAt" is null`;

/** What hangs on such a site. */
export const belowSites = (table: string, alias: string, row: string, where = 'true') =>
  `select ${alias}.id, g."zoneID", s.id as "siteID", s.revision, '' as inherited, ${row} as row
   from ${table} ${alias} join ${servedSite.replace('site s', `site s on s.id = ${alias}."siteID"`)}
   where ${alias}.id = any($1::bigint[]) and ${alias}."deletedAt" is null and s."deletedAt" is null and z."deletedAt" is null and ${where}`;

/** Rows as a JSON array; none: an empty one. */
export const arrayOf = (select: string) => `coalesce((select jsonb_agg(to_jsonb(r)) from (${select}) r), '[]')`;

/** Of the rows of a table that hang on a site, those that are switched on. */
export function siteList<K extends PartKind, Row>(
  table: string,
  columns: readonly (keyof Row & string)[],
  compile: (rows: Row[], head: { v: 1; rev: number; id: number }) => DocumentOf<K>,
  /** the column that says when a row ends: what is over is in no document, also before it is removed */
  expires?: string,
): PartSource<K, Row[]> {
  const goesOn = expires === undefined ? '' : ` and (x."${expires}" is null or x."${expires}" > now())`;
  const where = `from "${table}" x where x."siteID" = s.id and x."deletedAt" is null and x.enabled${goesOn}`;
  return {
    text: ofSites(arrayOf(`select ${columns.map(column => `x."${column}"`).join(', ')} ${where}`)),
    present: `exists (select ${where})`,
    compile: loaded => compile([...loaded.row], headOf(loaded)),
  };
}

/** In the order they were made. */
export const byID = (a: { id: number }, b: { id: number }) => a.id - b.id;
