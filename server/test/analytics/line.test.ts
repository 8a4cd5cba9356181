/** Which lines are what nginx writes, and which node could have written them: without an engine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { accessLogColumns } from '#contract/edge/log.ts';
import { Batch } from '#server/ingest/batch.ts';
import { AsideRoom } from '#server/ingest/aside-room.ts';
import { findRefused } from '#server/ingest/refused.ts';
import { AnalyticsError } from '#server/store/analytics/client.ts';
import { Loads } from '#server/ingest/load.ts';
import { Positions } from '#server/ingest/positions.ts';
import { logBounds } from '#contract/limits.ts';
import { judgeLine, read } from '#server/ingest/line.ts';
import { Members, type MemberRow } from '#server/ingest/members.ts';

const now = Math.floor(Date.now() / 1000) * 1000;
const minute = 60_000;
const day = 86_400_000;

type Fields = Partial<Record<(typeof accessLogColumns)[number]['name'], string | number>>;
const line = (fields: Fields = {}) => {
  const usual: Fields = {
    msec: (now / 1000).toFixed(3),
    site_id: 1,
    domain_id: 11,
    host: 'a.test',
    status: 200,
    bytes: 10,
    rt: '0.001',
    uri: '/',
  };
  return accessLogColumns.map(c => ({ ...usual, ...fields })[c.name] ?? '-').join('\t');
};
const judge = (text: string, skewMs = 0) => {
  const raw = Buffer.from(text, 'latin1');
  return judgeLine(raw, 0, raw.length, skewMs, now);
};

test('what nginx writes passes, whatever visitors send', () => {
  for (const fields of [
    {},
    { site_id: '-', domain_id: '-', status: 903 },
    { site_id: '', domain_id: '', host: '', status: 400, method: '', uri: '', proto: '' },
    { up_bytes: '12, 34 : 56', up_time: '0.010, 0.200 : 0.003', rt: '3600.123', bytes: 9e11 },
    { up_bytes: '-, 56', up_time: '-, 0.003' },
    { uri: String.raw`/\x22\x5C\x09\x00\xE6\xBC\xA2`, ua: 'x'.repeat(8000), referer: '\xff\xfe' },
  ] satisfies Fields[])
    assert.equal(judge(line(fields)), undefined, JSON.stringify(fields).slice(0, 200));
});

test('what nginx does not write is set aside: nothing in a line may end it, join it with the next, or count as another number', () => {
  for (const text of [
    '',
    'not a line',
    line().replace(/\t[^\t]*$/, ''),
    `${line()}\tmore`,
    line({ uri: '/\nx' }),
    line({ ua: '\0' }),
    line({ ua: 'x\x1f' }),
    `${line()}\\`,
    line({ uri: '/\\' }),
    line({ referer: '\\', ua: 'x' }),
    line({ msec: '1e9' }),
    line({ msec: 'nan' }),
    line({ msec: '-1700000000.000' }),
    line({ msec: '17000000000.000' }),
    line({ msec: '1700000000' }),
    line({ status: '20' }),
    line({ status: '-1' }),
    line({ status: '65736' }),
    line({ bytes: '-5' }),
    line({ bytes: '' }),
    line({ bytes: '1e3' }),
    line({ bytes: '0x10' }),
    line({ rt: 'inf' }),
    line({ rt: 'nan' }),
    line({ up_bytes: '1e300' }),
    line({ up_time: 'inf' }),
    line({ host: 'h'.repeat(400) }),
  ])
    assert.equal(judge(text), 'form', JSON.stringify(text).slice(0, 200));
});

test('figures that cannot be are set aside', () => {
  for (const fields of [
    { bytes: 2 ** 53, rt: '2000000.000' },
    { bytes: '18446744073709551615', rt: '2000000.000' },
    { bytes: 5e12, rt: '0.010' },
    { bytes: 1e12 + 1, rt: '2000000.000' },
    { up_bytes: '900000000000, 900000000000', rt: '2000000.000' },
    { rt: '99999999.000' },
    { up_bytes: '18446744073709551615' },
    { up_bytes: '900000000000000, 900000000000000', rt: '2000000.000' },
    { up_time: '9'.repeat(40) },
  ] satisfies Fields[])
    assert.equal(judge(line(fields)), 'number', JSON.stringify(fields));
});

test('a node claims no time it likes', () => {
  const at = (ms: number) => line({ msec: ((now + ms) / 1000).toFixed(3) });
  assert.equal(judge(at(2 * day)), 'future');
  assert.equal(judge(at(-8 * day)), 'late');
  assert.equal(judge(at(-2 * day), 3.5 * day), 'future', 'its own clock is no way around that');
  assert.equal(judge(at(-2 * day), -6 * day), 'late');
  assert.equal(judge(at(3600_000)), undefined);
  assert.equal(read.time, now, 'a clock that was set back: counted as of now');
  assert.equal(judge(at(-2 * day)), undefined);
  assert.equal(read.time, now - 2 * day, 'spooled while the node was cut off');
  assert.equal(judge(at(-7200_000), 7200_000), undefined);
  assert.equal(read.time, now, 'a slow clock is corrected');
});

const start = now - 5 * day;
const row = (kind: MemberRow['kind'], id: number, of: number, more: Partial<MemberRow> = {}): MemberRow => ({
  kind,
  id,
  of,
  start: kind === 'domain' ? 0 : start,
  end: 0,
  host: '',
  ...more,
});
const facts = [
  row('node', 5, 1),
  row('node', 6, 2),
  row('site', 1, 1),
  row('domain', 11, 1, { host: 'a.test' }),
  row('domain', 12, 1, { host: '*.wild.test' }),
  row('site', 2, 2),
  row('domain', 21, 2, { host: 'b.test' }),
];
/** Why a line of a node is set aside; undefined: it counts. */
function why(node: number, fields: Fields, more: MemberRow[] = [], at = now): string | undefined {
  const members = new Members();
  members.apply([...facts, ...more]);
  const batch = new Batch();
  const text = `\x1e${line({ msec: (at / 1000).toFixed(3), ...fields })}\n`;
  batch.add(Buffer.from(text, 'latin1'), { nodeID: node, skewMs: 0, receivedAt: now / 1000 }, members, {
    stream: 's',
    from: 0,
    to: 1,
  });
  batch.decide(members);
  assert.equal(batch.counted + batch.asideCounts().length, 1);
  return batch.asideCounts()[0]?.reason;
}
const b = { site_id: 2, domain_id: 21, host: 'b.test' };

