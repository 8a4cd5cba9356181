/** What a node remembers of posts: for how long, and whose is given up when there is no room. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { startLua } from './lua.ts';

describe('marks of posts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'marks-'));
  const lua = await startLua();
  after(async () => {
    await lua[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  /** → what the chunk returns, as words; `post` and `mark` are given to it, and the dictionary is empty */
  const run = async (chunk: string) =>
    (
      await lua.run(`
    local invalidation = require "cache.invalidation"
    local inv, rt = ngx.shared.inv, ngx.shared.rt
    inv:flush_all() inv:flush_expired()
    invalidation.setup("${folder}", 168 * 3600)
    local function post(site, host, uri) invalidation.invalidate(site, "pre|", host, uri, true) end
    local function mark(host, uri) return invalidation.generation(host, uri) end
    local function left(host, from, to)
      local n = 0
      for i = from, to do if mark(host, "/" .. i) then n = n + 1 end end
      return n
    end
    local said = {}
    local function say(...) for i = 1, select("#", ...) do said[#said + 1] = tostring((select(i, ...))) end end
    ${chunk}
    return table.concat(said, " ")`)
    ).split(' ');

  test("a site that is posted to at a million URLs loses its own, and nobody else's", async () => {
    const said = await run(`
      post("2", "b.test", "/mine")
      local mine = mark("b.test", "/mine")
      for n = 1, 40000 do post(tostring(10 + n % 3), n % 3 .. ".test", "/" .. n .. ("x"):rep(n % 300)) end
      say(mine ~= nil and mark("b.test", "/mine") == mine)
      say(mark("0.test", "/39999" .. ("x"):rep(39999 % 300)) ~= nil, mark("1.test", "/1x"))
      say(inv:free_space() / inv:capacity() > 0.05)`);
    assert.deepEqual(said, ['true', 'true', 'nil', 'true']);
  });

  test('a URL takes one place, however often it is posted to', async () => {
    const said = await run(`
      post("1", "a.test", "/article")
      local article, like = mark("a.test", "/article")
      for n = 1, 5000 do post("1", "a.test", "/like") end
      like = mark("a.test", "/like")
      say(mark("a.test", "/article") == article, #inv:get_keys(0) <= 8)
      post("1", "a.test", "/like")
      say(mark("a.test", "/like") ~= like, mark("a.test", "/like"):match "^%d+%-%x+$" ~= nil)`);
    assert.deepEqual(said, ['true', 'true', 'true', 'true']);
  });

  test('what is posted to again is not the oldest, and what has ended takes no place of what has not', async () => {
    const said = await run(`
      for n = 1, 4096 do post("1", "a.test", "/" .. n) end
      post("1", "a.test", "/1")
      for n = 5001, 5100 do post("1", "a.test", "/" .. n) end
      say(mark("a.test", "/1") ~= nil, mark("a.test", "/2"), left("a.test", 1, 4096), left("a.test", 5001, 5100))
      -- as their time does
      for n = 102, 4096 do if n % 2 == 0 then
        local name = "a.test/" .. n
        inv:delete("slot 1 " .. inv:get(name):match " (%d+)$")
        inv:delete(name)
      end end
      local before = left("a.test", 1, 5100)
      for n = 6001, 7000 do post("1", "a.test", "/" .. n) end
      say(before - left("a.test", 1, 5100), left("a.test", 6001, 7000))`);
    assert.deepEqual(said, ['true', 'nil', '3996', '100', '0', '1000']);
  });

  test('the more sites have marks the fewer each may have: who has most gives up, whoever posts', async () => {
    const said = await run(`
      for n = 1, 3000 do post("1", "a.test", "/" .. n) end
      for n = 1, 20 do post("2", "b.test", "/" .. n) end
      local others, long = 0, "/" .. ("x"):rep(100) .. "/"
      repeat
        others = others + 1
        for n = 1, 20 do post("s" .. others, others .. ".test", long .. n) end
      until others == 500
      local kept = 0
      for one = 1, others do for n = 1, 20 do if mark(one .. ".test", long .. n) then kept = kept + 1 end end end
      say(left("a.test", 1, 3000) < 500, left("b.test", 1, 20), kept == others * 20)
      for n = 1, 250 do post("2", "b.test", "/20") end
      say(left("b.test", 1, 20))`);
    assert.deepEqual(said, ['true', '20', 'true', '20']);
  });

  test('a mark never ends earlier than the one it replaces', async () => {
    const name = createHash('md5').update('pre|http://a.test/held').digest('hex');
    const path = join(folder, name.slice(-1), name.slice(-3, -1), name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'x');
    const said = await run(`
      post("1", "a.test", "/held")
      local first = inv:ttl "a.test/held"
      post("1", "a.test", "/held")
      local number = inv:get "a.test/held":match " (%d+)$"
      say(first > 1e6, inv:ttl "a.test/held" > first - 10, inv:ttl("slot 1 " .. number) > first - 10)`);
    assert.deepEqual(said, ['true', 'true', 'true']);
  });

  test('one of a release that told the time of day is older than whatever is told', async () => {
    const said = await run(`
      for _, old in ipairs { string.format("%d", ngx.now() * 1000 - 5000), "99999999999999-abcdef012345" } do
        inv:set("a.test/x", old, 3600)
        say(mark("a.test", "/x") == old)
        local ago = invalidation.ago("a.test", "/x")
        say(old:find "-" and ago == 0 or ago >= 5000 and ago < 60000)
        say(invalidation.adopt("1", "a.test", "/x", 1), invalidation.adopt("1", "a.test", "/x", 60000))
        inv:delete "a.test/x"
      end`);
    assert.deepEqual(said, ['true', 'true', 'true', 'false', 'true', 'true', 'true', 'false']);
  });
});
