/** For how long an answer is fresh, and how old it is when it comes (RFC 9111 4.2), on a clock of the test's own. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startLua } from './lua.ts';

let lua: Awaited<ReturnType<typeof startLua>>;
before(async () => {
  lua = await startLua();
});
after(() => lua[Symbol.asyncDispose]());

const now = Date.parse('2026-01-01T12:00:00Z');
const before_ = (seconds: number) => new Date(now - seconds * 1000).toUTCString();

interface Question {
  fields: Record<string, string>;
  status?: number;
  /** Lua */
  rule?: string;
  took?: number;
}
async function decide({ fields, status = 200, rule = 'nil', took = 0 }: Question) {
  const list = Object.entries(fields).map(([name, value]) => `[${JSON.stringify(name)}] = ${JSON.stringify(value)}`);
  const text = await lua.run(`
    local fields = { ${list.join(', ')} }
    local d = require("cache.decide").decide { status = ${status}, header = function(name) return fields[name] end, rule = ${rule},
      cookies = false, now = ${now / 1000}, took = ${took} }
    return table.concat({ tostring(d.store), tostring(d.ttl), tostring(d.age), tostring(d.reuse), tostring(d.on_error) }, " ")`);
  const [store, ttl, age, reuse, onError] = text.split(' ');
  return { store: store === 'true', ttl: Number(ttl), age: Number(age), reuse: Number(reuse), onError: Number(onError) };
}
const cc = (value: string, more: Record<string, string> = {}) => ({ 'Cache-Control': value, ...more });

test('an answer is as old as it says, and as long as it was on its way', async () => {
  for (const [fields, took, age] of [
    [{}, 0, 0],
    [{ Age: '0' }, 2, 2],
    [{ Age: '7' }, 2, 9],
    [{ Age: '50, 3' }, 0, 50],
    [{ Age: 'x' }, 0, 0],
    [{ Date: before_(30) }, 0, 30],
    [{ Date: before_(30), Age: '10' }, 2, 30],
    [{ Date: before_(5), Age: '10' }, 2, 12],
    [{ Date: before_(-30) }, 0, 0],
  ] as const) {
    const d = await decide({ fields: cc('max-age=100', fields), took });
    assert.deepEqual([d.age, d.ttl], [age, 100 - age], JSON.stringify(fields));
  }
});

test('what has outlived its time on its way is not fresh', async () => {
  assert.equal((await decide({ fields: cc('max-age=20', { Date: before_(30) }) })).store, false);
  assert.equal((await decide({ fields: cc('max-age=3', { Age: '0' }), took: 3 })).store, false);
  const kept = await decide({ fields: cc('max-age=20', { Date: before_(30), ETag: '"a"' }) });
  assert.deepEqual([kept.store, kept.ttl], [true, 0]);
});

test('a rule’s lifetime is for the thing: that it is not there is believed for a minute', async () => {
  for (const force of [true, false])
    for (const [status, ttl] of [
      [200, 3600],
      [404, 60],
      [410, 60],
    ] as const) {
      const d = await decide({ fields: {}, status, rule: `{ ttl = 3600, force = ${force} }` });
      assert.deepEqual([d.store, d.ttl], [true, ttl], `${status} ${force}`);
    }
  assert.equal((await decide({ fields: {}, status: 404, rule: '{ ttl = 10, force = true }' })).ttl, 10);
});

test('what must be asked for again helps out neither while that is done nor when it fails', async () => {
  const fields = (strict: string) => cc(`max-age=9, stale-while-revalidate=8, stale-if-error=7${strict}`, { ETag: '"a"' });
  const plain = await decide({ fields: fields('') });
  assert.deepEqual([plain.reuse, plain.onError], [8, 7]);
  for (const strict of [', must-revalidate', ', proxy-revalidate', ', no-cache', ', s-maxage=9']) {
    const d = await decide({ fields: fields(strict) });
    assert.deepEqual([d.store, d.reuse, d.onError], [true, 0, 0], strict);
  }
});

test('a date is read in each of its three forms; two digits of a year are at most 50 years ahead', async () => {
  const stamp = (text: string) => Date.parse(text) / 1000;
  const noon = stamp('2026-01-01T12:00:00Z');
  for (const [text, expected] of [
    ['Thu, 01 Jan 2026 13:00:00 GMT', '2026-01-01T13:00:00Z'],
    ['Thursday, 01-Jan-26 13:00:00 GMT', '2026-01-01T13:00:00Z'],
    ['Thu Jan  1 13:00:00 2026', '2026-01-01T13:00:00Z'],
    ['Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37Z'],
    ['Wednesday, 29-Feb-28 00:00:00 GMT', '2028-02-29T00:00:00Z'],
    ['Wednesday, 01-Jan-76 00:00:00 GMT', '2076-01-01T00:00:00Z'],
    ['Saturday, 01-Jan-77 00:00:00 GMT', '1977-01-01T00:00:00Z'],
    ['Friday, 31-Dec-99 23:59:59 GMT', '1999-12-31T23:59:59Z'],
  ] as const) {
    const read = await lua.run(`return require("cache.fields").date(${JSON.stringify(text)}, ${noon})`);
    assert.equal(Number(read), stamp(expected), text);
  }
  // what the same text means hangs on the year it is read in, so it is not remembered
  const years = `local date, text = require("cache.fields").date, "Wednesday, 01-Jan-76 00:00:00 GMT"
    return date(text, ${noon}) .. " " .. date(text, ${stamp('2025-12-31T23:59:59Z')}) .. " " .. date(text, ${stamp('2126-01-01T00:00:00Z')})`;
  const meant = ['2076-01-01T00:00:00Z', '1976-01-01T00:00:00Z', '2176-01-01T00:00:00Z'];
  assert.equal(await lua.run(years), meant.map(one => stamp(one)).join(' '));
  // and of an answer: fresh for an hour, or long over
  for (const [expires, ttl] of [
    ['Thursday, 01-Jan-26 13:00:00 GMT', 3600],
    ['Saturday, 01-Jan-77 00:00:00 GMT', 0],
  ] as const) {
    const d = await decide({ fields: { Expires: expires, Date: before_(0) } });
    assert.ok(ttl ? d.store && d.ttl === ttl : d.ttl <= 0, `${expires}: ${JSON.stringify(d)}`);
  }
});
