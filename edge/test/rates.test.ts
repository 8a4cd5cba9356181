/** How fast answers are sent: no visitor gets one sooner than its rate allows, wherever it comes from. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import http, { type ServerResponse } from 'node:http';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type Ask, domain, site, standing, until } from './harness.ts';

const rules = [
  { id: 1, type: 'regex' as const, value: '(', bytes: 1 },
  { id: 2, type: 'prefix' as const, value: '/slow/', bytes: 2000 },
  { id: 3, type: 'fileType' as const, value: 'mp4', bytes: 2000 },
  { id: 4, type: 'exact' as const, value: '/one', bytes: 2000 },
  { id: 5, type: 'prefix' as const, value: '/', bytes: 1_000_000_000 },
];
const cacheRules = [{ type: 'prefix' as const, value: '/slow/never/', mode: 'followOrigin' as const, ttl: 0 }];
const gzip = { enabled: true, level: 5, minLength: 100, types: ['text/plain'] };
// One worker: the front half asks an origin by itself once its worker has seen an answer of it.
const { edge, origin } = await standing(
  port => ({
    sites: [site(1, { rates: rules, cacheRules, gzip }), site(2)],
    domains: [domain(1, 'a.test', [port]), domain(2, 'free.test', [port], { site: 2 }), domain(3, 'early.test', [port])],
  }),
  { workers: 1 },
);
/** Does not become shorter by compression. */
const body = randomBytes(2500).toString('hex');
const noise = randomBytes(5000).toString('latin1');

function answers(cc: string, headers: Record<string, string> = {}, status = 200, text = body) {
  origin.script = (request, response) => {
    if (request.url.includes('early')) response.writeEarlyHints({ link: '</x>; rel=preload' });
    response.writeHead(status, { 'cache-control': cc, 'content-length': text.length, ...headers });
    response.end(text, 'latin1');
  };
}
interface Way extends Ask {
  host?: string;
  /** default 200 */
  status?: number;
  /** what comes, where it is not `body` */
  text?: string;
}
/** Seconds that an answer took; the clock does not go back. */
async function took(path: string, wanted: string, { host = 'a.test', status = 200, text, ...asked }: Way = {}) {
  const begun = performance.now();
  const answer = await edge.ask(host, path, asked);
  const seconds = (performance.now() - begun) / 1000;
  const what = `${host} ${asked.method ?? 'GET'} ${path}`;
  assert.deepEqual([answer.status, answer.headers['x-cache']], [status, wanted], what);
  const encoded = Buffer.from(answer.body, 'latin1');
  const got = answer.headers['content-encoding'] === 'gzip' ? gunzipSync(encoded) : encoded;
  assert.ok(got.equals(Buffer.from(asked.method === 'HEAD' ? '' : (text ?? body), 'latin1')), what);
  return seconds;
}
// nginx counts whole seconds and grants the one that has begun: 5,000 bytes at 2,000 a second are sent within three seconds of its
// clock, so at least one whole second passes between the first and the last. A busy machine only makes it longer.
const atLeast = 1;
async function held(path: string, wanted: string, way?: Way) {
  const seconds = await took(path, wanted, way);
  assert.ok(seconds >= atLeast, `${path}, ${wanted}, ${JSON.stringify(way)}: ${seconds}`);
}

test('an answer takes as long as its rate says: from the origin, from the cache, a part of it, an error', async () => {
  answers('max-age=60');
  await Promise.all(['/slow/page', '/film.mp4?x=1', '/one'].map(path => held(path, 'MISS')));
  const part = { headers: { range: 'bytes=1-4999' }, status: 206, text: body.slice(1) };
  await Promise.all([held('/slow/page', 'HIT'), held('/slow/page', 'HIT', part)]);
  answers('no-store', {}, 404);
  await held('/slow/missing', 'MISS', { status: 404 });
  answers('no-store', {}, 503);
  await held('/slow/broken', 'MISS', { status: 503 });
});

