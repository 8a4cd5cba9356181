/** The runner fails closed: whatever a protection asks, however many quantities, and however it breaks. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { domainRecords } from '#agent/render/records.ts';
import { type Edge, type Origin, domain, onLoopback, raw, site, siteRecords, startEdge, startOrigin } from './harness.ts';

/** Rules on as many headers as the site's rule has for its id, all of them asked; the last decides. `broken` breaks on what it reads. */
const many = `
local quantities, rules = require "stages.quantities", require "stages.rules"
local of, compile, lenient = quantities.of, rules.compile, false
function quantities.of(name)
  local header = name:match "^broken%.(.+)$"
  if not header then return of(name) end
  return { variable = "http_" .. header, side = "broken", see = function(value)
    if value == "error" then error "the module breaks" end
    if value == "wrong" then return nil .. "x" end
    return value
  end }
end
function rules.compile(rows) return compile(rows, lenient and 40 or nil) end
return {
  -- the list it reads
  name = "userAgents",
  cause = 2,
  compile = function(part)
    local row = part.userAgents[1]
    if not row then return {} end
    if row.urlRegex == "uncompilable" then error "cannot compile" end
    lenient = row.urlRegex == "lenient"
    local n, asked = row.id, {}
    for i = 1, n - 1 do asked[i] = { none = { { of = "header.q" .. i, is = "equals", value = "stop" } } } end
    local function on(value, id, action)
      return { id = id, action = action, when = { all = { { all = asked }, { of = "header.q" .. n, is = "equals", value = value } } } }
    end
    return { on("evil", n, "deny"), on("odd", n, "wave through"), on("ruleless", nil, "deny"),
      { id = n, action = "deny", when = { of = "broken.q" .. n, is = "equals", value = "never" } } }
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

  for (const n of [...Array.from({ length: 12 }, (_, i) => i + 1), 24]) {
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

  test('more quantities than there are steps are refused at the socket; were they not, every request would be', async () => {
    await quantities(3);
    for (const n of [25, 40]) await assert.rejects(quantities(n), /rules on more than 24 quantities/);
    assert.equal(await statuses(3, 'evil', 2), '403 403');
    for (const n of [25, 30]) {
      await quantities(n, 'lenient');
      const before = await problems();
      assert.equal(await statuses(n, 'good'), '503 503 503 503 503');
      assert.equal(await statuses(n, 'evil'), '503 503 503 503 503');
      assert.equal((await problems()).protection, before.protection + 10);
    }
    assert.match(edge.errors(), /the way to a verdict has no end/);
    await quantities(3);
    assert.equal(await statuses(3, 'good', 2), '200 200');
  });

  test('a header that rules ask for and that comes several times is refused, other headers are not', async () => {
    await quantities(2);
    const request = (...lines: string[]) =>
      `GET / HTTP/1.1\r\nHost: a.test\r\n${lines.map(line => `${line}\r\n`).join('')}Connection: close\r\n\r\n`;
    const status = async (...lines: string[]) => (await raw(edge.port, request(...lines))).statuses[0];
    for (let times = 0; times < 2; times++) {
      assert.equal(await status('Q2: good'), 200);
      assert.equal(await status('Q2: evil'), 403);
      assert.equal(await status('Q2: good', 'Q2: evil'), 400);
      assert.equal(await status('q2: good', 'Q2: good'), 400);
      assert.equal(await status('Q3: good', 'Q3: evil'), 200);
    }
  });

  for (const n of [1, 3, 5, 12]) {
    for (const how of ['error', 'wrong', 'odd', 'ruleless']) {
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
    // once for the request, once for the page that says so
    assert.ok((await other.stat()).problems.record! >= 1);
  });
});