test('a line counts only where its node and its site meet', () => {
  assert.equal(why(5, {}), undefined);
  assert.equal(why(5, { domain_id: 12, host: 'x.wild.test' }), undefined);
  assert.equal(why(5, { site_id: '-', domain_id: '-', host: 'x' }), undefined, 'a host that is nobody’s');
  assert.equal(why(6, b), undefined);
  assert.equal(why(5, b), 'site', 'a site of another zone');
  assert.equal(why(5, { site_id: 77, domain_id: 77 }), 'site', 'a site there is not');
  assert.equal(why(5, { domain_id: 21, host: 'b.test' }), 'domain', 'a domain of another site');
  assert.equal(why(5, { site_id: '-', domain_id: 21 }), 'site', 'a domain without its site');
  assert.equal(why(5, { host: 'b.test' }), 'domain', 'another host than the domain’s');
  assert.equal(why(5, { domain_id: 12, host: 'wild.test' }), 'domain');
  assert.equal(why(7, {}), 'node', 'a node that stands in no zone');
  for (const site_id of ['1 ', '+1', '1.0', '01x', '٣']) assert.notEqual(why(5, { site_id }), undefined, site_id);
});

test('history: before it joined, after it was moved, the site moved or deleted, with grace for clocks and for nodes cut off', () => {
  const hour = 3600_000;
  assert.equal(why(5, {}, [], start - hour), 'node', 'before both were there');
  assert.equal(why(5, {}, [], start - 10 * minute), undefined, 'clocks differ');
  // the node moved to zone 2 two days ago
  const moved = [row('node', 5, 1, { end: now - 2 * day }), row('node', 5, 2, { start: now - 2 * day })];
  assert.equal(why(5, {}, moved, now - 3 * day), undefined, 'shipped late');
  assert.equal(why(5, {}, moved, now - 2 * day + hour), undefined, 'it was cut off, and went on serving');
  assert.equal(why(5, {}, moved), 'node');
  assert.equal(why(5, b, moved), undefined);
  assert.equal(why(5, b, moved, now - 3 * day), 'node', 'before it was there');
  // the site moved to zone 2, or was deleted
  const left = [row('site', 1, 1, { end: now - 2 * day })];
  const away = [...left, row('site', 1, 2, { start: now - 2 * day })];
  assert.equal(why(5, {}, left, now - 3 * day), undefined, 'billable for the time it lived');
  assert.equal(why(5, {}, left), 'node');
  assert.equal(why(6, {}, away), undefined);
  assert.equal(why(6, {}, away, now - 3 * day), 'node');
});

