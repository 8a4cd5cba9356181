/**
 * Growth has an end: what nobody needs any more is removed for good, in small steps that hold no writer up. Safe to repeat and to
 * break off at any point; what is left is the next run's.
 *
 * Deleted rows go when nothing refers to them, children before parents. A call that deletes marks what it was told alone: what must name a
 * long-deleted row goes with it. References are read from the schema: a table that is new, and whose rows cannot be marked as deleted or
 * need not name another, keeps what it refers to.
 */
import { sql } from 'kysely';
import { retentionDays } from '../store/analytics/schema.ts';
import { type Database, type Db, rows, type Sql } from '../store/db.ts';
import { eventOf } from '../kit/metrics.ts';
import { readSetting, writeSetting } from '../system/settings.ts';

const batchRows = 1000;
/** One run ends after this long, so that a queue of other jobs does not wait. */
const runLimitMs = 60_000;
/** Whom statistics name stays as long as they do: a site, its domains, a node. Their parents stay because they do. */
const namedByStatistics = new Set(['site', 'domain', 'node']);
const statisticsDays = Math.max(...Object.values(retentionDays));
/** No stored page is older than the longest cache rule allows (a year), so no purge says anything after that. */
const purgeSaysDays = 400;
/** What was billed is asked for years later. */
const usageDays = 3660;
/** What was taken of a plan is reckoned anew as long as a month is counted: that and the one before, until its last lines are in. */
const drawnDays = 100;
/** Rows that are no part of what they name: it is not deleted while one of these is there. */
const standAlone = new Set(['account', 'zone', 'node', 'group', 'product', 'site']);
/** Rows that say nothing but "this belongs to that": they go with either side. */
const links = new Set([
  'siteUser',
  'siteProduct',
  'trafficCount',
  'trafficCalendar',
  'trafficDraw',
  'zoneAccount',
  'brandImage',
  'lineNode',
  'lineVirtualNode',
  'domainModule',
  'setting',
  'scopedSetting',
  'ack',
  'acmeAccount',
  'acmeOrder',
  'acmeChallenge',
  'acmeRecord',
  'acmeLimit',
  'cnameSeen',
  'noticeEvent',
  'notice',
  'webhookDelivery',
  'noticePerson',
  'authenticator',
  'passkey',
  'passkeyChallenge',
  'passkeyHandle',
  'identity',
  'oidcFlow',
  'mailLink',
]);

const removedRows = eventOf('retention', 'rowRemoved');

/** One step: removes some rows, answers how many; 0 ends the kind. */
type Step = () => Promise<number>;
/** Several statements together, none waiting for a writer for long. */
const step = (db: Db, act: (db: Db) => Promise<number>): Promise<number> =>
  (db as Database['db']).transaction().execute(async trx => {
    await sql`set local lock_timeout = '1s'`.execute(trx);
    return act(trx);
  });
const removed = async (db: Db, query: Sql) => Number((await query.execute(db)).numAffectedRows ?? 0);

interface Reference {
  child: string;
  column: string;
  parent: string;
  /** a row of the child cannot be without */
  must: boolean;
}

/** Who refers to whom, and which tables mark deleted rows. */
async function schemaOf(db: Db): Promise<{ references: Reference[]; soft: string[] }> {
  const references = await rows<Reference>(
    db,
    sql`select c.relname as child, a.attname as column, p.relname as parent, a.attnotnull as must
        from pg_constraint f join pg_class c on c.oid = f.conrelid join pg_class p on p.oid = f.confrelid
        join pg_attribute a on a.attrelid = f.conrelid and a.attnum = f.conkey[1]
        where f.contype = 'f' and f.connamespace = 'public'::regnamespace`,
  );
  const soft = await rows<{ name: string }>(
    db,
    sql`select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
        where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and a.attname = 'deletedAt' and not a.attisdropped order by 1`,
  );
  return { references, soft: soft.map(one => one.name) };
}

/** Children before parents. */
export function childrenFirst(tables: readonly string[], references: readonly Reference[]): string[] {
  const order: string[] = [];
  const visit = (name: string, path: ReadonlySet<string>) => {
    if (order.includes(name) || path.has(name)) return;
    for (const { child, parent } of references)
      if (parent === name && tables.includes(child)) visit(child, new Set([...path, name]));
    order.push(name);
  };
  for (const name of tables) visit(name, new Set());
  return order;
}

/** Rows of one table that are part of something long deleted count as deleted with it. */
function partsOfDeleted(db: Db, { child, column, parent }: Reference, days: number): Step {
  const name = sql.table(child);
  return () =>
    step(db, trx =>
      removed(
        trx,
        sql`with part as (
          select x.id, p."deletedAt" from ${name} x join ${sql.table(parent)} p on p.id = ${sql.ref(`x.${column}`)}
          where x."deletedAt" is null and p."deletedAt" < now() - ${`${days} days`}::interval limit ${batchRows} for update of x skip locked
        ) update ${name} x set "deletedAt" = part."deletedAt" from part where part.id = x.id`,
      ),
    );
}

