import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as dns from '../domain/dns/message.ts';
import { add, type Change, drop, has, hasNone, parts, together } from './updates.ts';

const fields = ({ class: kind, ttl, data }: Change) => [kind, ttl, data.toString()];

test('changes and prerequisites have the classes of RFC 2136, 2.4 and 2.5, and seconds where a record is added alone', () => {
  const data = Buffer.from('x');
  assert.deepEqual(fields(add('a', 1, 300, data)), [1, 300, 'x']);
  assert.deepEqual(fields(drop('a', 1)), [255, 0, '']);
  assert.deepEqual(fields(has('a', 1, data)), [1, 0, 'x']);
  assert.deepEqual(fields(hasNone('a', 1)), [254, 0, '']);
});

test('as many go together as a message has room for, in their order; one name’s stay together, however many they are', () => {
  const unit = (i: number, n = 2) =>
    Array.from({ length: n }, () => add(`${String(i).padStart(6, '0')}.cdn.example.net`, 5, 300, Buffer.alloc(200)));
  const all = Array.from({ length: 1000 }, (_, i) => unit(i));
  const made = [...parts(all)];
  assert.ok(made.length > 5, String(made.length));
  assert.deepEqual(made.flat(), all.flat());
  for (const part of made) {
    assert.ok(dns.update(1, 'cdn.example.net', part).length < 65_000);
    assert.equal(part.length % 2, 0);
    assert.equal(part[0]!.name, part[1]!.name);
  }
  // no more messages than it takes
  assert.ok(made.length < (1000 * 2 * 240) / 40_000, String(made.length));
  assert.deepEqual([...together([1, 2, 3], one => unit(one, one === 2 ? 400 : 1))], [[1], [2], [3]]);
  assert.deepEqual([...parts([])], []);
});
