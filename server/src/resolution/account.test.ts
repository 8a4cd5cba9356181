import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DnsProblem, type Zone } from '../domain/dns/driver.ts';
import { changeApart, chunksOf, type RecordApi } from '../domain/dns/records.ts';
import { AccountStore } from './account.ts';
import { PartRefused } from './apart.ts';
import type { Unit } from './foreign.ts';

const name = 'cdn.example.com';
const unit = (label: string): Unit => [{ name: `${label}.${name}`, type: 'CNAME', ttl: 60, values: ['g1.l.cdn.example.com'] }];
function accountWith(zones: readonly Zone[], refuses = false) {
  const written: string[] = [];
  const api: RecordApi = {
    provider: 'Some',
    minTTL: 60,
    allZones: async () => [...zones],
    list: async () => [],
    probe: async () => {},
    change: (zone, sets) =>
      changeApart(
        chunksOf(sets, () => 1, 1),
        async ([one]) => {
          if (refuses) throw new DnsProblem('refused', `no ${one!.name}`);
          written.push(`${zone.name}: ${one!.name}`);
        },
      ),
  };
  return { store: new AccountStore(api), written };
}

test('each name that is refused is told with its own reason', async () => {
  const { store } = accountWith([{ id: '1', name: 'example.com' }], true);
  await assert.rejects(store.replace(name, [unit('a'), unit('b'), unit('c')]), (error: unknown) => {
    assert.ok(error instanceof PartRefused);
    const refusals = error.refusals as PartRefused<Unit>['refusals']; // of what it was given
    assert.deepEqual(
      refusals.map(({ part, why }) => `${part[0]!.name}: ${why}`).sort(),
      ['a', 'b', 'c'].map(label => `${label}.${name}: no ${label}.${name}`),
    );
    return true;
  });
});

test('a zone that was delegated and is paused is told; names are not written into the zone above instead', async () => {
  const off = { code: 'zonePaused', bounds: { provider: 'Some', zone: name } } as const;
  const paused = accountWith([
    { id: '1', name: 'example.com' },
    { id: '2', name, off, isDelegated: true },
  ]);
  await assert.rejects(paused.store.replace(name, [unit('a')]), /paused/);
  assert.deepEqual(paused.written, []);
  // one that was never delegated hides nothing
  const fresh = accountWith([
    { id: '1', name: 'example.com' },
    { id: '2', name, off },
  ]);
  await fresh.store.replace(name, [unit('a')]);
  assert.deepEqual(fresh.written, [`example.com: a.${name}`]);
  // of two of one name the one that answers is it
  const twice = accountWith([
    { id: '2', name, off, isDelegated: true },
    { id: '3', name },
  ]);
  await twice.store.replace(name, [unit('a')]);
  assert.deepEqual(twice.written, [`${name}: a.${name}`]);
});
