import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { readSetting, writeSetting } from '#server/system/settings.ts';
import { Api } from './harness.ts';

test('a setting is its owner’s, has a default, and says whether it changed', async t => {
  const api = await Api.start();
  t.after(() => api.stop());
  const { db } = api.database;
  const [one, two] = [await api.account('client', 'one@x.test'), await api.account('client', 'two@x.test')];
  assert.deepEqual(await readSetting(db, one.id, 'originAllow'), []);
  assert.equal(await writeSetting(db, one.id, 'originAllow', ['10.0.0.0/8']), true);
  assert.equal(await writeSetting(db, one.id, 'originAllow', ['10.0.0.0/8']), false);
  assert.equal(await writeSetting(db, one.id, 'originAllow', ['10.1.0.0/16']), true);
  assert.deepEqual(await readSetting(db, one.id, 'originAllow'), ['10.1.0.0/16']);
  assert.deepEqual(await readSetting(db, two.id, 'originAllow'), []);
  assert.deepEqual(await readSetting(db, null, 'originAllow'), []);
  await sql`update setting set value = '{"not": "a list"}' where key = 'originAllow'`.execute(db);
  assert.deepEqual(await readSetting(db, one.id, 'originAllow'), []);
});
