/** Compressed answers: made once behind the cache, a variant for each encoding, and nothing compressed that must not be. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { connect } from 'node:net';
import { gzip } from '#contract/site/gzip.ts';
import type { SiteDocument } from '#contract/edge/document.ts';
import { type Answer, type Ask, domain, site, standing, until } from './harness.ts';

type Setting = NonNullable<SiteDocument['gzip']>;
const on: Setting = { ...gzip.defaults };
const { edge, origin, url } = await standing(port => ({
  sites: [site(1, { gzip: on }), site(2), site(3, { gzip: { ...on, level: 9 } })],
  domains: [
    domain(1, 'a.test', [port]),
    domain(2, 'plain.test', [port], { site: 2 }),
    domain(3, 'nine.test', [port], { site: 3 }),
    domain(4, 'change.test', [port], { site: 4 }),
  ],
}));

const page = '<p>The same words again and again.</p>\n'.repeat(400);
/** The origin answers every request so. */
function answers(fields: Record<string, string | string[]> = {}, body: string | Buffer = page, status = 200) {
  origin.script = (_, response) => {
    const all = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'max-age=60', etag: '"v1"', ...fields };
    response.statusCode = status;
    for (const [name, value] of Object.entries(all)) response.setHeader(name, value);
    response.setHeader('content-length', Buffer.byteLength(body));
    response.end(body);
  };
}
const read = (answer: Answer) => {
  const bytes = Buffer.from(answer.body, 'latin1');
  const coding = answer.headers['content-encoding'];
  return String(coding === 'br' ? brotliDecompressSync(bytes) : coding === 'gzip' ? gunzipSync(bytes) : bytes);
};
const browser = 'gzip, deflate, br, zstd';
const get = (path: string, accept?: string, more: Ask = {}, host = 'a.test') =>
  edge.ask(host, path, { ...more, headers: { ...(accept === undefined ? {} : { 'accept-encoding': accept }), ...more.headers } });
const coded = async (accept: string | undefined, host = 'a.test', path = url()) => {
  const answer = await get(path, accept, {}, host);
  assert.equal(read(answer), page, accept);
  return answer.headers['content-encoding'] ?? 'as it is';
};

describe('who gets what', () => {
  test('brotli before gzip, and nothing for those who accept neither', async () => {
    answers();
    const cases: [string | undefined, string][] = [
      [undefined, 'as it is'],
      ['', 'as it is'],
      ['identity', 'as it is'],
      ['deflate', 'as it is'],
      ['gzip', 'gzip'],
      ['x-gzip', 'gzip'],
      ['gzip, deflate', 'gzip'],
      ['br', 'br'],
      [browser, 'br'],
      ['gzip;q=1.0, br;q=0.5', 'br'],
      ['gzip, br;q=0', 'gzip'],
      ['gzip;q=0, br;q=0.000', 'as it is'],
      ['*', 'br'],
      ['br;q=0, *', 'gzip'],
      ['*;q=0', 'as it is'],
    ];
    for (const [accept, wanted] of cases) assert.equal(await coded(accept), wanted, String(accept));
  });

  test('it is made once: whoever comes later is answered from the cache, each encoding by itself', async () => {
    answers();
    const path = url();
    const rounds = [];
    for (let round = 0; round < 2; round++) {
      for (const accept of [browser, 'gzip', undefined]) {
        const answer = await get(path, accept);
        assert.equal(read(answer), page);
        rounds.push([answer.headers['x-cache'], answer.headers['content-encoding']].join(' '));
        assert.equal(answer.headers.vary, 'Accept-Encoding');
        const length = answer.headers['content-length'];
        assert.equal(length, answer.headers['content-encoding'] ? undefined : String(page.length));
      }
    }
    assert.deepEqual(rounds, ['MISS br', 'MISS gzip', 'MISS ', 'HIT br', 'HIT gzip', 'HIT ']);
    assert.equal(origin.seen.length, 3);
  });

  test('HEAD says what GET says, stored or not', async () => {
    for (const cc of ['max-age=60', 'private']) {
      answers({ 'cache-control': cc });
      const path = url();
      for (const accept of [browser, 'gzip', undefined]) {
        const about = ({ headers }: Answer) => [headers['content-encoding'], headers.etag, headers.vary, headers['content-type']];
        const first = await get(path, accept);
        const head = await get(path, accept, { method: 'HEAD' });
        assert.deepEqual(about(head), about(first), `${cc}, ${accept}`);
        const again = await get(path, accept);
        if (cc === 'max-age=60') assert.equal(head.headers['content-length'], again.headers['content-length']);
        else if (accept) assert.equal(head.headers['content-length'], undefined);
      }
    }
  });

  test('a site without compression sends what the origin sent', async () => {
    answers();
    const path = url();
    for (const visit of ['MISS', 'HIT']) {
      const answer = await get(path, browser, {}, 'plain.test');
      const { 'x-cache': cache, 'content-encoding': coding, vary, etag } = answer.headers;
      assert.deepEqual([cache, coding, vary, etag, answer.body], [visit, undefined, undefined, '"v1"', page]);
    }
  });

  test('the level is the one of the site, on every way to the origin', async () => {
    // Words in an order that no window repeats, so that the levels differ.
    let seed = 1;
    const text = Array.from({ length: 30_000 }, () => `word${(seed = (seed * 48_271) % 2_147_483_647) % 700}`).join(' ');
    for (const cc of ['max-age=60', 'private']) {
      answers({ 'cache-control': cc }, text);
      for (const accept of ['gzip', 'br']) {
        const size = async (host: string, path: string) => {
          const answer = await get(path, accept, {}, host);
          assert.equal(read(answer), text);
          return answer.body.length;
        };
        const path = url();
        for (const visit of ['first', 'second', 'third']) {
          const [usual, nine] = [await size('a.test', path), await size('nine.test', path)];
          assert.ok(nine < usual, `${cc}, ${accept}, ${visit}: ${nine} of ${usual}`);
        }
      }
    }
  });
});

