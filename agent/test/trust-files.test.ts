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
import { until } from './node.ts';

const pem = authority('One').root;

function world(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'breakwater-trusts-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const wanted = new Map<string, WantedTrust>();
  const said: string[] = [];
  const files = new TrustFiles({
    folder,
    state: () => ({ trusts: () => wanted, trustsOf: () => new Map(), untrusted: () => [] }),
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

test('a domain that waits for its next authority goes on by the one it has, however long', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'breakwater-trusts-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const key = 'd:x.test';
  let name = '';
  let running: string[] = [];
  let looks = 0;
  const settled: string[] = [];
  const files: TrustFiles = new TrustFiles({
    folder,
    state: () => ({
      trusts: () => {
        looks++;
        return new Map([[name, { pem, parties: new Set(['x']) }]]);
      },
      trustsOf: keys => new Map([...(keys ?? [key])].map(one => [one, [name]])),
      untrusted: (keys, known) => [...keys].filter(() => !known.has(name)),
    }),
    configure: async () => void (running = files.list().map(one => one.name)),
    known: async () => running,
    settled: keys => void (keys.length && settled.push(name)),
    log: () => {},
    everyMs: 1,
  });
  const next = (change: string) => {
    name = change;
    files.hold(new Set([key]));
  };
  for (let i = 0; i < 5; i++) {
    next(`x${i}`);
    await until(`x${i} is known`, () => settled.includes(`x${i}`));
  }
  next('x5'); // beyond what one customer may have reloaded
  const before = looks;
  await until('several rounds', () => looks > before + 20);
  const list = files.list().map(one => one.name);
  assert.deepEqual([list.includes('x4'), list.includes('x5'), settled.at(-1)], [true, false, 'x4']);
  next('x4'); // it thinks better of it: nobody waits any more
});

test('what stays as it is is said once', async t => {
  const { files, want, said } = world(t);
  want('x', ...Array.from({ length: ownTrustsOfParty + 20 }, (_, i) => `x${i}`));
  for (let i = 0; i < 3; i++) await files.write(true);
  assert.equal(said.length, 1);
});
