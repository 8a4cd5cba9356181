import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pace } from '#server/bus/pace.ts';
import { Ack, Answer, Beat, judge } from '#server/bus/said.ts';
import { until } from './rig.ts';

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const beat = { seq: 0, epoch: '', zoneID: 1, version: '1', startedAt: '', problem: null };

test('a word that is too long, too deep or of too many values is refused before it is read closely', () => {
  const refused = (word: 'beat' | 'ans', value: unknown, why: RegExp) =>
    assert.throws(() => judge<typeof Beat | typeof Answer>(word, word === 'beat' ? Beat : Answer, bytes(value)), why);
  refused('beat', { ...beat, x: 'x'.repeat(17_000) }, /bytes/);
  refused('ans', { count: 1, ok: true, x: 'x'.repeat(1100) }, /bytes/);
  refused('beat', { ...beat, refused: Array(5000).fill(0) }, /too many values/);
  refused('beat', '['.repeat(8000) + ']'.repeat(8000), /too deep/);
  refused('beat', { ...beat, checks: Object.fromEntries(Array.from({ length: 1600 }, (_, i) => [i, 0])) }, /too many values/);
});

test('an honest word of any length is taken, its text fit to be stored and shown', () => {
  const many = Array.from({ length: 100 }, (_, i) => ({
    subject: `cfg.1000.domain.${100_000 + i}`,
    seq: 17_953_058_276_887,
    why: 'w'.repeat(40),
  }));
  assert.equal(judge('ack', Ack, bytes({ seq: 1, epoch: 'e', zoneID: 1, refused: many })).refused!.length, 100);
  const said = judge('beat', Beat, bytes({ ...beat, version: 'a\u0000b\u001b', problem: 'x\ud800' }));
  assert.deepEqual([said.version, said.problem], ['a b ', 'x\ufffd']);
  // what is wrong is told to people too
  for (const bad of [
    '{"\u001b[2J',
    { ...beat, checks: [{ id: 'a', state: 'warn', reason: 'r', since: '', params: { '\u001b[2J': 1 } }] },
  ])
    assert.throws(
      () => judge('beat', Beat, bytes(bad)),
      (error: Error) => !/\p{Cc}/u.test(error.message) && error.message.length <= 200,
    );
});

test('of words that come too fast the newest is looked at when its turn comes; other nodes and words do not wait', async () => {
  const seen: string[] = [];
  const slow = { perSecond: 10, burst: 5 };
  const pace = new Pace((word, nodeID, data) => seen.push(`${word} ${nodeID} ${data.toString()}`), {
    beat: slow,
    ack: slow,
    sync: slow,
    ans: slow,
  });
  for (let i = 0; i < 1000; i++) pace.offer('beat', 1, bytes(String(i)));
  assert.equal(seen.length, 5);
  pace.offer('ack', 1, bytes('a'));
  pace.offer('beat', 2, bytes('b'));
  assert.deepEqual(seen.slice(5), ['ack 1 a', 'beat 2 b']);
  await until('the newest', () => seen.at(-1) === 'beat 1 999');
  assert.equal(seen.length, 8);
  pace.offer('beat', 1, bytes('next'));
  await until('and on', () => seen.at(-1) === 'beat 1 next');
  // as many at once as no rest could pay for: what waits when it stops is looked at no more
  for (let i = 0; i < 20; i++) pace.offer('beat', 1, bytes('more'));
  pace.stop();
  assert.ok(seen.length <= 9 + slow.burst, `${seen.length}`);
});

test('what a node says of origins is read one by one: what is none is left out; words of the last releases are taken', () => {
  const said = { seq: 1, epoch: 'e', zoneID: 1, version: '1', startedAt: '2026', problem: null };
  const back = { host: 'a.test', origin: 'o.test', port: 80, since: '2026-01-01T00:00:00.000Z' };
  const of = (origins: object) => judge('beat', Beat, Buffer.from(JSON.stringify({ ...said, origins }))).origins;
  const none = { checked: 3, wrong: 0, troubles: [] };
  assert.deepEqual(of({ ...none, back: [back, { ...back, host: 'ä' }, { ...back, port: 'x' }, 7], whole: true }), {
    ...none,
    back: [back],
    whole: true,
  });
  assert.deepEqual(of(none), none);
  assert.throws(() => of({ ...none, back: Array.from({ length: 41 }, () => back) }));
});