/** Deleted rows of one table whose time is over and to which nothing refers, besides links, which go with them. */
function deletedRows(db: Db, name: string, references: readonly Reference[], days: number): Step {
  const own = references.filter(one => one.parent === name);
  const atLeast = namedByStatistics.has(name) ? statisticsDays : name === 'extraTrafficPlan' ? drawnDays : 0;
  const kept = Math.max(days, atLeast);
  const isDue = sql`x."deletedAt" < now() - ${`${kept} days`}::interval`;
  const free = own
    .filter(one => !links.has(one.child))
    .map(({ child, column }) => sql` and not exists (select from ${sql.table(child)} c where ${sql.ref(`c.${column}`)} = x.id)`);
  // that there was an owner is a fact: without it the next operator that is made would make the oldest one the owner (kit/owner.ts)
  if (name === 'account') free.push(sql` and not x."isOwner"`);
  return () =>
    step(db, async trx => {
      const due = await rows<{ id: number }>(
        trx,
        sql`select x.id from ${sql.table(name)} x where ${isDue}${sql.join(free, sql``)} limit ${batchRows} for update skip locked`,
      );
      const ids = due.map(one => one.id);
      if (!ids.length) return 0;
      for (const { child, column } of own.filter(one => links.has(one.child)))
        await sql`delete from ${sql.table(child)} where ${sql.ref(column)} = any(${ids})`.execute(trx);
      return removed(trx, sql`delete from ${sql.table(name)} where id = any(${ids})`);
    });
}

/** The steps in their order: what refers goes before what is referred to. */
async function steps(db: Db): Promise<[kind: string, step: Step, marksOnly?: true][]> {
  const keep = await readSetting(db, null, 'retention');
  const { references, soft } = await schemaOf(db);
  const older = (column: string, days: number) => sql`${sql.ref(column)} < now() - ${`${days} days`}::interval`;
  const plain = (table: string, key: string, condition: Sql): Step => {
    const name = sql.table(table);
    const which = sql`select ${sql.ref(key)} from ${name} where ${condition} limit ${batchRows} for update skip locked`;
    return () => step(db, trx => removed(trx, sql`delete from ${name} where ${sql.ref(key)} in (${which})`));
  };
  const found: [string, Step, true?][] = [
    ['session', plain('session', 'id', older('endedAt', keep.ended))],
    ['session', plain('session', 'id', older('expiredAt', keep.ended))],
    ['login', plain('login', 'hash', older('expiredAt', 1))],
    ['passkeyChallenge', plain('passkeyChallenge', 'hash', older('expiredAt', 1))],
    ['oidcFlow', plain('oidcFlow', 'hash', older('expiredAt', 1))],
    ['joinToken', plain('joinToken', 'hash', older('expiredAt', keep.ended))],
    ['task', plain('task', 'id', older('endedAt', keep.tasks))],
    ['trafficMonth', plain('trafficMonth', 'id', older('endTime', usageDays))],
    // ids rise with time: only the oldest need looking at
    [
      'audit',
      () =>
        step(db, trx =>
          removed(
            trx,
            sql`delete from audit where id in (select id from (select id, "createdAt" from audit order by id limit ${batchRows}) oldest where ${older('createdAt', keep.audit)})`,
          ),
        ),
    ],
    // What is older than its site's generation says nothing any more; nor does what is older than any stored page.
    [
      'purgeTask',
      () =>
        step(db, trx =>
          removed(
            trx,
            sql`delete from "purgeTask" where id in (
              select x.id from "purgeTask" x join site s on s.id = x."siteID"
              where (x."createdAt" < now() - ${`${keep.purges} days`}::interval and (x.generation <= s."cacheGeneration" or s."deletedAt" is not null))
                or x."createdAt" < now() - ${`${Math.max(keep.purges, purgeSaysDays)} days`}::interval limit ${batchRows})`,
          ),
        ),
    ],
  ];
  const order = childrenFirst(soft, references);
  // parents first: what hangs on a row that was marked just now is marked too
  for (const name of order.toReversed())
    for (const reference of references)
      if (reference.child === name && reference.must && soft.includes(reference.parent) && !standAlone.has(name))
        found.push([name, partsOfDeleted(db, reference, keep.deleted), true]);
  for (const name of order) found.push([name, deletedRows(db, name, references, keep.deleted)]);
  // what was noted of sites that are gone for good
  for (const name of ['publication', 'compileError'])
    found.push([
      name,
      () =>
        step(db, trx =>
          removed(
            trx,
            sql`delete from ${sql.table(name)} where ctid in (select x.ctid from ${sql.table(name)} x
              where x."siteID" is not null and not exists (select from site s where s.id = x."siteID") limit ${batchRows})`,
          ),
        ),
    ]);
  return found;
}

export interface RetentionResult {
  removed: Record<string, number>;
  more: boolean;
  problem: string | null;
}

/**
 * One run over everything. What one kind cannot do does not keep the others from it, nor does what it has to do: each has its part of the
 * time, and what some did not need is for those that have more.
 */
export async function retain(db: Db, limitMs = runLimitMs): Promise<RetentionResult> {
  const at = new Date();
  const began = performance.now();
  const left = () => limitMs - (performance.now() - began);
  const result: RetentionResult = { removed: {}, more: false, problem: null };
  for (let open = await steps(db); open.length;) {
    const unfinished: typeof open = [];
    for (const [place, one] of open.entries()) {
      const [kind, act, marksOnly] = one;
      const until = performance.now() + left() / (open.length - place);
      try {
        for (let n = 1; n > 0;) {
          if (performance.now() > until) {
            unfinished.push(one);
            break;
          }
          n = await act();
          if (marksOnly || n === 0) continue;
          result.removed[kind] = (result.removed[kind] ?? 0) + n;
          removedRows(n);
        }
      } catch (error) {
        result.problem ??= `${kind}: ${(error as Error).message}`.slice(0, 500);
      }
    }
    result.more = unfinished.length > 0;
    if (left() <= 0) break;
    open = unfinished;
  }
  await writeSetting(db, null, 'retentionRun', { at: at.toISOString(), ms: Math.round(performance.now() - began), ...result });
  return result;
}
