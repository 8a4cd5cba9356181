/** A server with two operators of their own, and whoever asks: the first one, and its customer. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { by } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

export let api: Api;
export let a: Tenant;
export let b: Tenant;
/** The first operator. */
export let op: ReturnType<typeof by>;
/** Its customer. */
export let me: ReturnType<typeof by>;

before(async () => {
  api = await Api.start();
  [a, b] = [await api.tenant('a'), await api.tenant('b')];
  [op, me] = [by(api, a.client), by(api, a.user)];
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});
