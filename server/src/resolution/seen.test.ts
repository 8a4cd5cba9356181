/** Where names lead, at a resolver that keeps silent. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { look } from './check-cname.ts';
import { seenOf } from './seen.ts';

/** `again`: it was asked the same a second time, as happens when nobody has given up. */
async function silent() {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const asked = new Set<string>();
  let first = () => {};
  let second = () => {};
  const isAsked = new Promise<void>(done => (first = done));
  const again = new Promise<void>(done => (second = done));
  socket.on('message', (bytes: Buffer) => {
    const question = bytes.subarray(12).toString('latin1');
    (asked.has(question) ? second : first)();
    asked.add(question);
  });
  return { socket, asked, isAsked, again, address: `127.0.0.1:${socket.address().port}` };
}

test('a name that nobody answers for is given up when its time is over, and is unknown', async () => {
  const { socket, isAsked, again, address } = await silent();
  const over = new AbortController();
  const seen = seenOf('www.silent.test', [address], over.signal);
  await isAsked;
  over.abort();
  assert.equal(await Promise.race([seen, again.then(() => 'asked again')]), 'tooLate');
  socket.close();
});

test('a call whose time is over asks for no further name, and says of all the rest that it is unknown', async () => {
  const { socket, asked, isAsked, again, address } = await silent();
  const over = new AbortController();
  const names = Array.from({ length: 30 }, (_, i) => ({
    id: i,
    domainName: `n${i}.silent.test`,
    siteID: 1,
    targets: [],
    addresses: [],
  }));
  const policy = new AddressPolicy({ operator: [], environment: [], own: [] });
  const found = look(names, { dns: { resolvers: [address], apis: {} } }, policy, over.signal);
  await isAsked;
  over.abort();
  const said = await Promise.race([found, again.then(() => [])]);
  assert.deepEqual(
    said.map(({ status, reason }) => `${status} ${reason}`),
    names.map(() => 'unknown tooLate'),
  );
  assert.ok(asked.size < names.length);
  socket.close();
});
