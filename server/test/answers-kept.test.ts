/** A chunk that was packed for others goes to those alone who stand in its zone. */
import assert from 'node:assert/strict';
import zlib from 'node:zlib';
import { test } from 'node:test';
import { startAnswers } from '#server/bus/answers.ts';
import { createBusKeys, Signer } from '#server/bus/credentials.ts';
import { poll } from '#server/store/engine-process.ts';

test('a node of another zone that asks the question of a node before it gets its own answer', async () => {
  const zoneOf = new Map([
    [1, 1],
    [2, 2],
  ]);
  const sent: [subject: string, text: string][] = [];
  const nats = {
    isClosed: () => false,
    publish: (subject: string, bytes: Uint8Array) => sent.push([subject, zlib.zstdDecompressSync(bytes).toString()]),
  };
  const db = {
    query: async ({ name, values }: { name: string; values: number[] }) => {
      const zone = zoneOf.get(values[0]!)!;
      if (name === 'node-zone') return { rows: zone === values[1] ? [{}] : [] };
      const row = { zoneID: String(zone), epoch: 'e', head: '9', start: '0', n: '1', subject: `cfg.${zone}.site.1`, found: '2' };
      return { rows: [{ ...row, body: `"of zone ${zone}"` }] };
    },
  };
  const signer = new Signer(createBusKeys().documentSeed);
  const answers = startAnswers({ db: db as never, nats: nats as never, signer });
  for (const node of [1, 2]) {
    answers.ask(node, { id: `question${node}`, epoch: 'e', after: 0, zoneID: 1, whole: false });
    assert.ok(await poll(() => sent.length === node, 5000, 5));
  }
  await answers.stop();
  assert.ok(sent[0]![1].includes('of zone 1'));
  assert.ok(!sent[1]![1].includes('of zone 1'), 'a node was handed the documents of another zone');
});
