/** What the audit tells whom: page by page, and as a file. */
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { audit, type AuditChange, type AuditLine } from '#contract/account/audit.ts';
import { failFields } from '#contract/errors.ts';
import type { Area } from '#contract/kit/areas.ts';
import { fill, type Language } from '#contract/kit/text.ts';
import { auditFileChangesMax } from '#contract/states-audit.ts';
import type { Actor } from '../kit/actor.ts';
import { csvLine, FileAnswer } from '../kit/answers.ts';
import { type KeptChange, kindOfChange } from '../kit/audit-room.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { isSame } from '../kit/store.ts';
import { contains, like } from '../kit/table.ts';
import { and, row, rows, type Sql } from '../store/db.ts';
import { areaWords, columnWords, kindWords, rowsWords, tooLargeWords } from './audit-file-words.ts';

type Change = z.output<typeof AuditChange>;
type Line = z.output<typeof AuditLine>;
interface Stored extends Omit<Line, 'changes' | 'proxyName'> {
  changes?: KeptChange[] | null;
  proxyName: string | null;
}
/** Lines are counted as far as a person would page. */
const countMax = 100_000;
/** Words are looked for line by line: where nothing says since when, this far back. */
const wordDays = 31;

/** An operator reads what its people and its customers did, a customer what its own did; who is no root, of itself and those below. */
function readable(actor: Actor): Sql {
  const tree =
    actor.area === 'admin'
      ? sql`true`
      : actor.area === 'client'
        ? sql`t."clientID" = ${actor.rootID}`
        : sql`t."userID" = ${actor.rootID}`;
  if (actor.isRoot) return tree;
  return sql`(${tree} and t."accountID" in (
    with recursive below(id) as materialized (
      select ${actor.accountID}::bigint union select a.id from account a join below on a."parentID" = below.id
    ) select id from below))`;
}
/**
 * Who really acted is told to everybody who may read the line (decisions.md: each act carries both names): within one's own house by the
 * e-mail that signs in there, of whoever is above it by the name they go by, and where they sat not at all.
 */
const isOfOurs = (actor: Actor): Sql =>
  actor.area === 'admin'
    ? sql`true`
    : actor.area === 'client'
      ? sql`(coalesce(p."rootID", p.id) = ${actor.rootID} or p."parentClient" = ${actor.rootID})`
      : sql`coalesce(p."rootID", p.id) = ${actor.rootID}`;

/** A change as people read it: field by field, those alone that are others now. */
function told(change: KeptChange): Change {
  const { table, id, before, after, cut, more } = change;
  const kind = cut ?? kindOfChange(change);
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const fields = names
    .map(name => ({ name, before: before?.[name] ?? null, after: after?.[name] ?? null }))
    .filter(field => kind !== 'changed' || !isSame(field.before, field.after));
  return {
    table,
    id: more === undefined && Number.isInteger(id) && id > 0 ? id : null,
    kind,
    count: more ?? 1,
    isWhole: cut === undefined && more === undefined,
    fields: fields.slice(0, 500),
  };
}

type Filters = z.output<(typeof audit)['defs']['POST /auditLogs']['body']>;
/** Which lines a reader finds. */
function foundBy(actor: Actor, body: Filters): Sql {
  const isWide = (body.accountName || body.url || body.proxyName) && body.startTime === undefined && body.reqID === undefined;
  return and([
    readable(actor),
    ...contains(body.accountName, 'accountName'),
    ...contains(body.url, 'url'),
    ...(isWide
      ? [sql`t."createdAt" >= coalesce(${body.endTime ?? null}::timestamptz, now()) - ${wordDays} * interval '1 day'`]
      : []),
    ...(body.startTime === undefined ? [] : [sql`t."createdAt" >= ${body.startTime}::timestamptz`]),
    // a line that stands for many lasts to the last of them
    ...(body.endTime === undefined ? [] : [sql`t."createdAt" <= ${body.endTime}::timestamptz`]),
    ...(body.method === undefined ? [] : [sql`t.method = ${body.method}`]),
    ...(body.reqID === undefined ? [] : [sql`t."reqID" = ${body.reqID}`]),
    // by what is told of them: no e-mail of a house above is found out by asking
    ...(body.proxyName === undefined
      ? []
      : [
          sql`exists (select 1 from account p where p.id = t."proxyID"
              and case when ${isOfOurs(actor)} then ${and(contains(body.proxyName, 'proxyName'))} else ${like('name')(body.proxyName, 'p')} end)`,
        ]),
  ]);
}

/** What is told of a line; where somebody sits to those alone who may know who it is. */
function columnsFor(actor: Actor): Sql {
  const isVendor = actor.area === 'admin' ? sql`true` : sql`false`;
  const named = isOfOurs(actor);
  return sql`t.id, t."reqID", t."createdAt", t."accountID", t."accountName", t.area, t."tokenName", t.method, t.url, t.permission,
    case when (t."proxyID" is null and t."proxyName" is null) or ${isVendor} or ${named} then coalesce(t.ip, '') else '' end as ip,
    t.status, t."durationMs", t.reason, t.times, t."lastAt",
    case when t."proxyName" is null then null when t."proxyID" is null then case when ${isVendor} then t."proxyName" end
      when ${named} then t."proxyName" else p.name end as "proxyName", p.auth as "proxyArea"`;
}

