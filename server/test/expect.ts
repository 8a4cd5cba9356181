/** What tests of calls ask again and again. */
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { errors, type ErrorName } from '#contract/errors.ts';
import { rows } from '#server/store/db.ts';
import type { Api, Person, Reply } from './harness.ts';

/** The reply is this error of the catalogue. */
export function is(reply: Reply, name: ErrorName, status = errors[name].status): void {
  assert.deepEqual([reply.status, reply.body?.code], [status, errors[name].code], reply.text);
}

/** The reply says 101003 about this field. */
export function broken(reply: Reply, path: string, rule?: string, status = 400): void {
  is(reply, 'parameter', status);
  const found = (reply.body.errorData as { path: string; rule: string }[]).find(one => one.path === path);
  assert.ok(found, reply.text);
  if (rule) assert.equal(found.rule, rule);
}

/** Part of a bulk call failed: which targets with which error. */
export function multiple(reply: Reply, ...failed: [ErrorName, string[]][]): void {
  is(reply, 'multiple');
  const told = reply.body.errorData as { code: number; message: string; targets: string[] }[];
  assert.deepEqual(
    told.map(({ code, targets }) => [code, targets]),
    failed.map(([name, targets]) => [errors[name].code, targets]),
  );
  for (const { code, message } of told)
    assert.ok(
      message.startsWith(
        Object.values(errors)
          .find(e => e.code === code)!
          .text.en_US.split(' (')[0]!,
      ),
      message,
    );
}

/** Calls of one person that must succeed. */
export function by(api: Api, person: Pick<Person, 'token'>) {
  const send = (method: string) => (path: string, body?: unknown) =>
    api.call(method, path, { token: person.token, ...(body === undefined ? {} : { body }) });
  const call = { get: send('GET'), post: send('POST'), put: send('PUT'), patch: send('PATCH'), del: send('DELETE') };
  return {
    ...call,
    /** POST that makes one row */
    async make(path: string, body: unknown): Promise<number> {
      const reply = await call.post(path, body);
      assert.equal(reply.status, 200, `${path} ${reply.text} ${api.failures.join(' ')}`);
      return reply.body.ids[0];
    },
    // oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect
    async read(path: string): Promise<any> {
      const reply = await call.get(path);
      assert.equal(reply.status, 200, `${path} ${reply.text} ${api.failures.join(' ')}`);
      return reply.body;
    },
  };
}
export const ok = (reply: Reply): Reply => {
  assert.equal(reply.status, 200, reply.text);
  return reply;
};

export interface AuditRow {
  accountName: string;
  method: string;
  url: string;
  permission: string;
  body: Record<string, unknown>;
  status: number;
  durationMs: number;
  reason: string | null;
  changes: { table: string; id: number; before?: Record<string, unknown>; after?: Record<string, unknown> }[];
}
/** What stands behind the calls: audit rows, outbox rows and revisions since a mark. */
export async function mark(api: Api) {
  const { db } = api.database;
  const last = async (table: string) =>
    Number((await rows<{ n: number | null }>(db, sql`select max(id) as n from ${sql.table(table)}`))[0]?.n ?? 0);
  const [audit, outbox] = [await last('audit'), await last('outbox')];
  return {
    /** of what was done */
    audits: () =>
      rows<AuditRow>(db, sql`select * from audit where id > ${audit} and (status = 200 or changes <> '[]') order by id`),
    /** of what was refused */
    refusals: () =>
      rows<AuditRow>(db, sql`select * from audit where id > ${audit} and status <> 200 and changes = '[]' order by id`),
    outbox: () =>
      rows<{ kind: string; entityID: number; siteID: number | null; revision: number }>(
        db,
        sql`select kind, "entityID", "siteID", revision from outbox where id > ${outbox} order by kind, "entityID"`,
      ),
  };
}
