/**
 * Deletions and changes of several rows: each is asked for a row it may touch, one that does not exist, another tenant's, and the first once
 * more. The row goes or is changed, the answer names the two others, and nothing else is changed than by asking for one such row alone.
 */
import { sql } from 'kysely';
import type { Mounted } from '#contract/kit/call.ts';
import { errors } from '#contract/errors.ts';
import { rows } from '#server/store/db.ts';
import { unknownID } from './checks.ts';
import { idSlots, put } from './generate.ts';
import { pathOf, type Rig, type World } from './world.ts';

/** One goes on at a time, and what is asked meanwhile is refused whole: server/test/node-upgrade-once.test.ts and node-refusals.test.ts. */
const onesAtATime: readonly string[] = ['POST /client/node/upgrade'];
/** The ids are what a row has from now on, whole or not at all: no rows of which some can be changed. */
const wholeSets: readonly string[] = ['PATCH /{area}/site/{siteID}/certificate/{certificateID}/domains'];
export const removesRows = (call: Mounted): boolean =>
  call.def.body !== undefined &&
  !wholeSets.includes(call.key) &&
  !onesAtATime.includes(call.key) &&
  (call.method === 'DELETE' || (call.def.errors ?? []).includes('multiple')) &&
  idSlots(call.def.body).some(isIDs);
const isIDs = ({ path, many }: { path: string[]; many: boolean }) =>
  many && path.length === 1 && ['ids', 'siteIDs', 'domainIDs'].includes(path[0]!);

/** What follows from others, and is made by whoever comes first. */
const following = ['trafficMonth', 'trafficDraw', 'trafficCalendar'];

/** What each row is, by its table. */
async function snapshot({ api }: Rig): Promise<Map<string, string>> {
  const { db } = api.database;
  const tables = await rows<{ name: string }>(
    db,
    sql`select tablename as name from pg_tables where schemaname = current_schema() and tablename <> all(${following}) order by 1`,
  );
  const each = tables.map(
    ({ name }) =>
      sql`select ${sql.lit(name)} || ' ' || md5(t::text) as row, count(*)::text as times from ${sql.table(name)} t group by 1`,
  );
  const found = await rows<{ row: string; times: string }>(db, sql`${sql.join(each, sql` union all `)}`);
  return new Map(found.map(({ row, times }) => [row, times]));
}
/** How many rows of which tables became others, came or went. */
function changed(before: Map<string, string>, after: Map<string, string>): string {
  const counts = new Map<string, number>();
  const note = (row: string) => counts.set(row.split(' ')[0]!, (counts.get(row.split(' ')[0]!) ?? 0) + 1);
  for (const [row, times] of before) if (after.get(row) !== times) note(row);
  for (const [row, times] of after) if (!before.has(row) && times) note(row);
  return [...counts].map(([table, n]) => `${table} ${n}`).join(', ');
}

export async function removalProblems(rig: Rig, calls: readonly Mounted[], mine: World, theirs: World): Promise<string[]> {
  const problems: string[] = [];
  for (const call of calls.filter(removesRows)) {
    const say = (text: string) => void problems.push(`${call.method} ${call.path}: ${text}`);
    const slot = idSlots(call.def.body!).find(isIDs)!;
    const kind = rig.kindOf(call, slot);
    const first = await rig.request(call, mine);
    const second = await rig.request(call, mine);
    // an admin sees every account
    const strangers = rig.isShared(kind, call.area) ? [] : [await rig.id(call, kind, theirs, await rig.ids(call, theirs))];
    // nobody else writes: what is there after one call is there before the next
    let before = await snapshot(rig);
    const send = async (body: unknown) => {
      const path = pathOf(call, first.ids);
      const reply = await rig.api.call(call.method, path, { token: mine.people[call.area!].token, body });
      const after = await snapshot(rig);
      const what = changed(before, after);
      before = after;
      return { reply, what };
    };
    // versions stand beside ids of which each is named once
    const { versions: _each, ...body } = first.body as Record<string, [number]>;
    const [good] = body[slot.path[0]!]!;
    const rest = [unknownID, ...strangers];
    const some = await send(put(body, slot.path, [good, ...rest, good, unknownID]));
    const told = (some.reply.body?.errorData ?? []) as { code: number; targets?: string[] }[];
    const named = told.flatMap(({ targets = [] }) => targets);
    if (some.reply.body?.code !== errors.multiple.code || named.join() !== rest.join())
      say(`${some.reply.status} ${some.reply.text.slice(0, 300)} instead of 101009 for ${rest.join()}`);
    const alone = await send(second.body);
    if (alone.reply.status !== 200) say(`one row alone: ${alone.reply.status} ${alone.reply.text.slice(0, 200)}`);
    else if (some.what !== alone.what) say(`changes ${some.what || 'nothing'}, and of one row alone ${alone.what}`);
    const none = await send(put(body, slot.path, [unknownID, unknownID]));
    if (none.reply.status !== 404 || none.reply.body?.code !== errors.parameter.code)
      say(`of rows that are not there: ${none.reply.status} ${none.reply.text.slice(0, 200)}`);
  }
  return problems;
}
