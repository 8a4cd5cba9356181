/** Where names lead, at a resolver that keeps silent. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { type Party, partyOf } from '../kit/turns.ts';
import { look, watch } from './check-cname.ts';
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

const policy = new AddressPolicy({ operator: [], environment: [], own: [] });
const customer = (rootID: number): Party => partyOf({ area: 'user', clientID: 1, rootID });
const namesOf = (kind: string, length: number) =>
  Array.from({ length }, (_, i) => ({ id: i, domainName: `${kind}${i}.silent.test`, siteID: 1, targets: [], addresses: [] }));

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
  const names = namesOf('n', 30);
  const found = look(names, { dns: { resolvers: [address], apis: {} } }, policy, { party: customer(1), signal: over.signal });
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

test('one customer, or all of them, leave places to others, to operators and to what looks by itself', async () => {
  const { socket, asked, address } = await silent();
  const over = new AbortController();
  const all: Promise<unknown>[] = [];
  const ask = (party: Party, kind: string, length: number) =>
    look(namesOf(kind, length), { dns: { resolvers: [address], apis: {} } }, policy, { party, signal: over.signal });
  const askedOf = (kind: string) => [...asked].filter(question => question.includes(kind)).length;
  /** The moment in which one of these is asked for. */
  const isAsked = async (kind: string) => {
    while (!askedOf(kind)) await once(socket, 'message');
  };
  try {
    // as many as there are places for all
    for (let call = 0; call < 6; call++) all.push(ask(customer(1), 'mine', 30));
    all.push(ask(customer(2), 'other', 1));
    await isAsked('other');
    assert.ok(askedOf('mine') < 32, `${askedOf('mine')} of one`);
    await assert.rejects(ask(customer(1), 'more', 30), {
      status: 429,
      errorData: [{ path: '', rule: 'tooManyCalls', bounds: { seconds: 30 } }],
    });
    for (let root = 3; root < 9; root++) all.push(ask(customer(root), 'crowd', 30));
    all.push(ask(partyOf({ area: 'client', clientID: 1, rootID: 1 }), 'operator', 1), ask(watch, 'watch', 1));
    await Promise.all([isAsked('operator'), isAsked('watch')]);
    assert.ok(askedOf('mine') + askedOf('other') + askedOf('crowd') < 32);
  } finally {
    over.abort();
    await Promise.all(all);
    socket.close();
  }
});
