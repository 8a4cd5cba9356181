import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HeldZone } from './load.ts';
import { keepOnly, Servers } from './servers.ts';

test('of a name server nothing is kept once no zone stands there: with another key it is another', () => {
  const servers = new Servers(() => undefined);
  const at = (server: string) => ({ server }) as HeldZone; // nothing else of it is read
  servers.all([at('one'), at('other')]);
  for (const server of ['one', 'other']) servers.notesOf(server).taken = [1];
  servers.all([at('other')]);
  assert.deepEqual(servers.notesOf('other').taken, [1]);
  assert.equal(servers.notesOf('one').taken, undefined);
  servers.forget();
  assert.equal(servers.notesOf('other').taken, undefined);
});

test('what is wanted stays', () => {
  const known = new Map([
    [1, 'a'],
    [2, 'b'],
    [3, 'c'],
  ]);
  keepOnly(known, [3, 1, 7]);
  assert.deepEqual([...known.keys()], [1, 3]);
});
