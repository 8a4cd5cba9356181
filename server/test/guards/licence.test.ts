/** An operator's licence has ended: what creates, enables or edits is refused, everything else goes on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { clean, everybodys, stage, tokensOf } from './stage.ts';
import { pathOf } from './world.ts';

/** Changes that go on without a licence, each with its reason; deletions aside. */
const free: Readonly<Record<string, string>> = {
  'PATCH /{area}/password': 'one’s own',
  'PUT /{area}/account/self': 'one’s own',
  'POST /{area}/account/identity': 'one’s own',
  'POST /{area}/account/passkey': 'one’s own: protects what is there',
  'POST /{area}/login2fa/phase2': 'one’s own: protects what is there',
  'POST /{area}/notices/choices': 'one’s own',
  'POST /{area}/account/resendEmail': 'an account that is there gets its link again',
  'POST /{area}/proxy': 'opens a session, in which the same holds',
  'PUT /offline/license': 'brings the licence that is lacking',
};
const on = stage();
const nobody = 2_000_000_019;

test('every call of an operator and its customers: 101019, but for reading, deleting and what is named here', async () => {
  const { api, mine } = on;
  const tokens = tokensOf(mine);
  const closed = everybodys.filter(
    call => (call.auth === 'any' || call.auth === 'session') && call.area && call.area !== 'admin',
  );
  const changing = closed.filter(call => call.audit && call.method !== 'DELETE');
  assert.deepEqual(
    [...new Set(changing.filter(call => !call.takesLicence).map(call => call.key))].sort(),
    Object.keys(free).sort(),
    'a change that goes on without a licence has its reason here',
  );
  await sql`insert into "licenseOrder" ("clientID", kind, "expiredAt") values (${mine.people.client.id}, 'order', now() - interval '1 s')`.execute(
    api.database.db,
  );
  await api.changed();
  const problems: string[] = [];
  let refused = 0;
  for (const call of closed) {
    const path = pathOf(call, Object.fromEntries(call.params.map(name => [name, nobody])));
    const reply = await api.call(call.method, path, {
      token: tokens[call.area!],
      ...(call.method === 'GET' ? {} : { raw: '{"broken' }),
      stream: call.def.as === 'sse' && call.params.length === 0,
    });
    const isRefused = reply.body?.code === 101019 && reply.status === 403;
    if (isRefused) refused++;
    if (isRefused !== (changing.includes(call) && call.takesLicence))
      problems.push(`${call.method} ${call.path}: ${reply.status} ${reply.text.slice(0, 100)}`);
  }
  assert.ok(refused > 50, `only ${refused} were refused`);
  clean(problems);
});