describe('what is not compressed', () => {
  const spared = async (what: string, host = 'a.test') => {
    const path = url();
    for (let visit = 0; visit < 2; visit++) {
      const answer = await get(path, browser, {}, host);
      assert.notEqual(answer.headers['content-encoding'], 'br', what);
      assert.doesNotMatch(String(answer.headers.vary ?? ''), /accept-encoding/i, what);
    }
  };
  test('types that were not named, short answers, no-transform, digests, other codings, other statuses', async () => {
    const cases: [string, Record<string, string | string[]>, (string | Buffer)?, number?][] = [
      ['a picture', { 'content-type': 'image/png' }],
      ['no type', { 'content-type': '' }],
      ['999 bytes', {}, 'x'.repeat(999)],
      ['no-transform', { 'cache-control': 'max-age=60, No-Transform' }],
      ['no-transform in a second line', { 'cache-control': ['max-age=60', 'no-transform'] }],
      ['no-transform for caches', { 'cdn-cache-control': 'max-age=60, no-transform' }],
      ['gzip of the origin', { 'content-encoding': 'gzip' }, gzipSync(page)],
      ['a digest', { 'content-digest': 'sha-256=:AAAA:' }],
      ['a digest of old', { 'content-md5': 'AAAA' }],
      ['201', {}, page, 201],
      ['500', {}, page, 500],
      ['a long Vary', { vary: Array.from({ length: 12 }, (_, i) => `x-field-${i}`).join(',') }],
    ];
    for (const [what, fields, body, status] of cases) {
      answers(fields, body, status);
      await spared(what);
      answers({ ...fields, ...(what.startsWith('no-transform') ? {} : { 'cache-control': 'private' }) }, body, status);
      await spared(`${what}, not stored`);
    }
    answers({}, 'x'.repeat(1000));
    assert.equal((await get(url(), 'gzip')).headers['content-encoding'], 'gzip');
    answers({}, page, 404);
    assert.equal((await get(url(), 'gzip')).headers['content-encoding'], 'gzip');
  });

  test('ranges are of the answer as the origin sent it', async () => {
    answers();
    const path = url();
    const first = await get(path, browser);
    assert.deepEqual([first.headers['content-encoding'], first.headers['accept-ranges']], ['br', undefined]);
    for (const visit of ['first', 'second']) {
      const part = await get(path, browser, { headers: { range: 'bytes=3-10' } });
      assert.deepEqual([part.status, part.headers['content-encoding'], part.body], [206, undefined, page.slice(3, 11)], visit);
    }
    // With the tag of what was compressed nobody gets a part of anything.
    const other = await get(path, browser, { headers: { range: 'bytes=3-10', 'if-range': String(first.headers.etag) } });
    assert.deepEqual([other.status, read(other)], [200, page]);
    // The origin's own parts, past the cache
    origin.script = (_, response) => {
      response.writeHead(206, {
        'content-type': 'text/html',
        'content-range': `bytes 0-1999/${page.length}`,
        'cache-control': 'private',
      });
      response.end(page.slice(0, 2000));
    };
    for (let visit = 0; visit < 3; visit++) {
      const part = await edge.ask('a.test', '/part', { method: 'GET', headers: { 'accept-encoding': 'gzip' } });
      assert.deepEqual([part.headers['content-encoding'], part.body.length], [undefined, 2000]);
    }
  });

  test('half an answer is neither whole nor stored', async () => {
    for (const accept of ['br', 'gzip']) {
      for (const [cc, framed] of [
        ['max-age=60', true],
        ['max-age=60', false],
        ['private', true],
      ] as const) {
        let broken = true;
        origin.script = (_, response) => {
          const length = framed ? { 'content-length': page.length } : {};
          response.writeHead(200, { 'content-type': 'text/html', 'cache-control': cc, ...length });
          if (!broken) return void response.end(page);
          response.write(page.slice(0, 5000), () => response.destroy());
        };
        const path = url();
        // Nor is anybody kept waiting. The second visit to what is not stored goes past the back half.
        for (let visit = 0; visit < 2; visit++) await assert.rejects(get(path, accept), /aborted/, `${accept}, ${cc}, ${framed}`);
        broken = false;
        assert.equal(read(await get(path, accept)), page);
      }
    }
  });
});

