/** Who stands on the lines of a group: nodes, and virtual nodes. Both come, change and leave in one way. */
import { sql } from 'kysely';
import { fail, failFields } from '#contract/errors.ts';
import { resolutionLimits } from '#contract/limits.ts';
import type { Context } from '../kit/context.ts';
import { touchedName } from '../kit/stale.ts';
import { unknownID } from '../kit/store.ts';
import { row, rows, type Sql } from '../store/db.ts';
import { groupTable } from './tables.ts';

/** Where they stand, and by which column. */
export const members = {
  nodes: { table: 'lineNode', column: 'nodeID' },
  virtualNodes: { table: 'lineVirtualNode', column: 'virtualNodeID' },
} as const;
export type MemberKind = keyof typeof members;
interface OnLine {
  id: number;
  backup: boolean;
}
/** The parameters of a path that names a line of a group. */
export interface AtLine {
  g: number;
  l: number;
  /** of a line that the group has not yet: makes it, and tells its id */
  make?: () => Promise<number>;
}

const on = (kind: MemberKind, { g, l }: AtLine) =>
  sql`select ${sql.ref(members[kind].column)} as id, backup from ${sql.table(members[kind].table)} where "groupID" = ${g} and "lineID" = ${l} order by ${sql.table(members[kind].table)}.id`;

/** Rows of a list that stand on the line: for the rows `t` of it. */
export const standing = (kind: MemberKind, { g, l }: AtLine): Sql =>
  sql`exists (select 1 from ${sql.table(members[kind].table)} x where ${sql.ref(`x.${members[kind].column}`)} = t.id and x."groupID" = ${g} and x."lineID" = ${l})`;

/** Of whom stands there who is a backup. */
export const backupsOf = async (ctx: Context, kind: MemberKind, at: AtLine): Promise<ReadonlyMap<number, boolean>> =>
  new Map((await rows<OnLine>(ctx.db, on(kind, at))).map(one => [one.id, one.backup]));

/** Changes who stands on a line, as one change of its group; `isSame` says whether it is as wished for already. */
async function change(
  ctx: Context,
  kind: MemberKind,
  at: AtLine,
  isSame: (now: Map<number, OnLine>) => boolean,
  write: () => Promise<void>,
): Promise<void> {
  const differing = async () => {
    const now = new Map((await rows<OnLine>(ctx.db, on(kind, at))).map(one => [one.id, one]));
    return isSame(now) ? {} : { ids: [...now.keys()] };
  };
  await ctx.store(groupTable).set(at.g, {}, 'g', { differing, write });
}

/** Nodes of a line `x`, and those that its virtual nodes are made of. */
const countOf = (where: Sql): Sql => sql`(select count(*) from "lineNode" x where ${where})
  + (select count(distinct (x."virtualNodeID", r."nodeID")) from "lineVirtualNode" x join "virtualNodeRecord" r on r."virtualNodeID" = x."virtualNodeID" and r."deletedAt" is null where ${where})`;

/** More addresses than these do not fit into an answer. */
async function checkRoom(ctx: Context, { g, l }: AtLine): Promise<void> {
  const { n } = (await row<{ n: number }>(
    ctx.db,
    sql`select (${countOf(sql`x."groupID" = ${g} and x."lineID" = ${l}`)})::int as n`,
  ))!;
  if (n > resolutionLimits.lineNodesMax) throw fail('groupNodesExceeded');
}
/** The same of every line that a virtual node stands on. */
export async function checkRoomOf(ctx: Context, virtualNodeID: number): Promise<void> {
  for (const at of await linesOf(ctx, virtualNodeID)) await checkRoom(ctx, at);
}
const linesOf = (ctx: Context, virtualNodeID: number) =>
  rows<AtLine>(
    ctx.db,
    sql`select "groupID" as g, "lineID" as l from "lineVirtualNode" where "virtualNodeID" = ${virtualNodeID} order by id`,
  );

/**
 * One that leads elsewhere stands alone among the main ones of its line, or among its backups: a name that leads on has nothing beside it
 * (RFC 1034, 3.6.2). As a backup of nodes, or with nodes as its backups, it may stand.
 */
export async function checkAlone(ctx: Context, { g, l }: AtLine, path = 'ids'): Promise<void> {
  const found = await rows<{ name: string; backup: boolean; isName: boolean }>(
    ctx.db,
    sql`select n.name, x.backup, false as "isName" from "lineNode" x join node n on n.id = x."nodeID" where x."groupID" = ${g} and x."lineID" = ${l}
      union all select v.name, x.backup, exists (select 1 from "virtualNodeRecord" r where r."virtualNodeID" = v.id and r.target is not null and r."deletedAt" is null)
      from "lineVirtualNode" x join "virtualNode" v on v.id = x."virtualNodeID" where x."groupID" = ${g} and x."lineID" = ${l}`,
  );
  for (const backup of [false, true]) {
    const role = found.filter(one => one.backup === backup);
    const name = role.find(one => one.isName)?.name;
    if (name !== undefined && role.length > 1) throw failFields([{ path, rule: 'cnameBesideOthers', bounds: { name } }]);
  }
}
/** The same of every line that a virtual node stands on. */
export async function checkAloneOf(ctx: Context, virtualNodeID: number, path: string): Promise<void> {
  for (const at of await linesOf(ctx, virtualNodeID)) await checkAlone(ctx, at, path);
}

