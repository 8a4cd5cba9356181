/** The runner fails closed: whatever a protection asks, however many quantities, and however it breaks. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { domainRecords, siteRecords } from '#agent/render/records.ts';
import { type Edge, type Origin, domain, onLoopback, site, startEdge, startOrigin } from './harness.ts';

/** Depends on as many quantities as the site's rule has for its id, each a header; the last decides. */
const many = `
local request = require "core.request"
for i = 1, 40 do
  request.read["q" .. i] = function()
    local value = ngx.var["http_q" .. i] or ""
    if value == "unreadable" then error("cannot read q" .. i) end
    return value
  end
end
return {
  name = "many",
  cause = 2,
  compile = function(record)
    local row = record.userAgents[1]
    if row and row.urlRegex == "uncompilable" then error "cannot compile" end
    return row and { id = row.id, n = row.id }
  end,
  check = function(rule, asked)
    local last
    for i = 1, rule.n do last = asked.ask("q" .. i) end
    if last == "evil" then return { action = "deny", rule = rule.id } end
    if last == "error" then error "the module breaks" end
    if last == "wrong" then return nil .. "x" end
    if last == "odd" then return { action = "wave through", rule = rule.id } end
    if last == "ruleless" then return { action = "deny" } end
  end,
}
`;

describe('the runner fails closed', () => {
  let edge: Edge;
  let origin: Origin;
  const lua = mkdtempSync(join(tmpdir(), 'lua-'));
  before(async () => {
    cpSync(new URL('../lua', import.meta.url), lua, { recursive: true });
    writeFileSync(join(lua, 'modules/many.lua'), many);
    writeFileSync(join(lua, 'modules/order.lua'), 'return { require "modules.many" }');
    [edge, origin] = await Promise.all([startEdge({ luaDir: lua, workers: 1 }), startOrigin()]);
    await edge.putDocuments([], [domain(1, 'a.test', [origin.port])]);
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
    rmSync(lua, { recursive: true, force: true });
  });

  const quantities = (n: number, urlRegex = '') =>
    edge.putDocuments([site(1, { userAgents: [{ id: n, urlRegex, userAgentRegex: '', block: 'deny' }] })], []);
  /** Statuses of so many requests whose n-th quantity has this value */
  async function statuses(n: number, value: string, times = 5) {
    const list = [];
    for (let i = 0; i < times; i++) list.push((await edge.ask('a.test', '/', { headers: { [`q${n}`]: value } })).status);
    return list.join(' ');
  }
  const problems = async () => (await edge.stat()).problems;

  for (const n of [...Array.from({ length: 12 }, (_, i) => i + 1), 16]) {
    test(`a verdict on ${n} quantities is the same every time`, async () => {
      await quantities(n);
      assert.equal(await statuses(n, 'evil'), '403 403 403 403 403');
      assert.equal(await statuses(n, 'good'), '200 200 200 200 200');
      // Each earlier quantity on another way to the same end.
      for (let i = 1; i < n; i++) {
        const headers = { [`q${i}`]: 'other', [`q${n}`]: 'evil' };
        for (let times = 0; times < 2; times++) assert.equal((await edge.ask('a.test', '/', { headers })).status, 403, String(i));
      }
      assert.equal(await statuses(n, 'evil', 2), '403 403');
      assert.equal(await statuses(n, 'x'.repeat(600), 2), '200 200');
    });
  }

  test('more quantities than there are steps refuse every request, and are counted', async () => {
    for (const n of [17, 30]) {
      await quantities(n);
      const before = await problems();
      assert.equal(await statuses(n, 'good'), '503 503 503 503 503');
      assert.equal(await statuses(n, 'evil'), '503 503 503 503 503');
      assert.equal((await problems()).protection, before.protection + 10);
    }
    assert.match(edge.errors(), /more than 16 quantities/);
    await quantities(3);
    assert.equal(await statuses(3, 'good', 2), '200 200');
  });

  for (const n of [1, 3, 5, 12]) {
    for (const how of ['error', 'wrong', 'odd', 'ruleless', 'unreadable']) {
      test(`a protection that breaks (${how}) at quantity ${n} refuses, and is counted and logged`, async () => {
        await quantities(n);
        assert.equal(await statuses(n, 'good', 2), '200 200');
        const asked = origin.seen.length;
        const before = await problems();
        const got = await statuses(n, how);
        assert.match(got, /^(50[03] ){4}50[03]$/);
        assert.equal(origin.seen.length, asked, 'nothing went round it to the origin');
        const now = await problems();
        assert.equal(now.protection + now.request, before.protection + before.request + 5);
        // It breaks for its own requests alone.
        assert.equal(await statuses(n, 'good', 2), '200 200');
        assert.equal(await statuses(n, 'evil', 2), '403 403');
      });
    }
  }

  test('a refusal of this kind is a page of ours that nobody keeps', async () => {
    await quantities(2);
    const answer = await edge.ask('a.test', '/', { headers: { q2: 'error' } });
    assert.deepEqual([answer.status, answer.headers['cache-control']], [503, 'no-store']);
    assert.match(answer.body, new RegExp(answer.headers['x-request-id'] as string));
    const unreadable = await edge.ask('a.test', '/', { headers: { q2: 'unreadable' } });
    assert.equal(unreadable.headers['cache-control'], 'no-store');
    assert.match(edge.errors(), /the module breaks/);
  });

  test('a site whose rules do not compile is refused at the socket; one that is in the snapshot is closed and counted', async () => {
    await quantities(2);
    await assert.rejects(quantities(2, 'uncompilable'), /cannot compile/);
    assert.equal(await statuses(2, 'evil', 2), '403 403');
    const rules = { userAgents: [{ id: 1, urlRegex: 'uncompilable', userAgentRegex: '', block: 'deny' as const }] };
    const records = [...siteRecords(site(1, rules)), ...domainRecords(domain(1, 'a.test', [origin.port]), () => [], onLoopback)];
    await using other = await startEdge({ luaDir: lua, workers: 1, records });
    assert.equal((await other.ask('a.test', '/')).status, 904);
    assert.equal((await other.stat()).problems.record, 1);
  });
});
