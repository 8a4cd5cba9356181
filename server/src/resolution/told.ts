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
/** An earlier release beside this one writes its error alone: what stands there of another is not what it says. */
const isCurrent = ({ error, errorSaid, refused }: Omit<ToldZone, 'refusedCount'>): boolean =>
  refused.length > 0 ? refused[0]!.why === error : saidText(errorSaid, 'en_US', error) === error;
export function errorIn(zone: ToldZone, language: Language): string {
  const { error, errorSaid, refusedCount } = zone;
  if (!isCurrent(zone)) return error.slice(0, most).toWellFormed();
  const text = saidText(errorSaid, language, error);
  const more = refusedCount - 1;
  return (more > 0 ? saidText({ code: 'andMore', bounds: { text, count: more } }, language) : text).slice(0, most).toWellFormed();
}
export const refusedIn = (zone: ToldZone, language: Language) =>
  (isCurrent(zone) ? zone.refused : []).map(({ name, why, said }) => ({
    name,
    why: saidText(said, language, why).slice(0, most).toWellFormed(),
  }));

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
