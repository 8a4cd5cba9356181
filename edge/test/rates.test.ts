/** How fast answers are sent: no visitor gets one sooner than its rate allows, wherever it comes from. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { domain, site, standing } from './harness.ts';

const rules = [
  { id: 1, type: 'regex' as const, value: '(', bytes: 1 },
  { id: 2, type: 'prefix' as const, value: '/slow/', bytes: 2000 },
  { id: 3, type: 'fileType' as const, value: 'mp4', bytes: 2000 },
  { id: 4, type: 'exact' as const, value: '/one', bytes: 2000 },
  { id: 5, type: 'prefix' as const, value: '/', bytes: 1_000_000_000 },
];
const { edge, origin } = await standing(port => ({
  sites: [site(1, { rates: rules }), site(2)],
  domains: [domain(1, 'a.test', [port]), domain(2, 'free.test', [port], { site: 2 })],
}));
const body = 'x'.repeat(5000);
function answers(cc: string) {
  origin.script = (_, response) => {
    response.setHeader('cache-control', cc);
    response.end(body);
  };
}
/** Seconds that an answer took; the clock does not go back. */
async function took(path: string, wanted: string, host = 'a.test', method = 'GET') {
  const begun = performance.now();
  const answer = await edge.ask(host, path, { method });
  const seconds = (performance.now() - begun) / 1000;
  assert.equal(answer.body, method === 'HEAD' ? '' : body);
  assert.equal(answer.headers['x-cache'], wanted, `${method} ${path}`);
  return seconds;
}
// nginx counts whole seconds and grants the one that has begun: 5,000 bytes at 2,000 a second are sent within three seconds of its
// clock, so at least one whole second passes between the first and the last. A busy machine only makes it longer.
const atLeast = 1;

test('an answer takes as long as its rate says: from the origin, from the cache, past the cache', async () => {
  answers('max-age=60');
  const ways: [string, string, string][] = [
    ['/slow/page', 'MISS', 'GET'],
    ['/slow/page', 'HIT', 'GET'],
    ['/film.mp4?x=1', 'MISS', 'GET'],
    ['/one', 'MISS', 'GET'],
    ['/slow/post', 'BYPASS', 'POST'],
  ];
  for (const [path, wanted, method] of ways) {
    const seconds = await took(path, wanted, 'a.test', method);
    assert.ok(seconds >= atLeast, `${method} ${path}, ${wanted}: ${seconds}`);
  }
});

test('what no slow rule matches, and another site, is not held back', async () => {
  answers('max-age=60');
  // What the slow rate would take for twenty answers is a minute: no machine is that late.
  const begun = performance.now();
  for (let n = 0; n < 20; n++) {
    await took(`/quick/${n}`, 'MISS');
    await took(`/slow/${n}`, 'MISS', 'free.test');
  }
  assert.ok(performance.now() - begun < 20_000);
});

test('a rule that does not compile is told and left out; a change holds for the next answer', async () => {
  answers('max-age=60');
  await took('/quick/0', 'HIT');
  const { bad } = await edge.stat();
  assert.deepEqual(
    bad.map((fault: { site: number; list: string; id: number }) => [fault.site, fault.list, fault.id]),
    [[1, 'rates', 1]],
  );
  await edge.putDocuments([site(1, { rates: [{ id: 9, type: 'site', value: '', bytes: 2000 }] })], []);
  assert.ok((await took('/quick/0', 'HIT')) >= atLeast);
  await edge.putDocuments([site(1)], []);
  const begun = performance.now();
  for (let n = 0; n < 20; n++) await took('/quick/0', 'HIT');
  assert.ok(performance.now() - begun < 20_000);
});