const valueIn = (value: unknown) =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
const changesIn = (changes: readonly KeptChange[], language: Language) =>
  changes
    .map(told)
    .map(({ table, id, kind, count, fields }) =>
      [
        `${kindWords[kind][language]} ${table} ${id === null ? fill(rowsWords[language], { count }) : `#${id}`}`,
        ...fields.map(({ name, before, after }) => {
          const sides = kind === 'added' ? [after] : kind === 'removed' ? [before] : [before, after];
          return `${name}: ${sides.map(valueIn).join(' → ')}`;
        }),
      ].join('\n  '),
    )
    .join('\n');

/** Lines of one statement: what a file has in memory at a time. */
const together = 500;
const headingIn = (language: Language) => Object.values(columnWords).map(words => words[language]);
type Filed = Stored & { size: number };
const areaIn = (area: Area | null, language: Language) => area && areaWords[area][language];
/** In the order of `columnWords`. */
const cellsOf = ({ proxyName, proxyArea, changes, size, ...line }: Filed, language: Language) =>
  [
    ...[line.createdAt, line.accountName, proxyName ?? areaIn(proxyArea, language), line.tokenName, areaIn(line.area, language)],
    ...[line.method, line.url, line.permission, line.status, line.reason, line.times, line.lastAt, line.durationMs, line.ip],
    line.reqID,
    changes ? changesIn(changes, language) : size > auditFileChangesMax ? fill(tooLargeWords[language], { count: size }) : '',
  ].map(cell => cell ?? '');

/** As they are asked for: no connection is held while the reader takes its time, and none is read that nobody takes. */
async function* linesOf({ db, actor, language }: Context, body: Filters, orderBy: 'asc' | 'desc'): AsyncGenerator<string> {
  const where = foundBy(actor, body);
  const isUp = orderBy === 'asc';
  // by the mark spreadsheets know UTF-8
  yield `\uFEFF${csvLine(headingIn(language))}`;
  for (let last: number | undefined; ;) {
    const after = last === undefined ? sql`true` : isUp ? sql`t.id > ${last}` : sql`t.id < ${last}`;
    const found = await rows<Filed>(
      db,
      sql`select ${columnsFor(actor)}, coalesce(length(t.changes::text), 0) as size,
            case when length(t.changes::text) <= ${auditFileChangesMax} then t.changes end as changes
          from audit t left join account p on p.id = t."proxyID"
          where ${where} and ${after} order by t.id ${isUp ? sql`asc` : sql`desc`} limit ${together}`,
    );
    if (found.length) yield found.map(line => csvLine(cellsOf(line, language))).join('');
    if (found.length < together) return;
    last = found.at(-1)!.id;
  }
}

export const auditCalls = implement(
  audit,
  {
    'POST /auditLogs': async ({ ctx, query, body }) => {
      if (query.sortBy !== undefined && query.sortBy !== 'createdAt')
        throw failFields([{ path: 'sortBy', rule: 'unknown', bounds: { allowed: 'createdAt' } }]);
      const { actor, db } = ctx;
      const size = query.pageSize ?? 10;
      const offset = ((query.page ?? 1) - 1) * size;
      const where = foundBy(actor, body);
      const order = query.orderBy === 'asc' ? sql`asc` : sql`desc`;
      const whole = body.reqID === undefined ? sql`` : sql`, t.body, t.changes`;
      // beyond what is counted there is no page
      const read = offset < countMax ? size : 0;
      const lines = await rows<Stored>(
        db,
        sql`select ${columnsFor(actor)}${whole}
          from audit t left join account p on p.id = t."proxyID"
          where ${where} order by t.id ${order} limit ${read} offset ${read && offset}`,
      );
      const counted = await row<{ n: number }>(
        db,
        sql`select count(*) as n from (select 1 from audit t where ${where} limit ${countMax}) found`,
      );
      return {
        data: lines.map(({ changes, ...line }) => ({ ...line, ...(changes ? { changes: changes.map(told) } : {}) })),
        total: counted!.n,
      };
    },
    // its line stands before the first piece goes
    'POST /auditLogs/export': async ({ prepared }) => prepared as FileAnswer, // what `prepare` of this call answers
  },
  {
    prepare: {
      // what it reads it reads when the call has ended, and its transaction with it
      'POST /auditLogs/export': async ({ ctx, query, body }) => {
        const time = new Date().toISOString().slice(0, 16).replaceAll(/[-:]/g, '').replace('T', '-');
        return new FileAnswer(`audit-${time}.csv`, linesOf(ctx, body, query.orderBy ?? 'desc'));
      },
    },
  },
);
