/**
 * What a call changed stands in its audit line, and nothing else: every call that may change something is sent three times (the second time
 * the very same), and the rows of all tables before and after are compared with what its line says. What changed of a row, in its columns or
 * beside it, has raised its version: whoever saw the one before is late.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { Mounted } from '#contract/kit/call.ts';
import { row, rows } from '#server/store/db.ts';
import type { Api } from '../harness.ts';
import { bare, defOf, sendable } from './generate.ts';
import { calls, clean, shard, stage } from './stage.ts';
import { varied } from './stale.ts';
import { pathOf, type Rig, type World } from './world.ts';

/** What follows from rows and is no change of anybody: queues, sessions and what is remembered of sign-ins, what was seen of the world, the audit itself. */
const derived = new Set([
  'audit',
  // what was asked for, by whom and what came of it: a log of its own
  'backupRun',
  'cnameSeen',
  // the latest time that was seen, whoever asks
  'licenseClock',
  // the least revision of a file that counts: the line says that it was registered, changed or taken back
  'licenseSerial',
  'outbox',
  // what was counted, and what follows from it
  'trafficMonth',
  'trafficDraw',
  'trafficCalendar',
  'session',
  'login',
  'loginAttempt',
  'mail',
  'mailLink',
  'authenticator',
  'passkeyChallenge',
  // random, and the same from then on
  'passkeyHandle',
  'oidcFlow',
  // what waits to be told
  'webhookDelivery',
  'revocation',
  'pgmigrations',
  'migration',
]);
/** Columns that follow from the others. */
const counters = ['updatedAt', 'rowVersion', 'version', 'revision', 'changedAt'];

/** Calls that are no reading and change no row of these tables, each with what it does. */
export const withoutRows: Readonly<Record<string, string>> = {
  'DELETE /{area}/account/session': 'ends a session',
  'DELETE /{area}/account/sessions': 'ends sessions',
  'POST /{area}/proxy': 'opens a session in the name of another',
  'POST /{area}/auditLogs/export': 'takes away what the audit tells',
  'POST /{area}/account/resendEmail': 'mails a link, and ends earlier ones',
  'POST /{area}/site/{siteID}/domains/checkCNAME': 'looks at the world, which is as it was',
};

/** Calls that change nothing of anybody's, and note in these tables what they saw of the world. */
const noted: Readonly<Record<string, readonly string[]>> = {
  // when a mail last went
  'POST /client/setting/email/test': ['mailServer'],
  // how far its authenticator has counted, and when it was last used
  'POST /{area}/account/presence/code': ['passkey'],
};

/** Tables whose rows change along with others, each with the tables whose lines tell of it. */
const along: Readonly<Record<string, readonly string[]>> = {
  // of which kind its name server is
  account: ['dnsSetting'],
  domainModule: ['domain'],
  nodeZone: ['node'],
  // the generation of what it has cached
  site: ['purgeTask'],
  siteProduct: ['site'],
  siteZone: ['site', 'product'],
  taskLine: ['task'],
};
/** What is stored beside a row and shown with it. */
const parts: Readonly<Record<string, readonly string[]>> = {
  account: ['zoneAccount'],
  domain: ['upstream', 'domainModule'],
  group: ['line', 'lineNode', 'lineVirtualNode'],
  site: ['siteUser'],
};
/** What nobody sees of a row, so no version speaks of it. */
const unseen: Readonly<Record<string, readonly string[]>> = {
  // how far its server was reached
  mailServer: ['testedAt', 'failures', 'problem', 'pausedUntil'],
  account: ['password', 'emailConfirmed', 'dnsType'],
  // of its queue
  cname: ['comparedAt', 'error', 'nextAt', 'tries'],
  site: ['cacheGeneration'],
};
/** The table that a change is about: settings are named by what they set and where (`gzip.site`). */
const tableOf = (name: string) => (name.includes('.') ? 'scopedSetting' : name);

/** One part of the calls; the files `audited-*.test.ts` take a part each. */
export function audited(part: number, parts: number): void {
  const on = stage();
  test(`what a call changed stands in its audit line, and what it did not does not (${part} of ${parts})`, async () => {
    const { problems, changed } = await auditProblems(on.rig, shard(calls, part, parts), on.mine);
    clean(problems);
    assert.ok(changed > 150 / parts, `only ${changed} calls changed anything`);
    assert.deepEqual(on.api.failures, []);
  });
}

interface Line {
  changes: { table: string; id: number; before?: object; after?: object }[];
  touched: string[] | null;
  status: number;
}
type Snapshot = Map<string, string>;

