/** Signing in, for the tests of sessions: a server of the file's own, one operator `a`, and the calls by short names. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { errors } from '#contract/errors.ts';
import type { Tokens } from '#server/kit/session.ts';
import { Api, type Person, password, type Reply, type Tenant } from './harness.ts';

export let api: Api;
export let a: Tenant;
before(async () => {
  api = await Api.start();
  // Delays of five seconds must not run out while a busy machine computes ten hashes.
  const begun = Date.now();
  api.sessions.tries.now = () => begun;
  a = await api.tenant('a');
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

export const is = (reply: Reply, name: keyof typeof errors, status = errors[name].status) =>
  assert.deepEqual([reply.status, reply.body?.code], [status, errors[name].code], reply.text);
export const self = (token: string, area = 'user', headers: Record<string, string> = {}) =>
  api.call('GET', `/${area}/account/self`, { token, headers });
export const verify = (email: string, secret = password, area = 'user', headers: Record<string, string> = {}) =>
  api.call('POST', `/${area}/verify`, { body: { email, password: secret }, headers });
let people = 0;
export const customer = () => api.account('user', `customer-${++people}@test.test`, { parentClient: a.client.id });
export const signedIn = async (person: Person): Promise<Tokens> => {
  const reply = await verify(person.email, password, person.area);
  assert.equal(reply.status, 200, reply.text);
  return reply.body;
};
