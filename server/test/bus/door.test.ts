/** The two calls that strangers may make: what they cost, and that nobody else pays. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { createUser } from '@nats-io/nkeys';
import { errors, fail } from '#contract/errors.ts';
import { isSignedBy } from '#server/bus/nkeys.ts';
import type { Enter, NodeGrant } from '#server/kit/services.ts';
import { Api, type Reply } from '../harness.ts';

const grant: NodeGrant = {
  nodeID: 1,
  zoneID: null,
  jwt: 'j',
  natsUrl: 'nats://bus.test',
  documentKey: 'k',
  tls: null,
  zoneKey: null,
  type: 'edge' as const,
  member: null,
};
let api: Api;
/** how often the database would have been asked */
let asked = 0;
let answer: () => Promise<NodeGrant>;
const wrong = async () => {
  throw fail('invalidToken');
};
const nobody = async () => false;
const act = (_: unknown, enter: Enter) => enter(() => (asked++, answer()));
before(async () => {
  api = await Api.start({ nodes: { join: act, renew: act, isExpected: nobody, isOurs: nobody, notify: async () => {} } });
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const renew = (from: string, nodeID = 1): Promise<Reply> =>
  api.call('POST', '/node/credentials', {
    body: { nodeID, time: Date.now(), signature: Buffer.alloc(64, 7).toString('base64') },
    headers: { 'x-forwarded-for': from },
  });
const join = (from: string): Promise<Reply> =>
  api.call('POST', '/node/join', {
    body: { token: 'guess', name: 'n', publicKey: 'U', addresses: [], version: '1' },
    headers: { 'x-forwarded-for': from },
  });

test('a stranger is held up by the address, before anything is looked up; a fleet behind one address is not', async () => {
  answer = wrong;
  const replies: Reply[] = [];
  for (let i = 0; i < 300; i++) replies.push(await renew('192.0.2.1', i + 1));
  const before_ = asked;
  assert.ok(before_ < 70, String(before_));
  const last = replies.at(-1)!;
  assert.deepEqual([last.status, last.body.code], [429, errors.invalidToken.code], last.text);
  assert.equal(last.body.errorData[0].rule, 'tooManyTries');
  assert.equal((await join('192.0.2.1')).status, 429);
  assert.equal(asked, before_);
  for (let i = 0; i < 100; i++) await join('2001:db8::' + i.toString(16));
  assert.ok(asked - before_ < 70, 'one who has many addresses of one network');

  answer = async () => grant;
  assert.equal((await renew('192.0.2.2')).status, 200, 'another address');
  for (let i = 0; i < 300; i++) assert.equal((await renew('192.0.2.3', i + 1)).status, 200);

  // a failure of ours is nobody's wrong try
  answer = async () => {
    throw new Error('the database is away');
  };
  for (let i = 0; i < 100; i++) assert.equal((await renew('192.0.2.4')).status, 500);
  api.failures.length = 0;
  answer = async () => grant;
  assert.equal((await renew('192.0.2.4')).status, 200);
});

test('strangers from everywhere: few at once are let in, the rest wait or go, and nobody is forgotten', async () => {
  const { promise, resolve } = Promise.withResolvers<NodeGrant>();
  answer = () => promise;
  asked = 0;
  const refused: Reply[] = [];
  const all = Array.from({ length: 1200 }, async (_, i) => {
    const reply = await renew(`198.51.${i >> 8}.${i & 255}`);
    if (reply.status === 429) refused.push(reply);
    return reply;
  });
  // those that find no room are answered while the others are still inside
  while (refused.length < 192) await new Promise(setImmediate);
  assert.equal(asked, 8);
  resolve(grant);
  const replies = await Promise.all(all);
  assert.equal(replies.filter(reply => reply.status === 200).length, 1008);
  assert.equal((await renew('198.51.4.175')).status, 200, 'who was sent away may come back');
});

test('a signature is checked in C: the curve in JavaScript holds everybody up for 16 ms', () => {
  const root = new URL('../../src/', import.meta.url).pathname;
  const slow = globSync('**/*.ts', { cwd: root }).filter(file => readFileSync(root + file, 'utf8').includes("'@nats-io/nkeys'"));
  assert.deepEqual(slow, []);
  const user = createUser();
  const signature = Buffer.from(user.sign(new TextEncoder().encode('text'))).toString('base64');
  const key = user.getPublicKey();
  assert.equal(isSignedBy(key, 'text', signature), true);
  assert.equal(isSignedBy(key, 'text.', signature), false);
  assert.equal(isSignedBy(createUser().getPublicKey(), 'text', signature), false);
  for (const bad of ['', 'AAAA', `AAAA${signature}`, '\u0000']) assert.equal(isSignedBy(key, 'text', bad), false);
  for (const bad of ['', 'U', 'nonsense', key.slice(1)]) assert.equal(isSignedBy(bad, 'text', signature), false);
});
