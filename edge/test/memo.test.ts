/** Bounded tables: what one host's visitors make up costs no other host what it holds. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Lua, startLua } from './lua.ts';

describe('bounded tables', () => {
  let lua: Lua;
  before(async () => {
    lua = await startLua();
  });
  after(() => lua[Symbol.asyncDispose]());

  test('a flood of random URLs on one host leaves the memo of every other host alone', async () => {
    const found = await lua.run(`
      local memo = require "core.memo"
      local budget = memo.budget(200000)
      local others = {}
      for i = 1, 1000 do
        others[i] = memo.new(1024, budget)
        for n = 1, 100 do memo.put(others[i], "/page/" .. n, n) end
      end
      local flooded = memo.new(1024, budget)
      for i = 1, 500000 do memo.put(flooded, "/random/" .. i, i) end
      local kept, held = 0, 0
      for i = 1, 1000 do
        for n = 1, 100 do if memo.get(others[i], "/page/" .. n) == n then kept = kept + 1 end end
      end
      for _, generation in ipairs { flooded.young, flooded.old } do
        for _ in pairs(generation) do held = held + 1 end
      end
      return kept .. " " .. tostring(held <= 2048) .. " " .. tostring(budget.held <= 200000)
    `);
    assert.equal(found, '100000 true true');
  });

  test('keys are bounded by their length as well, so that a thousand long ones are not held', async () => {
    const found = await lua.run(`
      local memo = require "core.memo"
      local one, wide = memo.new(2000), memo.new(2000)
      wide.longest = 20000
      for i = 1, 1000 do
        memo.put(one, i .. string.rep("m", 15000), i)
        memo.put(wide, i .. string.rep("m", 15000), i)
      end
      memo.put(one, string.rep("m", 512), "short enough")
      local held, wider = 0, 0
      for _ in pairs(one.young) do held = held + 1 end
      for _ in pairs(wide.young) do wider = wider + 1 end
      return held .. " " .. wider .. " " .. tostring(memo.get(one, string.rep("m", 512)))
    `);
    assert.equal(found, '1 1000 short enough');
  });

  test('where the budget is spent a new table is small; room comes back when others are gone', async () => {
    const found = await lua.run(`
      local memo = require "core.memo"
      local budget = memo.budget(1000)
      local many = {}
      for i = 1, 40 do
        many[i] = memo.new(512, budget)
        for n = 1, 100 do memo.put(many[i], n, n) end
      end
      local before = memo.new(512, budget)
      local small, held = before.size, budget.held
      many, before = nil, nil
      collectgarbage() collectgarbage()
      local again
      for i = 1, 50 do again = memo.new(512, budget) end
      for n = 1, 500 do memo.put(again, n, n) end
      return small .. " " .. tostring(held <= 1000 + 41 * 8) .. " " .. tostring(again.size > 64)
    `);
    assert.equal(found, '8 true true');
  });

  test('what is used stays through a crowd of one-time keys; weights count; what was given up is told', async () => {
    const found = await lua.run(`
      local memo = require "core.memo"
      local one, gone = memo.new(100), 0
      one.evicted = function() gone = gone + 1 end
      memo.put(one, "busy", true)
      for i = 1, 1000 do
        memo.put(one, i, i)
        if not memo.get(one, "busy") then return "lost at " .. i end
      end
      local heavy = memo.new(100)
      heavy.weigh = function(value) return value end
      for i = 1, 100 do memo.put(heavy, i, 10) end
      local held = 0
      for _, generation in ipairs { heavy.young, heavy.old } do
        for _ in pairs(generation) do held = held + 1 end
      end
      for i = 1, 1000 do
        memo.put(one, "again", true)
        memo.drop(one, "again")
      end
      return tostring(gone > 700) .. " " .. held .. " " .. tostring(one.count <= 100)
    `);
    assert.equal(found, 'true 20 true');
  });

  test('what is used again stays when its coming back is what fills the table: it is not told as given up', async () => {
    const found = await lua.run(`
      local memo = require "core.memo"
      local one, gone = memo.new(3), {}
      one.evicted = function(key) gone[#gone + 1] = key end
      for i = 1, 4 do memo.put(one, i, "v" .. i) end
      memo.get(one, 2) memo.get(one, 3)   -- young is full: 4, 2, 3
      local value = memo.get(one, 1)
      local before = table.concat(gone, " ")
      return tostring(value) .. " [" .. before .. "] " .. tostring(memo.get(one, 1))
    `);
    assert.equal(found, 'v1 [] v1');
  });

  test('a site that comes back out of the old generation is not dead', async () => {
    const found = await lua.run(`
      local sites = require "core.sites"
      local cfg = ngx.shared.cfg
      local n = 25000
      for i = 1, n + 10 do cfg:set("s:" .. i, '{"v":1,"rev":1,"id":' .. i .. ',"state":"normal","expires":0,"gen":1,"parts":[]}') end
      for i = 1, n do sites.of(i) end
      sites.of(n + 1)
      for i = 2, n do sites.of(i) end
      return tostring(sites.of(1).dead) .. " " .. tostring(sites.of(1).dead)
    `);
    assert.equal(found, 'nil nil');
  });
});