/** For the audit: who came to a line of a group, left it, or is another kind of answer there now. */
function note(
  ctx: Context,
  kind: MemberKind,
  { g, l }: AtLine,
  when: 'before' | 'after',
  ids: readonly number[],
  more: Record<string, unknown> = {},
) {
  if (!ids.length) return;
  ctx.note({ table: members[kind].table, id: g, [when]: { line: l, [kind]: ids, ...more }, of: touchedName('group', g) });
}

const idsOf = (found: readonly { id: number }[]) => found.map(one => one.id);

/** `check`: what must hold once they stand there. */
export async function putOn(
  ctx: Context,
  kind: MemberKind,
  line: AtLine,
  { ids, backup = false }: { ids: readonly number[]; backup?: boolean | undefined },
  check = async (_at: AtLine) => {},
) {
  const { table, column } = members[kind];
  const write = async () => {
    const at = line.make ? { g: line.g, l: await line.make() } : line;
    const added = await rows<{ id: number }>(
      ctx.db,
      sql`insert into ${sql.table(table)} ("groupID", "lineID", ${sql.ref(column)}, backup) select ${at.g}, ${at.l}, n, ${backup} from unnest(${[...ids]}::bigint[]) n
        on conflict do nothing returning ${sql.ref(column)} as id`,
    );
    await checkRoom(ctx, at);
    await check(at);
    note(ctx, kind, at, 'after', idsOf(added), backup ? { backup } : {});
  };
  await change(ctx, kind, line, now => ids.every(id => now.has(id)), write);
}

export async function setRole(
  ctx: Context,
  kind: MemberKind,
  at: AtLine,
  { ids, backup }: { ids: readonly number[]; backup: boolean },
  check = async () => {},
) {
  const { table, column } = members[kind];
  const write = async () => {
    const done = await rows<OnLine>(
      ctx.db,
      sql`with before as (
            select id, ${sql.ref(column)} as member, backup from ${sql.table(table)}
            where "groupID" = ${at.g} and "lineID" = ${at.l} and ${sql.ref(column)} = any(${[...ids]}) for no key update
          ), changed as (
            update ${sql.table(table)} l set backup = ${backup} from before b where l.id = b.id and b.backup <> ${backup}
          ) select member as id, backup from before`,
    );
    if (done.length !== new Set(ids).size) throw unknownID('ids');
    await check();
    note(ctx, kind, at, 'after', idsOf(done.filter(one => one.backup !== backup)), { backup });
  };
  await change(ctx, kind, at, now => ids.every(id => now.get(id)?.backup === backup), write);
}

export async function takeOff(ctx: Context, kind: MemberKind, at: AtLine, ids: readonly number[]) {
  const { table, column } = members[kind];
  const write = async () => {
    const gone = await rows<{ id: number }>(
      ctx.db,
      sql`delete from ${sql.table(table)} where "groupID" = ${at.g} and "lineID" = ${at.l} and ${sql.ref(column)} = any(${[...ids]}) returning ${sql.ref(column)} as id`,
    );
    note(ctx, kind, at, 'before', idsOf(gone));
  };
  await change(ctx, kind, at, now => !ids.some(id => now.has(id)), write);
}

/** Nobody stands on these lines of a group any more. */
export async function clearLines(ctx: Context, groupID: number, lines: Sql) {
  // the keys are those kinds
  for (const kind of Object.keys(members) as MemberKind[]) {
    const { table, column } = members[kind];
    const left = await rows<{ id: number; lineID: number }>(
      ctx.db,
      sql`delete from ${sql.table(table)} where "groupID" = ${groupID} and ${lines} returning ${sql.ref(column)} as id, "lineID"`,
    );
    for (const [l, gone] of Map.groupBy(left, one => one.lineID)) note(ctx, kind, { g: groupID, l }, 'before', idsOf(gone));
  }
}

/** What keeps a node where it is and what it is. */
export async function checkFree(ctx: Context, nodeID: number): Promise<void> {
  const found = await row<{ line: boolean; virtual: boolean }>(
    ctx.db,
    sql`select exists (select 1 from "lineNode" where "nodeID" = ${nodeID}) as line,
      exists (select 1 from "virtualNodeRecord" where "nodeID" = ${nodeID} and "deletedAt" is null) as virtual`,
  );
  if (found!.line) throw fail('nodeInGroup');
  if (found!.virtual) throw fail('nodeInVirtualNode');
}
