/** Pages that depend on what a visitor sends: kept apart by what reached the origin, or not kept. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { domain, site, standing } from './harness.ts';

const { edge, origin, url } = await standing(port => ({ sites: [site(1)], domains: [domain(1, 'a.test', [port])] }));

describe('variants', () => {
  /** Every header that reaches the origin as it came, and some that nobody knows */
  const passed = [
    .../local plain = set \[\[([^\]]*)/
      .exec(readFileSync(new URL('../lua/core/forward.lua', import.meta.url), 'utf8'))![1]!
      .trim()
      .split(/\s+/),
    ...['sec-fetch-mode', 'sec-ch-ua', 'rsc', 'x-kind', 'x-api-key', 'never-heard-of'],
  ];
  test('what Connection takes away does not become the page of those who send it', async () => {
    assert.ok(passed.length > 35);
    for (const name of passed) {
      origin.script = (request, response) => {
        response.setHeader('cache-control', 'public, max-age=60');
        response.setHeader('vary', `Accept-Encoding, ${name.toUpperCase()}`);
        response.end(String(request.headers[name]));
      };
      const sent = { [name]: name === 'accept-encoding' ? 'gzip' : 'x' };
      for (const connection of [name, `close, ${name.toUpperCase()} ,x`]) {
        const untouched = await edge.ask('a.test', url(), { headers: sent });
        const path = url();
        await edge.ask('a.test', path, { headers: { ...sent, connection } });
        for (const visit of ['first', 'second']) {
          const answer = await edge.ask('a.test', path, { headers: sent });
          assert.equal(answer.body, untouched.body, `${connection}, ${visit} visitor`);
        }
        // Nor does one who comes later replace what is stored.
        await edge.ask('a.test', path, { headers: { ...sent, connection } });
        assert.equal((await edge.ask('a.test', path, { headers: sent })).body, untouched.body, connection);
      }
    }
  });

  test('Vary in two lines keeps apart by both', async () => {
    const kinds: Record<string, string>[] = [{ rsc: '1' }, { origin: 'https://evil.test' }, { 'accept-language': 'de' }, {}];
    for (const lines of [
      ['RSC', 'Accept-Encoding, Origin, Accept-Language'],
      ['Accept-Language, Origin', 'RSC'],
      ['Origin', 'Accept-Language', 'RSC', 'Accept-Encoding'],
    ]) {
      origin.script = (request, response) => {
        const { rsc, origin: from, 'accept-language': language } = request.headers;
        response.setHeader('cache-control', 'max-age=60');
        response.setHeader('vary', lines);
        response.end([rsc, from, language].join());
      };
      const path = url();
      for (const cache of ['MISS', 'HIT']) {
        for (const headers of kinds) {
          const answer = await edge.ask('a.test', path, { headers });
          const page = [headers.rsc, headers.origin, headers['accept-language']].join();
          assert.deepEqual([answer.headers['x-cache'], answer.body], [cache, page], lines.join(' | '));
        }
      }
    }
  });

  test('a page that depends on what we set for each visitor is not stored; on what is the same for all it is', async () => {
    const visit = async (path: string, from: string) => {
      const answer = await edge.ask('a.test', path, { from });
      return `${answer.headers['x-cache']} ${answer.body}`;
    };
    const cases: [string, boolean][] = [
      ['X-Forwarded-For', false],
      ['Accept-Encoding, x-real-ip', false],
      ['X-Request-Id', false],
      ['X-Forwarded-Proto', true],
      ['Host, X-Forwarded-Host', true],
    ];
    for (const [vary, stored] of cases) {
      origin.script = (request, response) => {
        response.setHeader('cache-control', 'max-age=60');
        response.setHeader('vary', vary);
        response.end(stored ? 'page' : `page for ${String(request.headers['x-real-ip'])}`);
      };
      const path = url();
      const visits = [await visit(path, '127.0.0.7'), await visit(path, '127.0.0.8'), await visit(path, '127.0.0.8')];
      if (stored) assert.deepEqual(visits, ['MISS page', 'HIT page', 'HIT page'], vary);
      else {
        // Nobody queues for it either.
        assert.deepEqual(visits, ['MISS page for 127.0.0.7', 'BYPASS page for 127.0.0.8', 'BYPASS page for 127.0.0.8'], vary);
      }
    }
  });
});