test('a newline inside a line makes no second line: its prefix would be the node’s own word', () => {
  const members = new Members();
  members.apply(facts);
  const batch = new Batch();
  const forged = `6\t0\t${(now / 1000).toFixed(3)}\t${line(b)}`;
  const text = [`\x1e${line()}\n${forged}\n`, `\x1e${line()}\\\n`, `\x1e${line()}\n`].join('');
  batch.add(Buffer.from(text, 'latin1'), { nodeID: 5, skewMs: 0, receivedAt: now / 1000 }, members, {
    stream: 's',
    from: 0,
    to: 1,
  });
  assert.equal(Buffer.concat(batch.body()).toString('latin1'), `5\t0\t${(now / 1000).toFixed(3)}\t${line()}\n`);
  assert.deepEqual(
    batch.asideCounts().map(({ node, reason, lines }) => [node, reason, lines]),
    [[5, 'form', 2]],
  );
});

test('one node’s forged figures reach no total that it could not have sent; the same lines sent again cost it nothing', () => {
  const members = new Members();
  members.apply(facts);
  const loads = new Loads();
  const most = (logBounds.linkBitsPerSecondMax / 8) * 3600;
  const origin = { nodeID: 5, skewMs: 0, receivedAt: now / 1000 };
  const range = { stream: 's', from: 0, to: 1 };
  // 18,447 lines of 10^15 were enough to make a sum of 64 bits begin again at 0
  const flood = (bytes: number, fields: Fields = {}) => {
    const batch = new Batch(loads);
    const one = `\x1e${line({ bytes, rt: '90000.000', ...fields })}\n`;
    batch.add(Buffer.from(one.repeat(18_447), 'latin1'), origin, members, range);
    batch.decide(members);
    return batch;
  };
  assert.equal(flood(1e15).counted, 0);
  const first = flood(1e12);
  assert.equal(first.counted, Math.floor(most / 1e12));
  assert.deepEqual(
    first.asideCounts().map(({ reason, lines }) => [reason, lines]),
    [['number', 18_447 - first.counted]],
  );
  assert.equal(flood(1e12).counted, 0, 'the hour is full');
  assert.ok(flood(1e12, { msec: ((now - day) / 1000).toFixed(3) }).counted > 0, 'another hour');
  // given back: its node keeps it, and sends it again
  first.release(new Map([['s', 0]]));
  assert.equal(flood(1e12).counted, Math.floor(most / 1e12));
});

