/** What has expired in the dictionary of counters is freed, whatever stands before it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startLua } from './lua.ts';

test('what has expired is freed behind what lives, and nothing that lives is lost', async () => {
  await using lua = await startLua();
  const result = await lua.run(`
    local dict, sweep = ngx.shared.count, require "core.sweep"
    for i = 1, 500 do dict:set("lives" .. i, i, 3600) end
    for i = 1, 20000 do dict:set("expires" .. i, i, 0.001) end
    for i = 1, 500 do dict:set("later" .. i, i, 3600) end
    ngx.sleep(0.01)
    local kept = dict:free_space()
    -- a turn takes as many steps
    for _ = 1, sweep.turn * 10 do sweep.step(dict) end
    local freed = dict:free_space() - kept
    local lost = 0
    for i = 1, 500 do if dict:get("lives" .. i) ~= i or dict:get("later" .. i) ~= i then lost = lost + 1 end end
    return table.concat({ tostring(freed > 2000000), lost, dict:flush_expired() }, " ")`);
  assert.equal(result, 'true 0 0');
});
