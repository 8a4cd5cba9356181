/** Who keeps connections to origins where (core/shards.lua), against a clock of the test's own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startLua } from './lua.ts';

test('at one address each upstream has one tenant, and the next one only when nothing of the one before can be left', async () => {
  await using lua = await startLua();
  const said = await lua.run(`
    local shards, lines = require "core.shards", {}
    local requests = {} -- those that are alive
    local function ask(name, now, keep, ...)
      local request = {}
      requests[#requests + 1] = request
      lines[#lines + 1] = now .. " " .. name .. " " .. shards.upstream("https", keep or {}, name, { ... }, now, request)
    end
    local function all_end() requests = {} collectgarbage() collectgarbage() end
    local keep = {}
    ask("a", 0, keep, "x", "y")
    ask("b", 0, nil, "y")
    ask("a", 1, nil, "x")
    ask("b", 1, nil, "z")
    -- a request that takes its time: its connection is kept when it ends, however long ago it began
    all_end()
    ask("a", 2, keep, "x", "y")
    ask("c", 1000, nil, "x")
    all_end()
    -- seen to be over now; what it left may be kept for a while
    ask("c", 1001, nil, "x")
    ask("d", 1070, nil, "x")
    ask("d", 1080, nil, "x")
    -- who had been there begins anew
    ask("a", 1081, keep, "x", "y")
    -- more names than there are upstreams
    for i = 1, 70 do ask("n" .. i, 1082, nil, "x") end
    return table.concat(lines, "|")
  `);
  const lines = said.split('|');
  assert.deepEqual(lines.slice(0, 10), [
    '0 a origin_https_0',
    '0 b origin_https_1',
    '1 a origin_https_0',
    '1 b origin_https_0',
    '2 a origin_https_0',
    '1000 c origin_https_1',
    '1001 c origin_https_1',
    '1070 d origin_https_2',
    '1080 d origin_https_0',
    '1081 a origin_https_3',
  ]);
  assert.equal(lines.at(-1), '1082 n70 origin_https', 'that which keeps no connections');
  const taken = lines
    .slice(10)
    .map(line => line.split(' ')[2]!)
    .filter(upstream => upstream !== 'origin_https');
  assert.equal(new Set(taken).size, taken.length);
});
