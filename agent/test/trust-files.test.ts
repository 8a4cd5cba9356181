/** What of one customer's authorities may cost all of them: reloads, and places. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { authority } from '#system/authority.ts';
import type { WantedTrust } from '../src/edge-state.ts';
import { ownTrustsOfParty } from '../src/render/trusts.ts';
import { TrustFiles } from '../src/trust-files.ts';

const pem = authority('One').root;

function world(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'breakwater-trusts-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const wanted = new Map<string, WantedTrust>();
  const said: string[] = [];
  const files = new TrustFiles({
    folder,
    state: () => ({ trusts: () => wanted, untrusted: () => [] }),
    configure: async () => {},
    known: async () => [],
    settled: () => {},
    log: message => void said.push(message),
  });
  const want = (party: string, ...names: string[]) => {
    for (const name of names) wanted.set(name, { pem, parties: new Set([party]) });
  };
  const names = () => files.list().flatMap(({ name }) => (name === 'public' ? [] : [name]));
  return { files, wanted, want, names, said };
}

test('who brings one authority after the other has to wait, and keeps nobody else from bringing one', async t => {
  const { files, wanted, want, names } = world(t);
  const told: boolean[] = [];
  for (let i = 0; i < 8; i++) {
    want('x', `x${i}`);
    told.push((await files.write()).isNew);
  }
  assert.deepEqual(told, [true, true, true, true, true, false, false, false]);
  want('y', 'y0');
  const { isNew, later } = await files.write();
  assert.deepEqual([isNew, [...later].sort()], [true, ['x5', 'x6', 'x7']]);
  // what somebody else wants too comes with that
  wanted.get('x6')!.parties.add('y');
  assert.deepEqual([...(await files.write()).later].sort(), ['x5', 'x7']);
  assert.deepEqual(names(), ['x0', 'x1', 'x2', 'x3', 'x4', 'x6', 'y0']);
});

test('several of one customer that come together are one reload', async t => {
  const { files, want, names } = world(t);
  for (let i = 0; i < 5; i++) {
    want('x', ...Array.from({ length: 4 }, (_, j) => `x${i}${j}`));
    assert.equal((await files.write()).later.size, 0);
  }
  assert.equal(names().length, 20);
});

test('one customer has not all the places, from the start neither', async t => {
  const { files, want, names, said } = world(t);
  want('x', ...Array.from({ length: ownTrustsOfParty + 20 }, (_, i) => `x${i}`));
  want('y', 'y0');
  await files.first();
  assert.deepEqual([names().length, names().includes('y0')], [ownTrustsOfParty + 1, true]);
  assert.match(said.join(), /of one customer \(x\)/);
});
