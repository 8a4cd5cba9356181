/** Joining beside a node that works: who it is changes when somebody has joined, and at no other time. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Identity } from '#agent/identity.ts';
import { takeIdentity } from '#agent/join-only.ts';
import { testFolder } from '#system/engines.ts';

const textIn = (folder: string) => readFileSync(join(folder, 'identity.json'), 'utf8');
/** Who has joined as that node, with the newest command it obeyed. */
async function joined(nodeID: number, lastCommand: number): Promise<string> {
  const folder = testFolder('joined');
  await (await Identity.open(folder)).remember(lastCommand);
  writeFileSync(join(folder, 'identity.json'), JSON.stringify({ ...JSON.parse(textIn(folder)), grant: { nodeID } }));
  return folder;
}

test('a node stays who it is where nobody has joined beside it', async () => {
  const data = await joined(7, 3);
  const was = textIn(data);
  const [empty, half] = [testFolder('empty'), testFolder('half')];
  await Identity.open(half);
  for (const from of [empty, half])
    await assert.rejects(takeIdentity(data, from), /nobody has joined in \S+: the node here stays who it is/);
  assert.equal(textIn(data), was);
  assert.ok(!existsSync(join(empty, 'identity.json')), 'no key is made');
});

test('it becomes who joined beside it, and does no command twice', async () => {
  const [data, from] = [await joined(7, 5), await joined(8, 3)];
  await takeIdentity(data, from);
  assert.deepEqual(JSON.parse(textIn(data)), { ...JSON.parse(textIn(from)), lastCommand: 5 });
});
