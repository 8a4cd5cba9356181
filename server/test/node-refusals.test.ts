/** What is refused of nodes says why, in words, and what was begun all the same is named. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { createUser } from '@nats-io/nkeys';
import { sql } from 'kysely';
import { lastMinors, releasesApart } from '#contract/node/bundle.ts';
import { by, broken, is, multiple, ok } from './expect.ts';
import { Api, offeredVersion, type Tenant } from './harness.ts';
import { nodeGate } from './guards/world.ts';

let api: Api;
let tenant: Tenant;
let call: ReturnType<typeof by>;
let serial = 0;
before(async () => {
  api = await Api.start();
  tenant = await api.tenant('a');
  call = by(api, tenant.client);
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});
async function node({ version = '0.1.0-old', zoneID = tenant.zoneID as number | null, able = true } = {}) {
  const name = `r${++serial}`;
  const made = await sql<{
    id: number;
  }>`insert into node ("clientID", "zoneID", name, "publicKey", status, version, beat, "lastBeat")
      values (${tenant.client.id}, ${zoneID}, ${name}, ${`key-${serial}`}, 'normal', ${version}, ${JSON.stringify({ upgrade: { able }, machine: { cores: 2 } })}::jsonb, now())
      returning id`.execute(api.database.db);
  return { id: Number(made.rows[0]!.id), name };
}
const lines = (reply: { body: { errorData: { message: string; targets: string[] }[] } }) =>
  reply.body.errorData.map(({ message, targets }) => `${message} (${targets.join(', ')})`);
const upgrade = (ids: number[]) => call.post('/client/node/upgrade', { ids, unproven: true });

test('of several nodes each refusal has its reason, those of the same reason stand together, and the task of the others is named', async () => {
  const [newest, newer, far, local, good] = [
    await node({ version: offeredVersion }),
    await node({ version: offeredVersion }),
    await node({ version: '0.9.0-x' }),
    await node({ able: false }),
    await node(),
  ];
  const reply = await upgrade([newest, newer, far, local, good].map(({ id }) => id));
  multiple(
    reply,
    ['parameter', [newest.name, newer.name]],
    ['nodeVersionMismatch', [far.name]],
    ['nodeVersionMismatch', [local.name]],
  );
  assert.match(lines(reply)[0]!, /: Already up to date /);
  assert.match(lines(reply)[1]!, /0\.9\.0-x.*new join line/);
  const { task } = await call.read(`/client/task/${reply.body.extra.taskID}`);
  assert.deepEqual([task.kind, task.total], ['nodeUpgrade', 1]);
  ok(await call.put(`/client/task/${task.id}/cancel`));

  // one alone says it, too
  const alone = await upgrade([far.id]);
  is(alone, 'nodeVersionMismatch');
  assert.match(alone.body.message, /new join line/);
  broken(await upgrade([newest.id]), '', 'refused');
});

test('of commands to nodes, too', async () => {
  const [one, two] = [await node(), await node()];
  const reply = await call.del('/client/node/currentCache', { ids: [one.id, two.id, 999_999] });
  multiple(reply, ['parameter', ['999999']]);
  const { task } = await call.read(`/client/task/${reply.body.extra.taskID}`);
  assert.deepEqual([task.kind, task.total], ['nodeCurrentCache', 2]);
});

test('a node without a zone is uninitialized: lists and figures say so, and what it is refused for', async () => {
  const { id, name } = await node({ zoneID: null });
  const { data } = await call.read(`/client/nodes/uninitialized?keyword=${name}`);
  assert.deepEqual(
    data.map((one: { status: string }) => one.status),
    ['uninitialized'],
  );
  const told = await call.get(`/client/node/${id}/node-info`);
  assert.match(told.text, /^status=uninitialized$/m);
  for (const reply of [
    await call.post('/client/node/reboot', { ids: [id] }),
    await call.post('/client/nodes/deinitialize', { ids: [id] }),
    await call.post('/client/node/moveToZone', { nodeIDs: [id], zoneID: tenant.zoneID }),
  ]) {
    broken(reply, '', 'refused');
    assert.equal(reply.body.errorData[0].bounds.why, 'nodeUninitialized');
  }
});

test('a machine more than two releases off does not join, and its token stays good', async () => {
  const joining = await Api.start({ nodes: await nodeGate(() => api) }, {}, api.database.url);
  try {
    const { token } = (await call.post('/client/nodes/joinToken', { zoneID: tenant.zoneID })).body;
    const body = { token, name: 'late', publicKey: createUser().getPublicKey(), addresses: ['192.0.2.9'], version: '0.4.0' };
    const refused = await joining.call('POST', '/node/join', { body });
    is(refused, 'nodeVersionMismatch');
    assert.match(refused.body.message, /0\.4\.0/);
    ok(await joining.call('POST', '/node/join', { body: { ...body, version: '0.3.9-abc' } }));
  } finally {
    await joining.stop();
  }
});

test('the first release of a major number follows the last one before it', () => {
  const lasts = [12, 3];
  assert.equal(releasesApart('0.12.0', '1.0.0', lasts), 1);
  assert.equal(releasesApart('1.1.0-a', '0.12.3-b', lasts), 2);
  assert.equal(releasesApart('0.11.0', '2.0.0', lasts), 6);
  assert.equal(releasesApart('0.12.0', '3.0.0', lasts), Number.POSITIVE_INFINITY);
  assert.equal(releasesApart('0.12.0', 'nonsense', lasts), Number.POSITIVE_INFINITY);
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
  const [major] = version.split('.').map(Number);
  // whoever makes the first release of a major number names the last one before it (contract/src/node/bundle.ts, lastMinors)
  // the first release of it would else refuse every node there is, and one too many would take a release that is not over for one that is
  assert.equal(
    lastMinors.length,
    major,
    `version ${version} has ${major} major numbers before it, and lastMinors names the last release of ${lastMinors.length}`,
  );
  for (let of = 0; of < major!; of++)
    assert.ok(Number.isFinite(releasesApart(`${of}.0.0`, version)), `the last minor number of ${of} is not known`);
  assert.equal(releasesApart('0.13.0', '1.0.0', lasts), Number.POSITIVE_INFINITY, 'after the last one there is none');
});
