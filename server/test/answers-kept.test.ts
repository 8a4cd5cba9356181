/** What nodes ask, answered: in turn, and from what was packed for others only where they stand in its zone. */
import assert from 'node:assert/strict';
import zlib from 'node:zlib';
import { test } from 'node:test';
import type { MsgHdrs } from '@nats-io/transport-node';
import { signed } from '#contract/edge/signed.ts';
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
    assert.ok(await poll(() => sent.length === node, 30_000, 5));
  }
  await answers.stop();
  assert.ok(sent[0]![1].includes('of zone 1'));
  assert.ok(!sent[1]![1].includes('of zone 1'), 'a node was handed the documents of another zone');
});

test('a node that asks again while it waits keeps its place, and its newest question is answered', async () => {
  const sent: string[] = [];
  const nats = {
    isClosed: () => false,
    publish: (_: string, __: Uint8Array, { headers }: { headers: MsgHdrs }) => sent.push(headers.get(signed.request)),
  };
  const held: (() => void)[] = [];
  const db = {
    query: async () => {
      await new Promise<void>(next => held.push(next));
      return { rows: [{ zoneID: '1', epoch: 'e', head: '9', start: '0', n: null, found: '0' }] };
    },
  };
  const signer = new Signer(createBusKeys().documentSeed);
  const answers = startAnswers({ db: db as never, nats: nats as never, signer });
  const ask = (node: number, id: string) => answers.ask(node, { id, epoch: 'e', after: 0, zoneID: 1, whole: false });
  for (const node of [1, 2, 3, 4]) ask(node, `question${node}`);
  for (let round = 0; round < 100; round++) ask(3, `again${round}`);
  assert.ok(await poll(() => (held.shift()?.(), sent.length === 4), 30_000, 5));
  await answers.stop();
  assert.deepEqual(sent, ['question1', 'question2', 'again99', 'question4']);
});
