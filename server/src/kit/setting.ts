/**
 * Settings with levels: handlers of `settingOf` (contract/src/kit/setting.ts) over one table. A value is taken from the nearest level
 * that has one; a change is published for every document below that has none nearer.
 */
import { sql } from 'kysely';
import {
  type Setting,
  type SettingAt,
  type SettingLevel,
  settingLevels,
  type SettingSource,
  settingValue,
} from '#contract/kit/setting.ts';
import type { Group } from '#contract/kit/call.ts';
import { type Db, row, rows, type Sql } from '../store/db.ts';
import type { Context } from './context.ts';
import type { AnyHandler, Implementation } from './implement.ts';
import { settingAt } from './listed.ts';
import { col, type Table } from './table.ts';

const columns = { system: 'clientID', zone: 'zoneID', site: 'siteID', domain: 'domainID' } as const satisfies Record<
  SettingLevel,
  string
>;

/** What may have a value of its own, with the ids of everything above it. */
const ofSite = sql`site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID"`;
const owners: Record<SettingLevel, Sql> = {
  system: sql`select a.id, a.id as "clientID" from account a`,
  zone: sql`select z.id, z.id as "zoneID", z."clientID" from zone z where z."deletedAt" is null`,
  site: sql`select s.id, s.id as "siteID", g."zoneID", s."clientID" from ${ofSite} where s."deletedAt" is null`,
  domain: sql`select d.id, d.id as "domainID", d."siteID", g."zoneID", s."clientID" from domain d join ${ofSite} on s.id = d."siteID" where d."deletedAt" is null`,
};
const upTo = (level: SettingLevel) => settingLevels.slice(0, settingLevels.indexOf(level) + 1);

interface Held {
  level: SettingLevel;
  value: unknown;
  version: number;
}

/** The values that count for an owner, the nearest first. */
async function held(db: Db, setting: Setting, level: SettingLevel, id: number): Promise<Held[]> {
  const levels = upTo(level).filter(one => setting.levels[one]);
  const match = levels.map(one => sql`${col(columns[one], 'x')} = ${col(columns[one], 'o')}`);
  const which = levels.map(one => sql`when ${col(columns[one], 'x')} is not null then ${sql.lit(one)}`);
  const found = await rows<Held>(
    db,
    sql`select case ${sql.join(which, sql` `)} end as level, x.value, x.version from (${owners[level]}) o
        join "scopedSetting" x on x.name = ${setting.name} and (${sql.join(match, sql` or `)}) where o.id = ${id}`,
  );
  return found.sort((a, b) => settingLevels.indexOf(b.level) - settingLevels.indexOf(a.level));
}

interface Effective {
  value: Record<string, unknown>;
  from: SettingSource;
}
function effective(setting: Setting, all: readonly Held[]): Effective {
  for (const { level, value } of all) {
    const read = settingValue(setting, value);
    if (read) return { value: read, from: level };
  }
  return { value: setting.defaults, from: 'default' };
}

/** Every document below that takes its value from this level: a nearer one that can no longer be read means nothing, and shields nobody. */
async function touchBelow(ctx: Context, setting: Setting, level: SettingLevel, id: number) {
  const { edge } = setting;
  if (!edge) return;
  const nearer = upTo(edge).filter(one => setting.levels[one] && settingLevels.indexOf(one) > settingLevels.indexOf(level));
  const match = nearer.map(one => sql`${col(columns[one], 'x')} = ${col(columns[one], 'o')}`);
  const values = nearer.length
    ? sql`(select jsonb_agg(x.value) from "scopedSetting" x where x.name = ${setting.name} and (${sql.join(match, sql` or `)}))`
    : sql`null`;
  const below = await rows<{ id: number; nearer: unknown[] | null }>(
    ctx.db,
    sql`select o.id, ${values} as nearer from (${owners[edge]}) o where ${col(columns[level], 'o')} = ${id}`,
  );
  const found = below.filter(one => !one.nearer?.some(value => settingValue(setting, value)));
  for (const one of found) ctx.touch(edge, one.id);
}

