/** What an origin's word on buffering, and a visitor's that resumes, do to what is stored and sent. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzip } from '#contract/site/gzip.ts';
import { domain, site, standing } from './harness.ts';

const { edge, origin, url } = await standing(port => ({
  sites: [site(1), site(2, { gzip: { ...gzip.defaults } })],
  domains: [domain(1, 'a.test', [port]), domain(2, 'z.test', [port], { site: 2 })],
}));

describe('X-Accel-Buffering: no', () => {
  const answers = (fields: Record<string, string>) => {
    origin.script = (_, response) => {
      for (const [name, value] of Object.entries({ 'x-accel-buffering': 'no', ...fields })) response.setHeader(name, value);
      response.end('x');
    };
  };

  test('what may be stored is stored', async () => {
    answers({ 'cache-control': 's-maxage=60' });
    const path = url();
    const states = [];
    for (let i = 0; i < 3; i++) states.push((await edge.ask('a.test', path)).headers['x-cache']);
    assert.deepEqual(states, ['MISS', 'HIT', 'HIT']);
    assert.equal(origin.seen.length, 1);
  });

  test('an event stream is not, whatever it says, and nobody waits for one that would be', async () => {
    answers({ 'cache-control': 's-maxage=60', 'content-type': 'text/event-stream' });
    const path = url();
    const states = [];
    for (let i = 0; i < 3; i++) states.push((await edge.ask('a.test', path)).headers['x-cache']);
    assert.deepEqual(states, ['MISS', 'BYPASS', 'BYPASS']);
  });
});

describe('If-Range', () => {
  const page = 'abc def\n'.repeat(2000);
  const date = 'Mon, 01 Jan 2024 00:00:00 GMT';
  const answers = (fields: Record<string, string>) => {
    origin.script = (_, response) => {
      for (const [name, value] of Object.entries({ 'cache-control': 'max-age=60', 'content-type': 'text/plain', ...fields }))
        response.setHeader(name, value);
      response.end(page);
    };
  };
  const stored = async (host: string) => {
    const path = url();
    for (let i = 0; i < 2; i++) await edge.ask(host, path, { headers: { 'accept-encoding': 'gzip' } });
    await edge.ask(host, path);
    return path;
  };
  const resumed = async (host: string, path: string, validator: string) =>
    edge.ask(host, path, { headers: { 'accept-encoding': 'gzip', range: 'bytes=50-', 'if-range': validator } });

  test('by date, where answers are compressed: the whole', async () => {
    answers({ 'last-modified': date });
    const answer = await resumed('z.test', await stored('z.test'), date);
    assert.deepEqual([answer.status, answer.headers['content-encoding']], [200, 'gzip']);
  });

  test('by date, where nothing is: the part', async () => {
    answers({ 'last-modified': date });
    const answer = await resumed('a.test', await stored('a.test'), date);
    assert.deepEqual([answer.status, answer.body.length], [206, page.length - 50]);
  });

  test('by a weak tag: the whole, on every site', async () => {
    answers({ etag: 'W/"e"' });
    for (const host of ['a.test', 'z.test']) assert.equal((await resumed(host, await stored(host), 'W/"e"')).status, 200, host);
  });

  test('by a strong tag: the part of what has it', async () => {
    answers({ etag: '"e"' });
    for (const host of ['a.test', 'z.test']) {
      const path = await stored(host);
      assert.equal((await resumed(host, path, '"e"')).status, 206, host);
      assert.equal((await resumed(host, path, '"other"')).status, 200, host);
    }
  });

  test('past the cache too', async () => {
    answers({ 'last-modified': date, 'cache-control': 'no-store' });
    const path = await stored('z.test');
    origin.seen.length = 0;
    assert.equal((await resumed('z.test', path, date)).status, 200);
    assert.deepEqual(
      origin.seen.map(({ headers }) => [headers.range, headers['if-range']]),
      [[undefined, undefined]],
    );
  });
});
