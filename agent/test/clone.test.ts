/** A disk is copied, and both machines run: whoever looks is told, and one of them ended, all is well by itself. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { test } from 'node:test';
import { freePort } from '#server/store/engine-process.ts';
import { startFleet, until } from './fleet.ts';
import { TestNode } from './node.ts';

test('a node that was cloned with its disk is shown, and no longer when one of both has ended', async t => {
  const { node, call, plane } = await startFleet(t);
  const first = await node('n1');
  const state = async () => {
    const { data } = await call.read('/client/nodes');
    assert.equal(data.length, 1, 'they are one node');
    return data[0] as { status: string; statusReason: { reason: string } | null };
  };
  // a start anew is none
  await first.kill('SIGKILL');
  first.start();
  await until('it is back', async () => (await first.get('/')).status === 903);

  const copy = new TestNode(plane, 'spent', 'n1');
  cpSync(first.data, copy.data, { recursive: true, filter: path => !/\.sock$|\.pid$|nginx\.json$|\.lock$/.test(path) });
  [copy.httpPort, copy.healthPort] = [await freePort(), await freePort()];
  t.after(() => copy.end());
  assert.equal((await state()).statusReason?.reason === 'twin', false);
  copy.start();
  await until('it is told', async () => (await state()).statusReason?.reason === 'twin', 60_000);
  assert.equal((await state()).status, 'error');
  assert.equal((await copy.get('/')).status, 903, 'both go on serving');
  await copy.end();
  await until('one is left', async () => (await state()).status === 'normal', 90_000);
});
