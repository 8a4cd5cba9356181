/**
 * Statements that come again are prepared: PostgreSQL then parses and plans each once per connection, which for a page
 * with computed columns is half of its work. Texts hold no values, so there are as many as there are combinations of
 * filters and columns; only those seen before get a name, and no more than `namesMax`.
 */
import { WatchedClient } from './mute.ts';

const namesMax = 1000;
const seenMax = 5000;

const names = new Map<string, string>();
let seen = new Set<string>();
let generation = 0;

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (!seen.has(text)) {
    // once is no habit
    if (seen.size >= seenMax) seen = new Set();
    seen.add(text);
    return undefined;
  }
  if (names.size >= namesMax) return undefined;
  const name = `s${generation}_${names.size}`;
  names.set(text, name);
  seen.delete(text);
  return name;
}

/** The columns of a table changed under a prepared `select t.*`: every statement is prepared anew, under new names. */
function forget() {
  names.clear();
  generation++;
}

/** What a text begins with that is of its own length each time: it would push out what comes again. */
export const once = '/* once */';

/** A client of the pool that prepares what kysely sends, `query(text, values)`, and does not wait for a database that stands still. */
export class PreparingClient extends WatchedClient {
  // oxlint-disable-next-line typescript/no-explicit-any -- pg overloads it eight ways; only one is of interest
  override query(...args: any[]): any {
    const [text, values] = args as unknown[];
    if (args.length !== 2 || typeof text !== 'string' || !Array.isArray(values) || values.length === 0 || text.startsWith(once))
      return super.query(...(args as [string]));
    const name = nameOf(text);
    if (name === undefined) return super.query(text, values);
    return super.query({ name, text, values }).catch((error: unknown) => {
      if ((error as { code?: string }).code === '0A000') forget();
      throw error;
    });
  }
}
