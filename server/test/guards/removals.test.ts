/** Every deletion of several rows does what it can and names the rest. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { calls as declare, mounted } from '#contract/kit/call.ts';
import { ids, obj } from '#contract/kit/schema.ts';
import { sharedParams } from '#server/calls.ts';
import { implement } from '#server/kit/implement.ts';
import { removeAll } from '#server/kit/removal.ts';
import { zoneTable } from '#server/node/tables.ts';
import { Api } from '../harness.ts';
import { removalProblems, removesRows } from './removals.ts';
import { calls, clean, stage } from './stage.ts';
import { Rig } from './world.ts';

const on = stage();

test('sample: a deletion that fails as a whole, one that takes more than it was given, one that says nothing', async () => {
  const group = declare(
    { base: '/client/bad', resource: 'zones' },
    {
      'DELETE /whole/zone': { body: obj({ ids: ids() }), errors: ['multiple'] },
      'DELETE /more/zone': { body: obj({ ids: ids() }), errors: ['multiple'] },
      'DELETE /silent/zone': { body: obj({ ids: ids() }), errors: ['multiple'] },
      'DELETE /good/zone': { body: obj({ ids: ids() }), errors: ['multiple'] },
    },
  );
  const handlers = implement(group, {
    'DELETE /whole/zone': async ({ ctx, body }) => (await ctx.store(zoneTable).remove(body.ids), {}),
    'DELETE /more/zone': async ({ ctx, body }) => {
      if (body.ids.length > 1) await sql`update zone set memo = 'x' where id = ${on.theirs.rows.get('zone')}`.execute(ctx.db);
      return removeAll(ctx.store(zoneTable), body.ids);
    },
    'DELETE /silent/zone': async ({ ctx, body }) => {
      const there = await ctx.store(zoneTable).there(body.ids);
      await ctx.store(zoneTable).remove(there.map(({ id }) => id));
      return {};
    },
    'DELETE /good/zone': ({ ctx, body }) => removeAll(ctx.store(zoneTable), body.ids),
  });
  const app = await Api.start({}, { groups: [group], implementations: [handlers] }, on.api.database.url);
  try {
    const token = (await app.sessions.open(app.database.db, on.mine.people.client.id)).accessToken;
    const world = { ...on.mine, people: { ...on.mine.people, client: { ...on.mine.people.client, token } } };
    const rig = new Rig(app, { groups: [group], implementations: [handlers], params: sharedParams }, on.rig.gate);
    const problems = await removalProblems(rig, [...mounted([group])], world, on.theirs);
    const about = (name: string) => problems.filter(one => one.includes(`/${name}/`)).join('\n');
    assert.match(about('whole'), /404 .* instead of 101009/);
    assert.match(about('more'), /changes .*zone 4.*, and of one row alone .*zone 2/);
    assert.match(about('silent'), /200 \{\} instead of 101009/);
    assert.equal(about('good'), '');
  } finally {
    await app.stop();
  }
});

test('what can go goes, the answer names the others, and nothing else is changed', async () => {
  const all = calls.filter(removesRows);
  assert.ok(all.length >= 40, `only ${all.length} deletions`);
  clean(await removalProblems(on.rig, all, on.mine, on.theirs));
  assert.deepEqual(on.api.failures, []);
});