async function snapshot(api: Api): Promise<Snapshot> {
  const { db } = api.database;
  const tables = await rows<{ name: string }>(
    db,
    sql`select tablename as name from pg_tables where schemaname = current_schema() order by 1`,
  );
  const each = tables
    .filter(({ name }) => !derived.has(name))
    .map(
      ({ name }) =>
        sql`select ${sql.lit(name)} as name, coalesce(sum(hashtextextended((to_jsonb(t) - ${counters}::text[])::text, 0)::numeric), 0)::text as sum from ${sql.table(name)} t`,
    );
  const found = await rows<{ name: string; sum: string }>(db, sql`${sql.join(each, sql` union all `)}`);
  return new Map(found.map(({ name, sum }) => [name, sum]));
}
/** What every row holds that has a version of its own, with its parts. */
async function versions({ database: { db } }: Api): Promise<Map<string, { version: number; sum: string }>> {
  const tables = await rows<{ name: string }>(
    db,
    sql`select table_name as name from information_schema.columns where table_schema = current_schema() and column_name = 'rowVersion' order by 1`,
  );
  const each = tables.map(({ name }) => {
    const beside = (parts[name] ?? []).map(
      part =>
        sql`, (select jsonb_agg(to_jsonb(p) - ${counters}::text[] order by to_jsonb(p)) from ${sql.table(part)} p where p.${sql.ref(`${name}ID`)} = t.id)`,
    );
    const whole = sql`jsonb_build_array(to_jsonb(t) - ${[...counters, ...(unseen[name] ?? [])]}::text[]${sql.join(beside, sql``)})`;
    return sql`select ${sql.lit(`${name}:`)} || t.id as row, t."rowVersion" as version, hashtextextended(${whole}::text, 0)::text as sum
      from ${sql.table(name)} t where t."deletedAt" is null`;
  });
  const found = await rows<{ row: string; version: number; sum: string }>(db, sql`${sql.join(each, sql` union all `)}`);
  return new Map(found.map(({ row: name, version, sum }) => [name, { version, sum }]));
}
const differing = (a: Snapshot, b: Snapshot) => [...b].filter(([name, sum]) => a.get(name) !== sum).map(([name]) => name);

const lineOf = (call: Mounted) => `${call.method} ${call.path}`;
/** Calls of somebody who signed in, and that are no reading. */
export const mayChange = (call: Mounted) => call.method !== 'GET' && (call.auth === 'any' || call.auth === 'session');

/** What is wrong with the line of one answer, given the tables whose rows are others now. */
function lineProblems(call: Mounted, status: number, tables: readonly string[], line: Line | undefined): string[] {
  if (!call.audit)
    return [
      ...(line && (status === 200 || !call.auditsRefusals) ? ['leaves a line'] : []),
      ...(tables.length ? [`changes ${tables.join()}, and leaves no line`] : []),
    ];
  if (!line) return ['leaves no line'];
  if (line.status !== status) return [`its line says ${line.status}`];
  const said = new Set(line.changes.map(({ table }) => tableOf(table)));
  const silent = tables.filter(name => !said.has(name) && !along[name]?.some(other => said.has(other)));
  const made = [...said].filter(name => !tables.some(table => table === name || along[table]?.includes(name)));
  const empty = line.changes.filter(({ before, after }) => !Object.keys({ ...before, ...after }).length);
  return [
    ...(silent.length ? [`changes ${silent.join()}, and its line says ${JSON.stringify(line.changes).slice(0, 200)}`] : []),
    ...(made.length ? [`its line tells of ${made.join()}, and nothing there is another`] : []),
    ...(empty.length ? [`its line tells of ${empty.map(one => one.table).join()}, and not what`] : []),
    ...(!line.changes.length !== !line.touched?.length ? ['what it touched is not what it changed'] : []),
  ];
}

/** Bodies that differ from what may be there already, one field at a time. */
function* different(call: Mounted, body: Record<string, unknown>): Generator<Record<string, unknown>> {
  for (const [name, schema] of Object.entries(defOf(call.def.body).shape ?? {})) {
    const { type, entries, values } = defOf(bare(schema));
    const choices = type === 'enum' ? Object.values(entries!) : type === 'literal' ? values! : [];
    for (const value of choices) if (value !== body[name]) yield { ...body, [name]: value };
  }
  yield* varied(body);
}

export async function auditProblems(
  rig: Rig,
  calls: readonly Mounted[],
  world: World,
  known: Readonly<Record<string, string>> = withoutRows,
): Promise<{ problems: string[]; changed: number }> {
  const problems: string[] = [];
  let changed = 0;
  const { api } = rig;
  for (const call of calls.filter(mayChange)) {
    const { ids, body } = await rig.request(call, world);
    let hasChanged = false;
    const isVaried = body !== undefined && (call.method === 'PUT' || call.method === 'PATCH');
    const others = isVaried ? different(call, body as Record<string, unknown>) : [];
    // nobody else writes: what is there after one call is there before the next
    let [before, seen] = [await snapshot(api), await versions(api)];
    for (const [turn, one] of [body, body, ...others].entries()) {
      if (turn > 1 && hasChanged) break;
      const reply = await api.call(call.method, pathOf(call, ids), {
        token: world.people[call.area!].token,
        ...sendable(call, one),
      });
      const after = await snapshot(api);
      const tables = differing(before, after).filter(name => !noted[call.key]?.includes(name));
      const now = tables.length ? await versions(api) : seen;
      const was = seen;
      [before, seen] = [after, now];
      if (reply.status !== 200) {
        if (tables.length) problems.push(`${lineOf(call)} is refused (${reply.status}), and changes ${tables.join()}`);
        continue;
      }
      const line = await row<Line>(
        api.database.db,
        sql`select changes, touched, status from audit where "reqID" = ${String(reply.headers['x-request-id'])}`,
      );
      hasChanged ||= tables.length > 0;
      const silent = [...now].filter(([name, { version, sum }]) => {
        const one = was.get(name);
        return one && one.sum !== sum && one.version === version;
      });
      if (silent.length) problems.push(`${lineOf(call)}: raises no version of ${silent.map(([name]) => name).join()}`);
      problems.push(
        ...lineProblems(call, reply.status, tables, line).map(problem => `${lineOf(call)}, time ${turn + 1}: ${problem}`),
      );
    }
    if (hasChanged) changed++;
    if (call.audit && !hasChanged && !known[call.key])
      problems.push(`${lineOf(call)}: changed nothing, so its line was not seen`);
    if (hasChanged && known[call.key]) problems.push(`${lineOf(call)}: changes rows`);
  }
  return { problems, changed };
}
