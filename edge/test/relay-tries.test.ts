/** Who of a zone's relays is asked while one of them is not known to be well. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startLua } from './lua.ts';

test('the try of a relay that may be well again is for a URL that is its own, not spent where it would stand in', async () => {
  await using lua = await startLua();
  const said = await lua.run(`
    local relays = require "core.relays"
    local list = {}
    for id = 1, 2 do list[id] = { id = id, address = "192.0.2." .. id, port = 1, weight = 1 } end
    ngx.shared.cfg:set("z:", require "cjson.safe".encode { id = 3, relays = list })
    relays.setup { zone = 3, asks = true }
    local own = {}
    for n = 1, 200 do own[relays.choose("h/" .. n).id] = "h/" .. n end
    local said = {}
    local function choose(of)
      local first, second = relays.choose(own[of])
      said[#said + 1] = (first and first.id or "-") .. "," .. (second and second.id or "-")
    end
    choose(1)
    relays.failed(2, "no connection")
    choose(1) choose(2)
    -- as its time does
    ngx.shared.rt:delete "relay-down:2"
    choose(1) choose(1) choose(2) choose(2)
    relays.answered(2)
    choose(1) choose(2)
    return table.concat(said, " ")`);
  assert.equal(said, '1,2 1,- 1,- 1,- 1,- 2,1 1,- 1,2 2,1');
});
