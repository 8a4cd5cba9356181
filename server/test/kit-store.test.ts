/** What the kit promises of the database: times, prepared statements, columns that are computed, work item by item. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { fail } from '#contract/errors.ts';
import { Context } from '#server/kit/context.ts';
import { Store } from '#server/kit/store.ts';
import { table } from '#server/kit/table.ts';
import { row, rows } from '#server/store/db.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
});
after(() => api?.stop());

describe('the database', () => {
  test('times come as the wire has them, to the millisecond', async () => {
    const times = [
      '2026-01-02T03:04:05Z',
      '2026-01-02T03:04:05.1Z',
      '2026-01-02T03:04:05.12Z',
      '2026-01-02T03:04:05.123456Z',
      '2026-06-30T23:59:59.999+02:00',
      '0001-01-01T00:00:00Z',
      '9999-12-31T23:59:59.999Z',
    ];
    for (const time of times) {
      const found = await row<{ t: string }>(api.database.db, sql`select ${time}::timestamptz as t`);
      assert.equal(found!.t, new Date(time).toISOString());
    }
  });

  test('a statement that comes again is prepared; a column that comes in between does no lasting harm', async () => {
    const { db } = api.database;
    const ask = () => rows(db, sql`select * from line where id = ${1}`);
    for (let i = 0; i < 20; i++) await ask();
    const prepared = await Promise.all(
      Array.from({ length: 5 }, () =>
        rows(db, sql`select 1 from pg_prepared_statements where statement like 'select * from line%' and ${1} = 1`),
      ),
    );
    assert.ok(prepared.some(one => one.length === 1));
    await sql`alter table line add column extra int`.execute(db);
    // one connection after the other finds out; each says so once at most
    let failures = 0;
    for (let i = 0; i < 40; i++) await ask().catch(() => failures++);
    assert.ok(failures <= 5, String(failures));
    for (let i = 0; i < 20; i++) assert.equal((await ask()).length, 1);
    await sql`alter table line drop column extra`.execute(db);
    for (let i = 0; i < 10; i++) await ask().catch(() => {});
  });
});

describe('small parts', () => {
  test('each: an id said twice is one id; a fault that is no refusal ends everything', async () => {
    const { db } = api.database;
    const seen: number[] = [];
    await db.transaction().execute(async tx => {
      const ctx = new Context({ actor: {} as never, db: tx, language: 'en_US', reqID: '', ip: '', services: api.services });
      await ctx.each([1, 2, 1], String, async one => void seen.push(one));
      await assert.rejects(
        ctx.each([1, 2], String, async () => {
          throw new Error('a fault');
        }),
        /a fault/,
      );
    });
    assert.deepEqual(seen, [1, 2]);
  });

  test('each: an item that fails leaves nothing to be done after the commit', async () => {
    const told: number[] = [];
    await api.database.db.transaction().execute(async tx => {
      const ctx = new Context({ actor: {} as never, db: tx, language: 'en_US', reqID: '', ip: '', services: api.services });
      const act = async (one: number) => {
        ctx.after.push(() => void told.push(one));
        if (one === 2) throw fail('duplicated');
      };
      await assert.rejects(ctx.each([1, 2, 3], String, act));
      for (const one of ctx.after) one();
    });
    assert.deepEqual(told, [1, 3]);
  });
});

describe('columns that are computed', () => {
  test('are computed for the rows of the answer alone, and only where they are asked for', async () => {
    const { db } = api.database;
    const make = async (name: string) =>
      (await row<{ id: number }>(db, sql`insert into zone ("clientID", name) values (${a.client.id}, ${name}) returning id`))!.id;
    const [first, second, last] = [await make('computed-1'), await make('computed-2'), await make('computed-3')];
    const costly = table<{ id: number; name: string; ratio: number }>()({
      table: 'zone',
      scope: { tenant: [['clientID']], owner: () => sql`t.name like 'computed-%'` },
      sort: ['name'],
      // fails for the two rows that no page below shows
      extra: { ratio: sql`1 / (case when t.id in (${sql.lit(first)}, ${sql.lit(last)}) then 0 else 1 end)` },
    });
    const actor = {} as never;
    const effects = { holds: false, changes: [], documents: new Map(), open: new Set<string>() };
    const store = new Store(db, actor, costly, {}, effects);
    assert.deepEqual(await store.pick(['id', 'name'], [], sql`t.name`), [
      { id: first, name: 'computed-1' },
      { id: second, name: 'computed-2' },
      { id: last, name: 'computed-3' },
    ]);
    for (const query of [
      { page: 2, pageSize: 1 },
      { page: 2, pageSize: 1, sortBy: 'name' },
    ]) {
      const { data, total } = await store.page(query);
      assert.deepEqual([data.map(one => [one.id, one.ratio]), total], [[[second, 1]], 3]);
    }
    await assert.rejects(store.pick(['ratio']), /division by zero/);
  });
});
