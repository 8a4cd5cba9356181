/** What compressing costs a node while answers do not end. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { test } from 'node:test';
import { gzip } from '#contract/site/gzip.ts';
import { domain, site, standing, until } from './harness.ts';

const { edge, origin, url } = await standing(port => ({
  sites: [site(3, { gzip: { ...gzip.defaults, level: 9 } })],
  domains: [domain(3, 'nine.test', [port], { site: 3 })],
}));

test('one being compressed at the highest level holds a few megabytes, not dozens', async () => {
  const text = randomBytes(300_000).toString('base64');
  origin.script = (_, response) => {
    response.setHeader('content-type', 'text/plain');
    response.setHeader('cache-control', 'no-store');
    response.write(text);
  };
  const resident = () =>
    readFileSync(`/proc/${edge.pid()}/task/${edge.pid()}/children`, 'utf8')
      .trim()
      .split(' ')
      .map(pid => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0))
      .reduce((sum, kilobytes) => sum + kilobytes, 0);
  const before = resident();
  const open = Array.from({ length: 20 }, () => {
    const one = { bytes: 0, end: () => {} };
    const request = http.get(
      { port: edge.port, path: url(), headers: { host: 'nine.test', 'accept-encoding': 'br' }, agent: false },
      response => {
        response.on('data', (piece: Buffer) => (one.bytes += piece.length));
        response.on('error', () => {});
      },
    );
    request.on('error', () => {});
    one.end = () => request.destroy();
    return one;
  });
  // brotli keeps back less than a window and a block
  await until('most of each is there', () => open.every(({ bytes }) => bytes > 100_000), 30);
  const grown = (resident() - before) / open.length;
  for (const one of open) one.end();
  assert.ok(grown < 5_000, `${Math.round(grown)} kB each`);
});
