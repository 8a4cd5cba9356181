/** The line an operator pastes on a machine; that it works is shown in system/join.test.ts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { comesIn } from '#server/services/join-line.ts';
import { by, ok } from './expect.ts';
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