describe('validators', () => {
  test('a strong tag becomes weak, and whoever has it gets 304, from the cache and from the origin', async () => {
    answers({ 'cache-control': 'max-age=60' });
    const path = url();
    const [first, plain] = [await get(path, browser), await get(path)];
    assert.deepEqual([first.headers.etag, plain.headers.etag], ['W/"v1"', '"v1"']);
    for (const accept of [browser, 'gzip', undefined]) {
      const again = await get(path, accept, { headers: { 'if-none-match': 'W/"v1"' } });
      assert.deepEqual([again.status, again.body, again.headers.vary], [304, '', 'Accept-Encoding'], accept);
    }
    // Expired at once, with a validator: asked for again each time
    origin.script = (request, response) => {
      const fields = { 'cache-control': 'no-cache', etag: '"v2"', 'content-type': 'text/html' };
      if (/"v2"/.test(String(request.headers['if-none-match']))) return void response.writeHead(304, fields).end();
      response.writeHead(200, fields).end(page);
    };
    const kept = url();
    const states = [];
    for (const accept of [browser, browser, 'gzip', 'gzip']) {
      const answer = await get(kept, accept);
      assert.equal(read(answer), page);
      states.push([answer.headers['x-cache'], answer.headers['content-encoding'], answer.headers.etag].join(' '));
    }
    assert.deepEqual(states, ['MISS br W/"v2"', 'HIT br W/"v2"', 'MISS gzip W/"v2"', 'HIT gzip W/"v2"']);
    const not = await get(kept, browser, { headers: { 'if-none-match': 'W/"v2"' } });
    assert.equal(not.status, 304);
  });

  test('a purge and an unsafe method remove every encoding', async () => {
    const all = async (path: string) => {
      const states = [];
      for (const accept of [browser, 'gzip', undefined]) states.push((await get(path, accept)).headers['x-cache']);
      return states.join(' ');
    };
    answers();
    const path = url();
    assert.equal(await all(path), 'MISS MISS MISS');
    assert.equal(await all(path), 'HIT HIT HIT');
    await get(path, browser, { method: 'POST', body: 'x' });
    assert.equal(await all(path), 'MISS MISS MISS');
    assert.equal(await all(path), 'HIT HIT HIT');
    const purge = { type: 'exact' as const, host: 'a.test', uri: path, gen: 2 };
    await edge.putDocuments([site(1, { gzip: on, purges: [purge] })], []);
    assert.equal(await all(path), 'MISS MISS MISS');
  });
});

