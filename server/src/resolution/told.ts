/** Why changes of a zone wait, in the language of whoever reads it. */
import { sql } from 'kysely';
import type { Language } from '#contract/kit/text.ts';
import { type DnsSaid, saidText } from '../domain/dns/said.ts';
import { type Db, rows, type Sql } from '../store/db.ts';
import type { RefusedName } from './held-back.ts';

export interface ToldZone {
  error: string;
  errorSaid: DnsSaid | null;
  refused: RefusedName[];
  refusedCount: number;
}
/** Of a zone `c`. */
export const toldColumns: Sql = sql`c.error, c."errorSaid", c.refused, c."refusedCount"`;

const most = 500;
export function errorIn({ error, errorSaid, refusedCount }: Omit<ToldZone, 'refused'>, language: Language): string {
  // an earlier release beside this one writes its error alone: what is said of another is not it
  const isSaid = saidText(errorSaid, 'en_US') === error || refusedCount > 0;
  const text = isSaid ? saidText(errorSaid, language, error) : error;
  const more = refusedCount - 1;
  return (more > 0 ? saidText({ code: 'andMore', bounds: { text, count: more } }, language) : text).slice(0, most).toWellFormed();
}
export const refusedIn = (all: readonly RefusedName[], language: Language) =>
  all.map(({ name, why, said }) => ({ name, why: saidText(said, language, why).slice(0, most).toWellFormed() }));

/** The same rows, each with its words. */
export async function withErrors<T extends { id: number; error: string }>(
  db: Db,
  zones: readonly T[],
  language: Language,
): Promise<T[]> {
  const failing = zones.filter(one => one.error !== '').map(one => one.id);
  if (!failing.length) return [...zones];
  const found = await rows<ToldZone & { id: number }>(
    db,
    sql`select c.id, ${toldColumns} from cname c where c.id = any(${failing})`,
  );
  const told = new Map(found.map(one => [one.id, errorIn(one, language)]));
  return zones.map(one => ({ ...one, error: told.get(one.id) ?? one.error }));
}
