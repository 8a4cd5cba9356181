/** Every filter of every list filters, every sort sorts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listProblems } from './lists.ts';
import { calls, clean, stage } from './stage.ts';
import { lists } from './world.ts';

const on = stage();
/** Their rows are log lines: server/test/analytics/queries.test.ts asks for them by each field. */
const elsewhere = [
  'POST /user/logs/access',
  'POST /client/logs/access',
  // server/test/audit.test.ts
  'POST /user/auditLogs',
  'POST /client/auditLogs',
  'POST /admin/auditLogs',
];

test('every filter filters, every sort sorts', async () => {
  const asked = calls.filter(call => !elsewhere.includes(`${call.method} ${call.path}`));
  const { problems, filters, sorts } = await listProblems(on.rig, asked, on.mine, lists);
  assert.deepEqual(on.api.failures, []);
  clean(problems);
  assert.ok(filters > 50 && sorts > 80, `${filters} filters, ${sorts} sorts`);
  assert.deepEqual(on.api.failures, []);
});
