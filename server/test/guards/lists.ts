/**
 * Every filter filters, every sort sorts: for each list a pair of rows is made, one that a filter finds and one that it does not; one that
 * comes first and one that comes last. What may be sorted by the server itself says.
 */
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import type { Mounted } from '#contract/kit/call.ts';
import type { Reply } from '../harness.ts';
import { bare, defOf, next } from './generate.ts';
import type { ListRows, Pair } from './list-rows.ts';
import { pathOf, type Rig, type World } from './world.ts';

const paging = new Set(['page', 'pageSize', 'sortBy', 'orderBy']);
const shapeOf = (schema: unknown) => (schema ? (defOf(bare(schema as z.ZodMiniType)).shape ?? {}) : {});
const elementOf = (schema: z.ZodMiniType | undefined) =>
  schema && defOf(schema).type === 'array' ? defOf(schema).element! : undefined;

/** Fields of a row; undefined where the call answers no rows. */
export function rowOf(call: Mounted): Record<string, z.ZodMiniType> | undefined {
  const { answer } = call.def;
  if (!answer) return undefined;
  const row = elementOf(shapeOf(answer)['data']) ?? elementOf(answer);
  return row && shapeOf(row);
}
export const filtersOf = (call: Mounted) => Object.keys(shapeOf(call.def.query)).filter(name => !paging.has(name));
const isSorted = (call: Mounted) => 'sortBy' in shapeOf(call.def.query);
/** What they are asked for is no filter: nothing is answered without it. */
const named: readonly string[] = [
  'GET /{area}/history',
  'GET /{area}/history/removed',
  'GET /{area}/site/{siteID}/setting/dns/domains',
  // most of its rows are reckoned and stand in no table: server/test/group-lines.test.ts
  'GET /client/dns/lines',
];
/** Calls whose rows can be asked for or sorted. */
export const isList = (call: Mounted) =>
  !named.includes(call.key) && !!rowOf(call) && (filtersOf(call).length > 0 || isSorted(call));

const rowsOf = (reply: Reply): { id: number }[] => (Array.isArray(reply.body) ? reply.body : (reply.body?.data ?? []));

export async function listProblems(
  rig: Rig,
  calls: readonly Mounted[],
  world: World,
  known: Readonly<Record<string, ListRows>>,
): Promise<{ problems: string[]; filters: number; sorts: number }> {
  const problems: string[] = [];
  // a list that shows less of a row than another sorts by all of it
  const shown: Record<string, Record<string, z.ZodMiniType>> = {};
  for (const call of calls) {
    const kind = known[call.key]?.kind;
    if (kind) shown[kind] = { ...shown[kind], ...rowOf(call) };
  }
  let [filters, sorts] = [0, 0];
  const { db } = rig.api.database;
  for (const call of calls.filter(isList)) {
    const line = `${call.method} ${call.path}`;
    const rows = known[call.key];
    if (!rows) {
      problems.push(`${line}: nobody says what its rows are (lists, in the folder's file in server/test/guards/rows/)`);
      continue;
    }
    const area = call.area!;
    const ids = await rig.ids(call, world);
    const ask = (query: Record<string, unknown>) => {
      const text = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
      const size = isSorted(call) ? ['pageSize=500'] : [];
      return rig.api.call(call.method, `${pathOf(call, ids)}?${[...text, ...size].join('&')}`, {
        token: world.people[area].token,
      });
    };
    const make = () => (rows.make ?? ((r, w, a) => r.fresh(w, rows.kind, a)))(rig, world, area, ids);
    const pair = async (): Promise<Pair> => ({ rig, world, ids, found: await make(), other: await make() });
    const set = async (id: number, patch: Record<string, unknown>) => {
      for (const [column, value] of Object.entries(patch))
        await sql`update ${sql.table(rows.kind)} set ${sql.ref(column)} = ${value} where id = ${id}`.execute(db);
    };

    for (const name of filtersOf(call)) {
      // every list finds rows by their ids in one way (`list` of contract/src/kit/schema.ts)
      const finds = name === 'ids' ? async ({ found }: Pair) => found : rows.filters?.[name];
      if (!finds) {
        problems.push(`${line}: nobody says what ${name} finds`);
        continue;
      }
      filters++;
      const two = await pair();
      const told = typeof finds === 'function' ? finds(two) : finds;
      if (!(told instanceof Promise)) {
        await set(two.found, told[1]);
        await set(two.other, told[2]);
      }
      const asked = told instanceof Promise ? await told : told[0];
      const reply = await ask({ [name]: asked });
      const seen = rowsOf(reply).map(row => row.id);
      const about = `${line}?${name}=${String(asked)}`;
      if (reply.status !== 200) problems.push(`${about}: ${reply.status} ${reply.text.slice(0, 200)}`);
      else {
        if (!seen.includes(two.found)) problems.push(`${about}: does not find the row that matches`);
        if (seen.includes(two.other)) problems.push(`${about}: finds a row that does not match`);
        if (isSorted(call) && reply.body.total !== seen.length)
          problems.push(`${about}: says ${reply.body.total} of ${seen.length}`);
      }
    }

    if (!isSorted(call)) continue;
    const refused = await ask({ sortBy: 'nobodySortsByThis' });
    const allowed = String(refused.body?.errorData?.[0]?.bounds?.allowed ?? '').split(', ');
    if (!allowed.includes('id'))
      problems.push(`${line}: does not say what it sorts by, ${refused.status} ${refused.text.slice(0, 200)}`);
    for (const column of allowed.filter(name => name !== 'id' && name !== '')) {
      sorts++;
      const two = await pair();
      const field = shown[rows.kind]![column];
      if (!field) {
        problems.push(`${line}: sorts by ${column}, which its rows do not show`);
        continue;
      }
      const special = rows.sort?.[column];
      const [first, last] = special ? await special(two) : valuesOf(field);
      // the one made first comes last: without a sort the order is another
      await set(two.found, { [column]: last });
      await set(two.other, { [column]: first });
      for (const [orderBy, wanted] of [
        ['asc', [two.other, two.found]],
        ['desc', [two.found, two.other]],
      ] as const) {
        const reply = await ask({ sortBy: column, orderBy });
        const seen = rowsOf(reply)
          .map(row => row.id)
          .filter(id => wanted.includes(id));
        if (seen.join() !== wanted.join())
          problems.push(`${line}: ${column} ${orderBy} gives ${seen.join()} instead of ${wanted.join()} ${reply.status}`);
      }
    }
  }
  return { problems, filters, sorts };
}

/** Two values of a field, the smaller first. */
function valuesOf(field: z.ZodMiniType): readonly [unknown, unknown] {
  const def = defOf(bare(field));
  switch (def.type) {
    case 'boolean':
      return [false, true];
    case 'number':
      return [1, 2];
    case 'enum':
      return two(Object.values(def.entries!));
    case 'literal':
      return two(def.values as (string | number)[]);
    case 'string':
      return def.format === 'datetime' ? ['2001-01-01T00:00:00Z', '2002-01-01T00:00:00Z'] : [`a-${next()}`, `b-${next()}`];
    default:
      throw new Error(`two values of a ${def.type}: say them in sort`);
  }
}
function two(values: readonly (string | number)[]): readonly [unknown, unknown] {
  const sorted = [...values].sort((a, b) =>
    typeof a === 'number' ? a - (b as number) : a.toLowerCase() < String(b).toLowerCase() ? -1 : 1,
  );
  return [sorted[0], sorted.at(-1)];
}
