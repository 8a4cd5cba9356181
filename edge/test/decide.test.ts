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
