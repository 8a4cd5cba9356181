/** `GET /{area}/history`: what the audit knows of one row, for whoever may read the list that shows it; and rows that were removed. */
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { Fail, fail, failFields } from '#contract/errors.ts';
import { type Area, type Mounted, mounted } from '#contract/kit/call.ts';
import { record } from '#contract/kit/schema.ts';
import { hidden, isHidden } from '#contract/kit/hidden.ts';
import { history, type HistoryEntry, historyPageSize, type RemovedRow } from '#contract/system/history.ts';
import { type ChangeKind, type KeptChange, kindOfChange } from '../kit/audit-room.ts';
import { type Context, seenBy } from '../kit/context.ts';
import { implement, type Implementation } from '../kit/implement.ts';
import { type Listed, listedBy } from '../kit/listed.ts';
import { mayKnow, moreName, partsName, type Who } from '../kit/stale.ts';
import { unknownID } from '../kit/store.ts';
import { col, scopeOf, type Table, underNameOf } from '../kit/table.ts';
import { and, row, rows, type Sql } from '../store/db.ts';

type Values = Record<string, unknown>;
type Entry = z.output<typeof HistoryEntry>;

/** A list of an area: what it shows, who may read it, and the fields it tells. */
interface Source {
  call: Mounted;
  listed: Listed;
  names: ReadonlySet<string>;
  /** whose row the last id of the path names: a setting's owner, or what the list's rows hang on */
  owner: Table | undefined;
}

/** Names of a list's fields, or of a setting's. */
function namesOf(answer: z.ZodMiniType | undefined): Set<string> {
  const shapeOf = (schema: unknown) =>
    (schema as { _zod: { def: { shape?: Record<string, unknown> } } } | undefined)?._zod.def.shape;
  const whole = shapeOf(answer) ?? {};
  const element = (whole['data'] as { _zod: { def: { element?: unknown } } } | undefined)?._zod.def.element;
  const told = new Set([...Object.keys(record), 'from']);
  return new Set(Object.keys(shapeOf(element) ?? whole).filter(name => !told.has(name)));
}

/** `/site/{siteID}/blacklists`, by area. */
function sourcesOf(all: readonly Implementation[], params: Record<string, Table>): Map<string, Source> {
  const sources = new Map<string, Source>();
  for (const { group, handlers, params: own } of all)
    for (const call of mounted([group])) {
      const listed = listedBy(handlers[`${call.method} ${call.key.slice(call.method.length + 1 + group.base.length)}`]!);
      if (!listed || !call.area) continue;
      const last = call.params.at(-1);
      const owner = last === undefined ? undefined : (own[last] ?? params[last]);
      sources.set(keyOf(call.area, call.path.slice(call.area.length + 1)), {
        call,
        listed,
        owner,
        // of a secret that it changed
        names: new Set([...namesOf(call.def.answer), ...sealedBy(listed)]),
      });
    }
  return sources;
}
const sealedBy = (listed: Listed) => ('table' in listed ? (listed.table.sealed ?? []) : []);
const keyOf = (area: Area, resource: string) => `${area} ${resource}`;

/** Who it was; `isOwnProxy`: who acted in that name is one the caller may know. */
interface Maker extends Who {
  accountName: string | null;
  proxyName: string | null;
  isOwnProxy: boolean;
}
/** Of a line `a` of the audit: an operator learns which of its people acted for a customer, and no name of those above it. */
const isOwnProxy = ({ actor }: Context) =>
  actor.area === 'admin'
    ? sql`true`
    : sql`exists (select from account p where p.id = a."proxyID" and p.auth = 'client' and coalesce(p."rootID", p.id) = ${actor.clientID})`;
interface Line extends Maker {
  reqID: string;
  createdAt: string;
  /** null: something that belongs to the row was changed, nothing of its own */
  changes: KeptChange[] | null;
}

/** A row, by the names the audit has for it. */
interface Named {
  /** `redirect:7` */
  table: string;
  id: Sql;
  /** where it is told when a line does not name it: `module:5/redirect`; a setting is always named */
  under?: Sql;
}
/**
 * A line `a` of the audit that this tenant may be told of: its own, its operator's, the admins'. `isRange`: what it tells may be of others'
 * rows; `isNobodys`: nor does it say whose they are, as lines do from before names had a tenant: its own alone.
 */