describe('what is not stored', () => {
  test('is compressed on each of its ways', async () => {
    answers({ 'cache-control': 'private' });
    const path = url();
    for (const visit of ['first', 'second', 'third']) assert.equal(await coded(browser, 'a.test', path), 'br', visit);
    for (let visit = 0; visit < 2; visit++) {
      const posted = await get(path, browser, { method: 'POST', body: 'x' });
      assert.deepEqual([posted.headers['content-encoding'], read(posted)], ['br', page]);
      assert.equal(posted.headers.vary, 'Accept-Encoding');
    }
  });

  /** Pieces as they arrive, each awaited before the next is sent. */
  async function pieces(fields: Record<string, string>, path: string, accept = 'gzip, br') {
    let say!: (text: string | null) => void;
    origin.script = (_, response) => {
      response.writeHead(200, fields);
      response.flushHeaders();
      say = text => (text === null ? response.end() : response.write(text));
    };
    const socket = connect(edge.port, '127.0.0.1');
    let received = Buffer.alloc(0);
    socket.on('data', piece => (received = Buffer.concat([received, piece])));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a.test\r\nAccept-Encoding: ${accept}\r\n\r\n`);
    await until('asked', () => say !== undefined);
    let before = 0;
    for (const text of ['data: one\n\n', 'data: two\n\n', 'data: three\n\n']) {
      say(text);
      await until(
        `${text.trim()} arrives`,
        () => received.length > before && (before > 0 || /\r\n\r\n./s.test(String(received))),
      );
      before = received.length;
    }
    say(null);
    const text = String(received);
    socket.destroy();
    return text;
  }
  test('a page arrives as it is made, compressed, where it goes past the cache', async () => {
    for (const accept of ['gzip', 'br']) {
      const path = url();
      answers({ 'cache-control': 'private' });
      // After this one the front half asks the origin by itself.
      await get(path, accept);
      const text = await pieces({ 'content-type': 'text/html', 'cache-control': 'private' }, path, accept);
      assert.match(text, new RegExp(`content-encoding: ${accept}`, 'i'));
    }
  });

  test('events arrive when they are sent, even where all texts are compressed', async () => {
    const everything = { ...on, types: ['text/*'], minLength: 0 };
    await edge.putDocuments([site(1, { gzip: everything, purges: [] })], []);
    try {
      const path = url();
      for (const visit of ['back half', 'past it', 'past it']) {
        const text = await pieces({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' }, path);
        assert.match(text, /data: one[^]*data: two[^]*data: three/, visit);
        assert.doesNotMatch(text, /content-encoding/i);
      }
      const text = await pieces({ 'content-type': 'text/plain', 'cache-control': 'no-store', 'x-accel-buffering': 'no' }, url());
      assert.doesNotMatch(text, /content-encoding/i);
    } finally {
      await edge.putDocuments([site(1, { gzip: on })], []);
    }
  });
});

test('a change of the setting holds for what is fetched from then on; what is stored stays until it is purged', async () => {
  const set = (gzip?: Setting, gen = 1) => edge.putDocuments([site(4, { gzip, gen })], []);
  const state = async (path: string, accept = browser) => {
    const { headers } = await get(path, accept, {}, 'change.test');
    return `${headers['x-cache']} ${headers['content-encoding'] ?? 'as it is'}`;
  };
  await edge.putDocuments([site(4, { gzip: on })], [domain(4, 'change.test', [origin.port], { site: 4 })]);
  answers();
  const stored = url();
  assert.equal(await state(stored), 'MISS br');
  await set({ ...on, enabled: false });
  assert.equal(await state(stored), 'HIT br');
  assert.equal(await state(url()), 'MISS as it is');
  await set({ ...on, enabled: false }, 2);
  assert.equal(await state(stored), 'MISS as it is');
  await set({ ...on, types: ['text/css'] }, 2);
  assert.equal(await state(stored), 'HIT as it is');
  assert.equal(await state(url()), 'MISS as it is');
  await set({ ...on, minLength: page.length + 1 }, 3);
  assert.equal(await state(stored), 'MISS as it is');
  await set({ ...on, minLength: page.length }, 4);
  assert.equal(await state(stored), 'MISS br');
  // What a node of this release cannot make anything of compresses nothing, and breaks nothing.
  await set({ ...on, types: [] as never, level: 99 }, 5);
  assert.equal(await state(stored), 'MISS as it is');
});
