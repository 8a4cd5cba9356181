/**
 * What a kind of document is. One file of this folder declares one kind, and every reader derives from it: subjects, the server's
 * compilers (server/src/compile/kinds/<name>.ts), the agent's checks and record keys, and what a document may weigh.
 *
 * A field that is not part of a document's identity is optional or has a default: a node reads what servers of other releases made.
 */
import * as z from 'zod/mini';
import type { ListRows } from '../../kit/site-list.ts';

/** What a document hangs on: its id is the id of that row. */
export const hangsOn = ['domain', 'site', 'zone', 'module', 'certificate', 'port', 'node'] as const;

export interface Kind {
  name: string;
  on: (typeof hangsOn)[number];
  /** A part of the site: the site's document says whether there is one, and without it the site is not served. */
  isPart: boolean;
  schema: z.ZodMiniType;
  /** of the JSON text; the rows' own limits keep it below, the compiler holds it */
  bytesMax: number;
  /** of the record in nginx's dictionary: a letter, a colon, printable text */
  key(document: never): string;
  /** of further records that it shares with other documents of its kind: who has the same key says the same */
  more?(document: never): string[];
  /**
   * Names of fields that every document of this kind has had since there was one, on whatever level: identity. Each other field is
   * optional or has a default, so that what other releases wrote is read (a test takes them out one by one).
   */
  keys: readonly string[];
  /** says nothing, so no such document stands anywhere; absent: it always says something */
  empty?(document: never): boolean;
}

/** Declares a kind and keeps what is known of its types. */
export const kind = <const Name extends string, Schema extends z.ZodMiniType, const Part extends boolean = false>(facts: {
  name: Name;
  on: Kind['on'];
  isPart?: Part;
  schema: Schema;
  bytesMax: number;
  keys?: readonly string[];
  key(document: z.output<Schema>): string;
  more?(document: z.output<Schema>): string[];
  empty?(document: z.output<Schema>): boolean;
}) => ({ isPart: false as Part, keys: [] as readonly string[], ...facts });

export const id = z.int().check(z.gte(1));
export const text = (max: number) => z.string().check(z.maxLength(max));
/** Goes into a record's key or a header line: printable ASCII without spaces */
export const hostText = z.string().check(z.maxLength(253), z.regex(/^[!-~]*$/));

/** What every document begins with. */
export const head = { v: z.literal(1), rev: z.int(), id };
/** `{"v":1,"rev":…,"id":…,"<name>":[]}` */
export const headBytes = 200;

/** Parts of a site have their keys from kind and site: `p:blacklists:31`. */
export const partKey =
  (name: string) =>
  ({ id: siteID }: { id: number }): string =>
    `p:${name}:${siteID}`;

/**
 * A list of a site: the rows of one table, each of them an item.
 * @param keys of an item, which none was ever without
 * @param rowsBytesMax what the table's rows of one site may weigh (kit/table.ts); an item is never longer than its row
 * @param rows absent: a compiler of its own makes items of rows (server/src/compile/kinds/<name>.ts)
 */
export function listKind<
  const Name extends string,
  Item extends z.ZodMiniObject,
  const Rows extends ListRows | undefined = undefined,
>(name: Name, item: Item, { rowsBytesMax, keys, rows }: { rowsBytesMax: number; keys: readonly string[]; rows?: Rows }) {
  const items = z._default(z.array(item), []);
  // TypeScript takes a computed key for any text.
  const schema = z.object({ ...head, [name]: items } as unknown as typeof head & Record<Name, typeof items>);
  return {
    ...kind({
      name,
      on: 'site',
      isPart: true,
      schema,
      keys,
      bytesMax: rowsBytesMax + headBytes,
      key: document => partKey(name)(document as { id: number }),
      empty: document => (document as Record<Name, unknown[]>)[name].length === 0,
    }),
    rowsBytesMax,
    item,
    // absent where nothing was said
    rows: rows as Rows,
  };
}
