import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Identity, Refusal } from '../src/identity.ts';
import { Link } from '../src/link.ts';

test('a node that is given no credentials asks less and less often, and at once when it is told to', async () => {
  let asked = 0;
  const logged: string[] = [];
  const identity = {
    grant: { nodeID: 1, zoneID: null, jwt: '', natsUrl: '', documentKey: 'k', tls: null },
    server: 'http://server.test',
    isNew: () => false,
    renew: async () => {
      asked++;
      throw new Refusal('no');
    },
  } as unknown as Identity;
  const nothing = async () => {};
  const link = new Link({
    identity,
    name: 'n',
    version: '1',
    connected: nothing,
    again: () => {},
    moved: nothing,
    closed: nothing,
    log: text => logged.push(text),
  });
  await link.renew(true);
  // a bus that refuses is knocked at several times a second
  for (let i = 0; i < 20; i++) await link.renew(true);
  assert.equal(asked, 1);
  assert.equal(logged.length, 1);
  await link.renew(false, true);
  assert.equal(asked, 2);
});
