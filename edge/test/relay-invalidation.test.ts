/** What a post at an edge makes of what relays hold, whatever the clocks of nodes say. */
import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import { startZone } from './fleet.ts';
import { domain, type Edge, site, startOrigin } from './harness.ts';

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