/** Its name in the audit: owners of different levels have the same ids. */
export const settingName = (name: string, level: SettingLevel) => `${name}.${level}`;

const idOf = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).findLast(name => name !== 'area');

/** Handlers of one level. `target`: the table whose row the last id of its path names, where that is not `siteID`; `before` may refuse beyond the contract. */
export function implementSetting(
  setting: SettingAt['setting'],
  level: SettingLevel,
  target?: Table,
  options: { before?: (ctx: Context, value: Record<string, unknown>, owner: number) => Promise<void> } = {},
): Implementation {
  const { path } = setting.levels[level]!;
  const group = setting.calls[level] as Group;
  const param = idOf(group.base + path);
  const owner = (ctx: Context, given: Record<string, number>) => (level === 'system' ? ctx.actor.rootID : given[param!]!);
  const column = columns[level];
  const own = (id: number) => sql`name = ${setting.name} and ${sql.ref(column)} = ${id}`;

  const others = (all: readonly Held[]) => all.filter(one => one.level !== level);

  const named = settingName(setting.name, level);
  /** For the audit: what is another now; where no field is, whose value counts. */
  function note(ctx: Context, id: number, before: Effective, after: Effective) {
    const names = Object.keys(setting.fields).filter(
      name => JSON.stringify(before.value[name]) !== JSON.stringify(after.value[name]),
    );
    const pick = ({ value, from }: Effective) =>
      names.length ? Object.fromEntries(names.map(name => [name, value[name]])) : { from };
    ctx.note({ table: named, id, before: pick(before), after: pick(after) });
  }

  const handlers: Record<string, AnyHandler> = {
    [`GET ${path}`]: settingAt(named, async ({ ctx, params: given }) => {
      const all = await held(ctx.db, setting, level, owner(ctx, given));
      const { value, from } = effective(setting, all);
      const above = effective(setting, others(all));
      return { ...value, from, version: all.find(one => one.level === level)?.version ?? 0, above };
    }),
    [`PUT ${path}`]: async ({ ctx, params: given, body }) => {
      const id = owner(ctx, given);
      await options.before?.(ctx, body, id);
      const all = await held(ctx.db, setting, level, id);
      const version = all.find(one => one.level === level)?.version ?? 0;
      await ctx.expect(named, { ...effective(setting, all).value, version, id }, body);
      const written = await row<{ version: number }>(
        ctx.db,
        sql`insert into "scopedSetting" as x (name, ${sql.ref(column)}, value) values (${setting.name}, ${id}, ${JSON.stringify(body)}::jsonb)
            on conflict (${sql.ref(column)}, name) where ${sql.ref(column)} is not null do update
              set value = excluded.value, version = x.version + 1, "updatedAt" = now() where x.value <> excluded.value
            returning version`,
      );
      if (!written) return {};
      note(ctx, id, effective(setting, all), { value: body, from: level });
      await touchBelow(ctx, setting, level, id);
      return {};
    },
    [`DELETE ${path}`]: async ({ ctx, params: given }) => {
      const id = owner(ctx, given);
      const all = await held(ctx.db, setting, level, id);
      // the row stays, without a value: its versions are never told twice
      const gone = await row(
        ctx.db,
        sql`update "scopedSetting" set value = 'null', version = version + 1, "updatedAt" = now()
            where ${own(id)} and value <> 'null' returning 1 as done`,
      );
      if (!gone) return {};
      const rest = effective(setting, others(all));
      note(ctx, id, effective(setting, all), rest);
      await touchBelow(ctx, setting, level, id);
      return {};
    },
  };
  return {
    group,
    handlers: Object.fromEntries(Object.entries(handlers).filter(([key]) => key in group.defs)),
    params: target && param && param !== 'siteID' ? { [param]: target } : {},
  };
}
