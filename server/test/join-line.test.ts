/** The line an operator pastes on a machine; that it works is shown in system/join.test.ts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { stateOfToken } from '#server/bus/join-token.ts';
import { sha256 } from '#server/kit/crypto.ts';
import { comesIn } from '#server/services/join-line.ts';
import { by, is, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
});
after(() => api?.stop());

const url = 'https://cdn.test:8444';
const lineFor = async (told: { ca: string | undefined; pin: string | undefined }) => {
  api.services.told = { url, ...told };
  return ok(await by(api, a.client).post('/client/nodes/joinToken', {})).body as Record<string, string>;
};

test('it pins the key where our own authority vouches for it, and leaves to curl what every machine knows', async () => {
  const known = await lineFor({ ca: undefined, pin: undefined });
  assert.equal(known['command'], `curl -fsS ${url}/join/${known['token']} | sh`);
  const own = await lineFor({ ca: 'PEM', pin: 'sha256//AAAA=' });
  assert.equal(own['command'], `curl -fsSk --pinnedpubkey 'sha256//AAAA=' ${url}/join/${own['token']} | sh`);
});

test('machines elsewhere come where both console and bus can be reached', () => {
  const told = { url, ca: undefined, pin: undefined };
  assert.ok(comesIn({ told, toldUrl: 'tls://192.0.2.1:4222' }));
  assert.ok(!comesIn({ told, toldUrl: 'nats://127.0.0.1:4222' }));
  assert.ok(!comesIn({ told, toldUrl: undefined }));
  assert.ok(!comesIn({ told: undefined, toldUrl: 'tls://192.0.2.1:4222' }));
});

test('open join lines are listed without what opens them, and taken back; whoever comes with one then is nobody', async () => {
  const b = await api.tenant('lines');
  const them = by(api, b.client);
  const make = async (body: object) => ok(await them.post('/client/nodes/joinToken', body)).body.token as string;
  const [one, two, late] = [await make({ name: 'one', zoneID: b.zoneID }), await make({ type: 'relay' }), await make({})];
  await sql`update "joinToken" set "expiredAt" = now() where hash = ${sha256(late)}`.execute(api.database.db);
  const list = async () => (await them.read('/client/nodes/joinTokens?sortBy=createdAt&orderBy=asc')).data;
  const found = await list();
  assert.deepEqual(
    found.map(({ name, zoneID, type, maker }: Record<string, unknown>) => [name, zoneID, type, maker]),
    [
      ['one', b.zoneID, 'edge', b.client.email],
      [null, null, 'relay', b.client.email],
    ],
  );
  for (const text of [one, sha256(one).toString('hex')]) assert.ok(!JSON.stringify(found).includes(text));
  const joins = (token: string) => stateOfToken(api.database.pool, token);
  assert.equal(await joins(one), 'open');
  is(await by(api, a.client).del('/client/nodes/joinTokens', { ids: [found[0].id] }), 'parameter', 404);
  ok(await them.del('/client/nodes/joinTokens', { ids: [found[0].id] }));
  assert.deepEqual([await joins(one), await joins(two)], ['unknown', 'open']);
  assert.equal((await list()).length, 1);
  // one that was used is none that is open, and stays for a machine whose answer was lost
  await sql`update "joinToken" set "usedAt" = now() where hash = ${sha256(two)}`.execute(api.database.db);
  assert.deepEqual(await list(), []);
  is(await them.del('/client/nodes/joinTokens', { ids: [found[1].id] }), 'parameter', 404);
  assert.equal(await joins(two), 'used');
});
