import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DnsProblem } from '../domain/dns/driver.ts';
import { inHalves, PartRefused } from './apart.ts';

/** A name server that takes nothing of what holds a bad one. */
async function tried(n: number, isBad: (one: number) => boolean) {
  const done = new Set<number>();
  let asked = 0;
  const act = async (some: readonly number[]) => {
    asked++;
    if (some.some(isBad)) throw new DnsProblem('refused', 'no');
    for (const one of some) done.add(one);
  };
  const all = Array.from({ length: n }, (_, i) => i);
  const error: unknown = await inHalves(all, act, () => true).catch((thrown: unknown) => thrown);
  return { error, done: done.size, asked };
}

test('whatever is refused, all others are done, whoever stands beside whom', async () => {
  for (const n of [1, 2, 100, 1000, 2000])
    for (const bad of [1, 5, 10, 60])
      for (const isBad of [(one: number) => one < bad, (one: number) => one % Math.ceil(n / bad) === 0]) {
        const count = Array.from({ length: n }, (_, i) => i).filter(isBad).length;
        if (count === n && n > 10) continue;
        const { error, done } = await tried(n, isBad);
        assert.ok(error instanceof PartRefused, `${n} ${bad}: ${String(error)}`);
        assert.deepEqual([done, error.parts.length], [n - count, count], `${n} ${bad}`);
      }
});

test('whoever refuses everything is not asked name by name', async () => {
  const { error, done, asked } = await tried(2000, () => true);
  assert.ok(error instanceof DnsProblem && !(error instanceof PartRefused));
  assert.deepEqual([done, asked], [0, 25]);
});

test('each is told with its own why, also where whoever acts knew them', async () => {
  const why = async (act: (some: readonly number[]) => Promise<void>) => {
    const error: unknown = await inHalves([1, 2, 3, 4], act, () => true).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof PartRefused);
    return error.refusals.map(({ part, why: said }) => `${part} ${said}`).sort();
  };
  const refuse = (part: number) => ({ part, why: `no ${part}`, said: undefined });
  const known = async (some: readonly number[]) => {
    const bad = some.filter(one => one % 2);
    if (bad.length) throw new PartRefused(bad.map(refuse));
  };
  assert.deepEqual(await why(known), ['1 no 1', '3 no 3']);
  const unknown = async (some: readonly number[]) => {
    const bad = some.find(one => one > 2);
    if (bad !== undefined) throw new DnsProblem('refused', some.length > 1 ? 'some' : `no ${bad}`);
  };
  assert.deepEqual(await why(unknown), ['3 no 3', '4 no 4']);
  assert.equal(new PartRefused([refuse(1), refuse(2)]).message, 'no 1 (and 1 more)');
});