test('one node makes us remember no more files than a node has', () => {
  const positions = new Positions();
  const name = (i: number) => `5/${String(i).padStart(12, 'a')}`;
  let opened = 0;
  for (let i = 0; i < 20_000; i++) {
    if (!positions.open(name(i))) continue;
    opened++;
    positions.store(name(i), 100);
  }
  assert.equal(opened, logBounds.newFilesMax);
  assert.ok(positions.open('6/bbbbbbbbbbbb'), 'another node is not held up');
  // what is stored is forgotten, the longest untouched first; what is under way is not
  const marks = new Map(Array.from({ length: logBounds.filesPerNodeMax }, (_, i) => [name(i), 100]));
  const full = new Positions(marks);
  full.get(name(0))!.taken = 200;
  full.store(name(1), 300);
  assert.ok(full.open('5/cccccccccccc'));
  assert.deepEqual(
    [0, 1, 2, 3].map(i => full.get(name(i))?.taken),
    [200, 300, undefined, 100],
  );
  assert.equal(full.filesOf(5), logBounds.filesPerNodeMax);
  // and of streams we do not know, only so many are asked for
  let asked = 0;
  for (let i = 0; i < 10_000; i++) if (positions.mayAsk(name(50_000 + i))) asked++;
  assert.equal(asked, 64);
});

test('what is remembered of hosts does not grow with the nodes that name them, nor with the hosts a node makes up', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const members = new Members();
  members.apply([
    ...Array.from({ length: 100 }, (_, i) => row('node', 100 + i, 1)),
    row('site', 1, 1),
    ...Array.from({ length: 20_000 }, (_, i) => row('domain', 1000 + i, 1, { host: `h${i}.test` })),
  ]);
  const held = () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = held();
  const keys = Array.from({ length: 20_000 }, (_, i) => Buffer.from(`1\t${1000 + i}\th${i}.test`));
  for (let node = 100; node < 200; node++)
    for (const key of keys) assert.ok(members.allows(node, key, 0, key.length, now), key.toString());
  for (let i = 0; i < 200_000; i++) {
    const key = Buffer.from(`1\t1000\tmade-up-${i}.test`);
    assert.ok(!members.allows(100, key, 0, key.length, now));
  }
  assert.ok(held() - before < 32 << 20, `${Math.round((held() - before) / 1e6)} MB`);
});

test('a node fills no table with lines that count for nobody', () => {
  const room = new AsideRoom();
  const at = now / 1000;
  const kept = (node: number, bytes: number, when = at) => {
    let n = 0;
    for (let i = 0; i < 2000; i++) if (room.take(node, when, bytes)) n++;
    return n;
  };
  assert.equal(kept(5, 100), 500);
  assert.equal(kept(6, 2048), 256, 'nor with long ones');
  assert.equal(kept(5, 100, at + 3600), 500, 'an hour later');
  let all = 0;
  for (let node = 100; node < 1000; node++) all += kept(node, 2048) * 2048;
  assert.ok(all <= 100 << 20, 'nor do all together');
});

test('lines that the store refuses cost their node alone, however many they are', async () => {
  const good = Array.from({ length: 3000 }, (_, i) => Buffer.from(`good ${i}`));
  const bad = Array.from({ length: 3000 }, (_, i) => Buffer.from(i % 2 ? `bad ${i}` : `fine ${i}`));
  let questions = 0;
  const refused = await findRefused(
    new AnalyticsError(27, 'cannot parse'),
    new Map([
      [5, bad],
      [6, good],
      [7, [Buffer.from('bad 1'), Buffer.from('good')]],
    ]),
    async lines => {
      questions++;
      if (lines.some(one => one.includes('bad'))) throw new AnalyticsError(27, 'cannot parse');
    },
  );
  assert.ok(bad.filter((_, i) => i % 2).every(one => refused.has(one)));
  assert.ok(good.every(one => !refused.has(one)));
  assert.equal([...refused].filter(one => !bad.some(other => other === one)).join(), 'bad 1');
  assert.ok(questions < 500, String(questions));
});