test('the rate holds past the cache: other methods, long and endless bodies, URLs that a rule excludes', async () => {
  answers('max-age=60');
  await took('/taught', 'MISS');
  const long = 'x'.repeat(20_000);
  await Promise.all([
    held('/slow/post', 'BYPASS', { method: 'POST' }),
    held('/slow/put', 'BYPASS', { method: 'PUT', body: 'short' }),
    held('/slow/long', 'BYPASS', { method: 'PUT', body: long }),
    held('/slow/chunked', 'BYPASS', { method: 'POST', headers: { 'transfer-encoding': 'chunked' } }),
    held('/slow/upgrade', 'BYPASS', { headers: { connection: 'upgrade', upgrade: 'h2c' } }),
    held('/slow/never/page', 'BYPASS'),
    held('/slow/never/part', 'BYPASS', { headers: { range: 'bytes=0-' } }),
  ]);
  await took('/slow/never/page', 'BYPASS', { method: 'HEAD' });
});

test('the rate holds for a URL that turned out uncacheable', async () => {
  answers('no-store');
  await took('/slow/uncacheable', 'MISS');
  await Promise.all(Array.from({ length: 3 }, () => held('/slow/uncacheable', 'BYPASS')));
  await took('/quick/uncacheable', 'MISS');
  await took('/quick/uncacheable', 'BYPASS');
});

test('the rate holds whatever the origin says about buffering, and of compressed answers', async () => {
  for (const early of [false, true]) {
    const host = early ? 'early.test' : 'a.test';
    const at = (path: string) => `/slow/${early ? 'early-' : ''}${path}`;
    answers('no-store', { 'x-accel-buffering': 'no', 'x-accel-limit-rate': '0' });
    // the first one teaches that the origin sends interim answers
    if (early) await edge.ask(host, at('first'));
    await Promise.all([
      held(at('unbuffered'), 'MISS', { host }),
      held(at('unbuffered-post'), 'BYPASS', { host, method: 'POST' }),
      held(at('never/unbuffered'), early ? 'MISS' : 'BYPASS', { host }),
    ]);
    answers('max-age=60', { 'x-accel-buffering': 'no' });
    await held(at('stored'), 'MISS', { host });
    await held(at('stored'), 'HIT', { host });
    answers('max-age=60', { 'content-type': 'text/plain' }, 200, noise);
    const compressed = { host, text: noise, headers: { 'accept-encoding': 'gzip' } };
    await Promise.all([
      held(at('compressed'), 'MISS', compressed),
      held(at('compressed-post'), 'BYPASS', { ...compressed, method: 'POST' }),
    ]);
    await held(at('compressed'), 'HIT', compressed);
  }
});

test('an event stream passes at once, whatever the rate', async () => {
  // At the slow rate this alone would take half a minute.
  const event = `data: ${'x'.repeat(60_000)}\n\n`;
  for (const [path, method] of [
    ['/slow/events', 'GET'],
    ['/slow/never/events', 'GET'],
    ['/slow/post-events', 'POST'],
  ]) {
    const more = Promise.withResolvers<ServerResponse>();
    origin.script = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      response.write(event);
      more.resolve(response);
    };
    const asked = http
      .request({ host: '127.0.0.1', port: edge.port, path, method, headers: { host: 'a.test' }, agent: false })
      .end();
    let got = '';
    asked.on('response', response => response.on('data', piece => (got += piece)));
    const response = await more.promise;
    await until(`${method} ${path}: the first event`, () => got === event);
    response.end('data: 2\n\n');
    await until(`${method} ${path}: the second event`, () => got === `${event}data: 2\n\n`);
  }
});

test('what no slow rule matches, and another site, is not held back', async () => {
  answers('max-age=60');
  // What the slow rate would take for twenty answers is a minute: no machine is that late.
  const begun = performance.now();
  for (let n = 0; n < 20; n++) {
    await took(`/quick/${n}`, 'MISS');
    await took(`/slow/${n}`, 'MISS', { host: 'free.test' });
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