function ofTenant({ actor }: Context, how: { isRange?: boolean; isNobodys?: boolean } = {}): Sql {
  if (actor.area === 'admin') return sql`true`;
  const [operator, customer] = [sql`a."clientID" = ${actor.clientID}`, sql`a."userID" = ${actor.rootID}`];
  if (how.isNobodys) return actor.area === 'user' ? and([operator, customer]) : operator;
  return and([
    sql`(a."clientID" is null or ${operator})`,
    ...(how.isRange && actor.area === 'user' ? [sql`(a."userID" is null or ${customer})`] : []),
  ]);
}
/** The names under which one row is told, and that of lines from before they had a tenant. */
const rangesOf = ({ table }: Named, under: Sql) => ({
  names: sql`array[${under}, regexp_replace(${under}, '^(/[^@]*@\\d+)\\.\\d+$', '\\1')]::text[]`,
  nobodys: moreName(table),
});
/** A change `c` that a line `a` of the audit tells of a row: of it, or of so many that it is not named, and it may be one of them. */
function isOf(ctx: Context, named: Named): Sql {
  const { table, id, under } = named;
  const own = sql`(c->>'table' = ${table} and c->>'id' = (${id})::text)`;
  if (!under) return own;
  const { names, nobodys } = rangesOf(named, under);
  return sql`(${own} or (${id} between (c->>'from')::bigint and (c->>'to')::bigint and ${ofTenant(ctx, { isRange: true })}
    and (c->>'under' = any(${names}) or c->>'under' = ${nobodys} and ${ofTenant(ctx, { isNobodys: true })})))`;
}
/** A line `a` of the audit that tells something of a row. */
function tells(ctx: Context, named: Named): Sql {
  const own = sql`${`${named.table}:`} || ${named.id}`;
  const sure = sql`array[${own}, ${own} || ${partsName('')}]::text[]`;
  const ranges = named.under && rangesOf(named, named.under);
  const touched = ranges ? sql`(${sure} || ${ranges.names} || ${ranges.nobodys}::text)` : sure;
  return sql`a.touched && ${touched} and ${ofTenant(ctx)} and (a.touched && ${sure}
    or exists (select from jsonb_array_elements(a.changes) c where ${isOf(ctx, named)}))`;
}

export function historyCalls(all: readonly Implementation[], params: Record<string, Table>): Implementation {
  const sources = sourcesOf(all, params);

  function sourceOf(ctx: Context, resource: string): Source {
    const source = sources.get(keyOf(ctx.actor.area, resource));
    if (!source) throw failFields([{ path: 'resource', rule: 'unknown' }]);
    const { permission } = source.call;
    if (permission && !ctx.actor.permissions.has(permission)) throw fail('permissionDenied');
    return source;
  }

  return implement(history, {
    'GET /history': async ({ ctx, query }) => {
      const source = sourceOf(ctx, query.resource);
      const named = await rowOf(ctx, source, query.id);
      const size = query.pageSize ?? historyPageSize;
      const found = await rows<Line & { '#': number }>(
        ctx.db,
        // contents are read for the lines of the page alone
        sql`select l.*, (select jsonb_agg(c) from jsonb_array_elements(a.changes) c where ${isOf(ctx, named)}) as changes,
              ${isOwnProxy(ctx)} as "isOwnProxy"
            from (select id, "reqID", "createdAt", "accountName", "proxyName", area, "clientID", "userID", count(*) over () as "#" from audit a
                  where ${tells(ctx, named)} order by id desc
                  limit ${size} offset ${((query.page ?? 1) - 1) * size}) l
              join audit a on a.id = l.id order by l.id desc`,
      );
      return { data: found.map(line => entryOf(ctx, source, line)), total: found[0]?.['#'] ?? 0 };
    },
    'GET /history/removed': async ({ ctx, query }) => {
      const source = sourceOf(ctx, query.resource);
      if (!('table' in source.listed) || source.listed.table.soft === false)
        throw failFields([{ path: 'resource', rule: 'unknown' }]);
      return removedOf(ctx, source, source.listed.table, query);
    },
  });
}

/** How the audit names what is asked for. A row must lie in the caller's scope, removed or not. */
async function rowOf(ctx: Context, { listed, owner }: Source, id: number | undefined): Promise<Named> {
  const settingOf = (name: string, of: number) => ({ table: name, id: sql`${of}::bigint` });
  if ('setting' in listed && !owner) return settingOf(listed.setting, ctx.actor.rootID);
  if (id === undefined) throw failFields([{ path: 'id', rule: 'required' }]);
  const table = 'setting' in listed ? owner! : listed.table;
  const found = await row<{ under: string }>(
    ctx.db,
    sql`select ${underNameOf(table)} as under from ${sql.table(table.table)} as t where ${and([scopeOf(table, ctx.actor), ...pinned(table), sql`t.id = ${id}`])}`,
  );
  if (!found) throw unknownID('id');
  if ('setting' in listed) return settingOf(listed.setting, id);
  return { table: table.table, id: sql`${id}::bigint`, under: sql`${found.under}::text` };
}
const pinned = ({ pin = {} }: Table) => Object.entries(pin).map(([name, value]) => sql`${col(name)} = ${value}`);

