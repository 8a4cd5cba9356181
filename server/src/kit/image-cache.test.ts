/** Images in memory: within their bound, read once, and not for ever. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ImageCache } from './image-cache.ts';

test('the newest stay within the bound, what is larger than all of it is never kept, and a minute is the end', async () => {
  let now = 0;
  const loaded: string[] = [];
  const cache = new ImageCache(
    async name => {
      loaded.push(name);
      return name === 'none' ? undefined : Buffer.alloc(name === 'huge' ? 101 : 40);
    },
    100,
    () => now,
  );
  await Promise.all([cache.get('a'), cache.get('a'), cache.get('a')]);
  await cache.get('a');
  await cache.get('b');
  await cache.get('a');
  assert.deepEqual([loaded.join(), cache.bytes], ['a,b', 80]);
  // a was asked for later than b
  await cache.get('c');
  await cache.get('a');
  assert.deepEqual([loaded.join(), cache.bytes], ['a,b,c', 80]);
  await cache.get('b');
  await cache.get('huge');
  await cache.get('none');
  await cache.get('none');
  assert.deepEqual([loaded.join(), cache.bytes], ['a,b,c,b,huge,none,none', 80]);
  now = 60_001;
  await cache.get('b');
  assert.equal(loaded.at(-1), 'b');
  assert.equal(cache.bytes, 80);
});
