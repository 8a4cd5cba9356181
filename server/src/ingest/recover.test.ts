/** How long a row is collected again, by a clock of the test. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import zlib from 'node:zlib';
import type { JsMsg } from '@nats-io/jetstream';
import { type MsgHdrs, headers } from '@nats-io/transport-node';
import { logHeaders } from '#contract/edge/log.ts';
import { Members } from './members.ts';
import { collectAgain } from './recover.ts';

const file = 'aaaaaaaaaaaa';
function messageOf(from: number): JsMsg {
  const head: MsgHdrs = headers();
  for (const [name, value] of Object.entries({ file, kind: 'bytes', from, to: from + 1, sent: 0 }))
    head.set(logHeaders[name as keyof typeof logHeaders], String(value));
  const data = zlib.zstdCompressSync(Buffer.from('x'));
  return { subject: 'log.5.access', headers: head, data, timestampNanos: 0n } as Partial<JsMsg> as JsMsg;
}

/** A node sends a row of `bytes` byte by byte, one every `everyMs`; what is waited for is 1,000 ms. */
async function collect(bytes: number, everyMs: number) {
  let now = 0;
  let givenUp = 0;
  async function* messages() {
    for (let at = 0; at < bytes; at++, now += everyMs) yield messageOf(at);
    now += 1e9;
  }
  const row = { n: 1, epoch: 'e', last_seq: 1, streams: [`5/${file}`], froms: [0], tos: [bytes] };
  const found = await collectAgain({
    row: row as unknown as Parameters<typeof collectAgain>[0]['row'],
    messages: messages(),
    sameBus: true,
    members: new Members(),
    recoverMs: 1000,
    ask: () => {},
    log: () => {},
    now: () => now,
    onGivenUp: () => void givenUp++,
  });
  return { found: found !== undefined, givenUp, now };
}

test('a row that comes byte by byte, each in time, is waited for five times as long and no longer', async () => {
  assert.deepEqual(await collect(5, 900), { found: true, givenUp: 0, now: 3600 });
  const { found, givenUp, now } = await collect(500, 900);
  assert.deepEqual([found, givenUp], [false, 1]);
  assert.ok(now < 7000, String(now));
});
