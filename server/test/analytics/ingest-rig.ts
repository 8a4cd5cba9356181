/** Ingest alone on a real bus and a real store; the test plays the node. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import zlib from 'node:zlib';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, credsAuthenticator, headers } from '@nats-io/transport-node';
import { LogMark, accessLogColumns, logHeaders } from '#contract/edge/log.ts';
import { subjects } from '#contract/edge/subjects.ts';
import { type Ingest, type IngestOptions, startIngest } from '#server/ingest/ingest.ts';
import { Members } from '#server/ingest/members.ts';
import { ensureLogStream } from '#server/ingest/stream.ts';
import { analytics } from '#server/store/analytics/client.ts';
import { poll } from '#server/store/engine-process.ts';
import { clickhouse, nats } from '#system/engines.ts';
import { facts } from './members.ts';

export const file = 'aaaaaaaaaaaa';
export const other = 'bbbbbbbbbbbb';
export const line = (rid: string, more: Record<string, string | number> = {}) => {
  const usual = { msec: (Date.now() / 1000).toFixed(3), site_id: 1, domain_id: 1, host: 'a.test', status: 200, bytes: 10, rid };
  return `\x1e${accessLogColumns.map(c => ({ ...usual, ...more })[c.name as 'rid'] ?? '-').join('\t')}\n`;
};
/** Nodes 5 and 6 serve zone 1, where site 1 is. */
export const known = () =>
  facts([
    { kind: 'node', id: 5, of: 1 },
    { kind: 'node', id: 6, of: 1 },
    { kind: 'site', id: 1, of: 1 },
    { kind: 'domain', id: 1, of: 1, host: 'a.test' },
  ]);
export const whole = { stream: 'x', from: 0, to: 0 };
export const map = async () => {
  const members = new Members();
  members.apply((await known().load()).rows);
  return members;
};

export async function setUp(t: TestContext) {
  const bus = await nats();
  const nc = await connect({ servers: bus.url, authenticator: credsAuthenticator(Buffer.from(bus.serverCreds)) });
  const jsm = await jetstreamManager(nc);
  await ensureLogStream(jsm);
  const target = await clickhouse();
  const db = analytics(target);
  const marks: LogMark[] = [];
  nc.subscribe(subjects.mark(5), { callback: (_, message) => void marks.push(LogMark.parse(message.json())) });
  const running: Ingest[] = [];
  t.after(async () => {
    for (const one of running) await one.stop();
    await nc.close();
    await bus.stop();
    db.close();
  });
  return {
    nc,
    jsm,
    db,
    marks,
    start(options: Partial<IngestOptions> = {}) {
      const ingest = startIngest({ nc, db, members: known(), flushMs: 50, ...options });
      running.push(ingest);
      return ingest;
    },
    async send(
      from: number,
      text: string,
      {
        id = file,
        kind = 'bytes',
        to = from + text.length,
        node = 5,
        packed,
        run = '',
      }: { id?: string; kind?: string; to?: number; node?: number; packed?: Uint8Array; run?: string } = {},
    ) {
      const h = headers();
      for (const [name, value] of Object.entries({ file: id, kind, from, to, sent: Date.now(), ...(run ? { run } : {}) }))
        h.set(logHeaders[name as keyof typeof logHeaders], String(value));
      await jetstream(nc).publish(subjects.log(node, 'access'), packed ?? zlib.zstdCompressSync(Buffer.from(text, 'latin1')), {
        headers: h,
      });
    },
    rids: async () =>
      (await db.query<{ rid: string }>('SELECT rid FROM access ORDER BY rid').catch(() => [])).map(row => row.rid).join(' '),
  };
}
export const until = async (condition: () => boolean | Promise<boolean>, what: string | (() => string)) =>
  assert.ok(await poll(condition, 90_000), typeof what === 'string' ? what : what());
export const lastMark = (marks: LogMark[], id = file) => marks.findLast(mark => mark.marks?.[id] !== undefined)?.marks?.[id];
