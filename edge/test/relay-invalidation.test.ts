/** What a post at an edge makes of what relays hold: whatever the clocks of nodes say, and however much others post. */
import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import { startZone } from './fleet.ts';
import { domain, type Edge, site, startOrigin } from './harness.ts';
import { startLua } from './lua.ts';

describe('an edge whose clock is an hour ahead, and one whose is an hour behind', async () => {
  const zone = await startZone({ ahead: [3600, -3600] });
  const origin = await startOrigin();
  after(async () => {
    await zone[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });
  const [ahead, behind] = zone.edges as [Edge, Edge];
  await zone.put([site(1)], [domain(1, 'a.test', [origin.port])]);
  beforeEach(() => {
    origin.seen.length = 0;
    origin.script = (_, response) => response.setHeader('cache-control', 'max-age=60').end(`body ${origin.seen.length}`);
  });
  const post = async (edge: Edge, path: string) =>
    assert.equal((await edge.ask('a.test', path, { method: 'POST', body: 'x' })).status, 200);
  const read = async (edge: Edge, path: string) => (await edge.ask('a.test', path)).body;

  test('whoever posted last is shown what came after', async () => {
    for (const [first, second] of [
      [ahead, behind],
      [behind, ahead],
    ] as const)
      for (const edge of [first, second, first, second]) {
        const path = `/thread/${first === ahead}`;
        await read(edge, path);
        await post(edge, path);
        const fresh = `body ${origin.seen.length + 1}`;
        assert.equal(await read(edge, path), fresh);
        assert.equal(await read(edge, path), fresh);
      }
  });

  test('a post is one more request for its URL, not one with each reader', async () => {
    await post(ahead, '/once');
    for (const edge of [ahead, behind, ahead]) assert.equal(await read(edge, '/once'), 'body 2');
    await post(behind, '/once');
    for (let i = 0; i < 3; i++) assert.equal(await read(behind, '/once'), 'body 4');
    assert.equal(origin.seen.length, 4);
  });

  test('what a relay says of an age counts, and not by how far clocks are apart', async () => {
    for (const edge of [ahead, behind]) {
      await read(edge, '/aged');
      const again = await edge.ask('a.test', '/aged');
      assert.deepEqual([again.body, again.headers['x-cache']], ['body 1', 'HIT']);
      assert.ok(Number(again.headers.age ?? 0) < 60, again.headers.age);
    }
  });
});

test("a site that is posted to at a million URLs loses its own marks, and nobody else's", async () => {
  await using lua = await startLua();
  const [kept, last, oldest, short] = (
    await lua.run(`
    local invalidation = require "cache.invalidation"
    invalidation.setup("/nowhere", 3600)
    invalidation.invalidate("2", "pre", "b.test", "/mine", true)
    local mine = invalidation.generation("b.test", "/mine")
    for n = 1, 40000 do invalidation.invalidate(tostring(10 + n % 3), "pre", n % 3 .. ".test", "/" .. n .. ("x"):rep(n % 300), true) end
    return table.concat({
      tostring(mine ~= nil and invalidation.generation("b.test", "/mine") == mine),
      tostring(invalidation.generation("0.test", "/39999" .. ("x"):rep(39999 % 300)) ~= nil),
      tostring(invalidation.generation("1.test", "/1x")),
      tostring(ngx.shared.inv:free_space() / ngx.shared.inv:capacity() > 0.2),
    }, " ")`)
  ).split(' ');
  assert.deepEqual([kept, last, oldest, short], ['true', 'true', 'nil', 'true']);
});