/** Who it was, as far as the caller may know. */
function whoOf({ actor }: Context, line: Maker) {
  const known = mayKnow(actor, line);
  return {
    by: known ? line.accountName : null,
    isProxy: known && line.proxyName !== null,
    proxy: actor.area !== 'user' && line.isOwnProxy ? line.proxyName : null,
  };
}

/** What of a row the list tells. */
function shownOf({ listed, names }: Source, values: Values | undefined): Values {
  const shaped = values && 'shape' in listed && listed.shape ? listed.shape(values) : (values ?? {});
  const sealed = sealedBy(listed);
  return Object.fromEntries(
    Object.entries(shaped)
      .filter(([name]) => names.has(name))
      .map(([name, value]) => [name, sealed.includes(name) && value !== null && !isHidden(value) ? hidden : value]),
  );
}

/** One line, of one row: a call may have changed it several times. */
function entryOf(ctx: Context, source: Source, line: Line): Entry {
  const all = line.changes ?? [];
  // what may be of it says nothing beside what is
  const own = all.filter(change => change.more === undefined);
  const changes = own.length ? own : all;
  const kinds = changes.map((change): ChangeKind => change.cut ?? kindOfChange(change));
  const kind = kinds.includes('removed') ? 'removed' : kinds.includes('added') ? 'added' : 'changed';
  const before = Object.assign({}, ...changes.map(change => shownOf(source, change.before)).reverse()) as Values;
  const after = Object.assign({}, ...changes.map(change => shownOf(source, change.after))) as Values;
  const fields = [...source.names]
    .filter(name => name in before || name in after)
    .map(name => ({ name, before: before[name] ?? null, after: after[name] ?? null }))
    .filter(one => !isDeepStrictEqual(one.before, one.after));
  return {
    reqID: line.reqID,
    at: line.createdAt,
    ...whoOf(ctx, line),
    kind,
    isWhole: changes.every(change => !change.cut),
    fields,
  };
}

async function removedOf(
  ctx: Context,
  source: Source,
  table: Table,
  query: { parentID?: number | undefined; page?: number | undefined; pageSize?: number | undefined },
): Promise<{ data: z.output<typeof RemovedRow>[]; total: number }> {
  const { scope } = table;
  const conditions = [scopeOf(table, ctx.actor), ...pinned(table), sql`t."deletedAt" is not null`];
  if (source.owner && 'parent' in scope) {
    if (query.parentID === undefined) throw failFields([{ path: 'parentID', rule: 'required' }]);
    if (!(await ctx.store(scope.parent).find(query.parentID))) throw unknownID('parentID');
    conditions.push(sql`${col(scope.column)} = ${query.parentID}`);
  } else if (query.parentID !== undefined) throw new Fail('parameter', { errorData: [{ path: 'parentID', rule: 'unknownKey' }] });
  const size = query.pageSize ?? historyPageSize;
  const found = await rows<Values & { id: number; deletedAt: string; '#': number; '#by': Maker | null }>(
    ctx.db,
    sql`select t.*, (select jsonb_build_object('accountName', a."accountName", 'proxyName', a."proxyName", 'area', a.area, 'clientID', a."clientID",
                'userID', a."userID") from audit a
              where ${tells(ctx, { table: table.table, id: sql`t.id`, under: underNameOf(table) })} order by a.id desc limit 1) as "#by"
        from (select t.*, count(*) over () as "#" from ${sql.table(table.table)} as t where ${and(conditions)}
              order by t."deletedAt" desc, t.id desc limit ${size} offset ${((query.page ?? 1) - 1) * size}) t
        order by t."deletedAt" desc, t.id desc`,
  );
  return {
    data: found.map(({ '#by': line, '#': _total, ...values }) => ({
      id: values.id,
      at: values.deletedAt,
      by: line ? whoOf(ctx, line).by : null,
      // who may put a row back must have what it held
      values: seenBy(ctx.actor, source.call.permission, shownOf(source, values)),
    })),
    total: found[0]?.['#'] ?? 0,
  };
}
