import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startLua } from './lua.ts';

test('a wall clock that is stepped forward or back moves no span of time in the edge', async () => {
  await using lua = await startLua();
  // as if somebody had set the clock between two looks
  const spans = await lua.run(`
    local real = ngx.now
    local clock = require "core.clock"
    local spans = {}
    for _, step in ipairs { 600, -7200 } do
      local since = clock.now()
      ngx.now = function() return real() + step end
      ngx.time = function() return math.floor(real() + step) end
      ngx.sleep(0.01)
      local span = clock.now() - since
      spans[#spans + 1] = span > 0 and span < 300
    end
    return tostring(spans[1]) .. tostring(spans[2])`);
  assert.equal(spans, 'truetrue');
});
