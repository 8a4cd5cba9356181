/** How many rows there may be below one other, and what they may weigh together: the document they go into has no room for more. */
import { sql } from 'kysely';
import { Fail } from '#contract/errors.ts';
import { and, type Db, row, rows, type Sql } from '../store/db.ts';
import { col, type Table } from './table.ts';
import { unweighed } from './weight.ts';

type Row = Record<string, unknown>;
type Bounded = Pick<Table, 'table' | 'scope' | 'pin' | 'most' | 'bytesMax' | 'counted'>;

export const parentIDs = (column: string, all: readonly Row[]): number[] => [
  ...new Set(all.flatMap(values => (values[column] as number | undefined) ?? [])),
];
/** Whether a row counts among those that are bounded. */
export const isCounted = ({ counted }: Pick<Bounded, 'counted'>, values: Row): boolean =>
  !counted || values[counted.column] === counted.value;
function countedOnes({ pin = {}, counted }: Bounded): Sql[] {
  const wanted = [...Object.entries(pin), ...(counted ? [[counted.column, counted.value] as const] : [])];
  return wanted.map(([name, value]) => sql`${col(name)} = ${value}`);
}

/** Room for these beside those that are there. @throws Fail tooMany */
export async function checkRoom(db: Db, target: Bounded, all: readonly Row[], path: string): Promise<void> {
  const { most, scope, table } = target;
  if (most === undefined || !('parent' in scope)) return;
  const { column } = scope;
  const adding = all.filter(values => isCounted(target, values));
  const found = await rows<{ id: number; n: number }>(
    db,
    sql`select ${col(column)} as id, count(*) as n from ${sql.table(table)} as t
        where ${and([sql`${col(column)} = any(${parentIDs(column, adding)}) and t."deletedAt" is null`, ...countedOnes(target)])} group by 1`,
  );
  const counts = new Map(found.map(({ id, n }) => [id, n]));
  for (const values of adding) {
    const id = values[column] as number;
    const n = (counts.get(id) ?? 0) + 1;
    if (n > most) throw new Fail('parameter', { errorData: [{ path, rule: 'tooMany', bounds: { n: most } }] });
    counts.set(id, n);
  }
}

/**
 * What the rows of one parent weigh once they became heavier (before, an earlier release may have let in more); a refusal undoes the write.
 * @throws Fail tooLong
 */
export async function checkBytes(db: Db, target: Bounded, parents: Record<string, number>, path: string): Promise<void> {
  const { bytesMax, scope, table } = target;
  if (bytesMax === undefined || !('parent' in scope)) return;
  const { n } = (await row<{ n: number }>(
    db,
    sql`select coalesce(sum(octet_length((to_jsonb(t) - ${unweighed}::text[])::text)), 0) as n
        from ${sql.table(table)} as t
        where ${and([sql`${col(scope.column)} = ${parents[scope.column]!} and t."deletedAt" is null`, ...countedOnes(target)])}`,
  ))!;
  if (n > bytesMax) throw new Fail('parameter', { errorData: [{ path, rule: 'tooLong', bounds: { max: bytesMax } }] });
}
