import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Signer, createBusKeys } from '#server/bus/credentials.ts';
import { localNode } from './local-node.ts';

test('a node that joined on the word of other bus keys joins once more: also when those of before are put back', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'breakwater-local-node-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const busKeys = join(folder, 'keys.json');
  const joined = async (busIsNew = false) =>
    (await localNode(folder, { busIsNew, busKeys, databaseIsOurs: true })).BREAKWATER_NODE_JOINED;
  const [before, since] = [createBusKeys(), createBusKeys()];
  const put = (keys: object) => writeFileSync(busKeys, JSON.stringify(keys));
  put(since);
  assert.equal(await joined(), 'false', 'it never joined');

  const identity = join(folder, 'node/identity.json');
  const pin = (documentKey: string) => {
    const stored = JSON.parse(readFileSync(identity, 'utf8'));
    const grant = { nodeID: 1, zoneID: 1, jwt: 'x', natsUrl: 'nats://127.0.0.1:1', documentKey, tls: null };
    writeFileSync(identity, JSON.stringify({ ...stored, server: 'http://127.0.0.1:1', joinedWith: 'x', grant }));
  };
  pin(new Signer(since.documentSeed).publicKey);
  assert.equal(await joined(), 'true');
  assert.equal(await joined(true), 'false');
  put(before);
  assert.equal(await joined(), 'false', 'the keys were put back');
  put(since);
  assert.equal(await joined(), 'true');
  pin('');
  assert.equal(await joined(), 'true', 'it joined with a version that told no such key, and learns it');
});
