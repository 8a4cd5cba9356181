/** Two tiers: edges that miss ask a relay of their zone, relays ask the origin. */
import assert from 'node:assert/strict';
import { createServer as createTcp } from 'node:net';
import { after, beforeEach, describe, test } from 'node:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzip } from '#contract/site/gzip.ts';
import { startZone } from './fleet.ts';
import { domain, type Edge, freePort, raw, site, startOrigin, until } from './harness.ts';

describe('two edges and two relays', async () => {
  const zone = await startZone();
  const origin = await startOrigin();
  after(async () => {
    await zone[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });
  const [one, two] = zone.edges as [Edge, Edge];
  await zone.put([site(1)], [domain(1, 'a.test', [origin.port])]);
  beforeEach(() => {
    origin.seen.length = 0;
    origin.script = (_, response) => response.setHeader('cache-control', 'max-age=60').end(`body ${origin.seen.length}`);
  });
  const relayLog = () => zone.relays.map(relay => readFileSync(join(relay.folder, 'log/relay.log'), 'utf8')).join('');

  test('what one edge has fetched the other one has of the relay', async () => {
    const first = await one.ask('a.test', '/once');
    assert.deepEqual([first.status, first.body, first.headers['x-cache']], [200, 'body 1', 'MISS'], one.errors());
    const second = await two.ask('a.test', '/once');
    assert.deepEqual([second.status, second.body, second.headers['x-cache']], [200, 'body 1', 'MISS']);
    assert.deepEqual([second.headers['cache-control'], second.headers['x-edge-relay']], ['max-age=60', undefined]);
    assert.equal((await two.ask('a.test', '/once')).headers['x-cache'], 'HIT');
    assert.equal(origin.seen.length, 1);
    assert.match(origin.seen[0]!.headers['cdn-loop'] as string, /node=n1[12], breakwater;node=n[12]$/);
    assert.equal(origin.seen[0]!.headers['x-forwarded-for'], '127.0.0.1');
    assert.deepEqual(
      Object.keys(origin.seen[0]!.headers).filter(name => name.startsWith('x-edge')),
      [],
    );
    await until('the relay has written it down', () => relayLog().includes(second.headers['x-request-id'] as string));
  });

  test('forty visitors of two edges at once are one request to the origin', async () => {
    origin.script = (_, response) =>
      void setTimeout(() => response.setHeader('cache-control', 'max-age=60').end(`body ${origin.seen.length}`), 300);
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => (n % 2 ? one : two).ask('a.test', '/crowd')));
    assert.deepEqual([...new Set(answers.map(({ status, body }) => `${status} ${body}`))], ['200 body 1']);
    assert.equal(origin.seen.length, 1);
  });

  test("what may not be stored goes to the origin from the edge, and nobody waits for a page that is nobody else's", async () => {
    origin.script = (_, response) => {
      const body = `body ${origin.seen.length}`;
      setTimeout(() => response.setHeader('cache-control', 'private').end(body), 200);
    };
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => (n % 2 ? one : two).ask('a.test', '/mine')));
    assert.equal(new Set(answers.map(({ body }) => body)).size, 12, 'everybody has an answer of their own');
    assert.equal(origin.seen.length, 12);
    origin.seen.length = 0;
    await one.ask('a.test', '/mine');
    await one.ask('a.test', '/post', { method: 'POST', body: 'x' });
    assert.deepEqual(
      origin.seen.map(({ method, headers }) => [method, headers['cdn-loop']]),
      [
        ['GET', 'breakwater;node=n11'],
        ['POST', 'breakwater;node=n11'],
      ],
    );
  });

  test('a purge that an edge has applied and a relay has not: the edge asks the origin itself', async () => {
    await one.ask('a.test', '/purged');
    assert.equal((await two.ask('a.test', '/purged')).body, 'body 1');
    const purged = site(1, { rev: 5, purges: [{ gen: 5, type: 'exact', host: 'a.test', uri: '/purged' }] });
    await zone.put([purged], [], [one]);
    const fresh = await one.ask('a.test', '/purged');
    assert.deepEqual([fresh.body, origin.seen[1]!.headers['cdn-loop']], ['body 2', 'breakwater;node=n11']);
    // Now the relays have it, and the other edge has not: what it finds there is newer than what it wants.
    await zone.put([purged], [], zone.relays);
    await zone.put([purged], [], [two]);
    assert.equal((await two.ask('a.test', '/purged')).body, 'body 3');
    assert.match(origin.seen[2]!.headers['cdn-loop'] as string, /n12, breakwater;node=n[12]$/);
    await zone.put([site(1, { rev: 6 })], [], zone.all);
  });

  test('a domain that asks another origin now: a relay that does not know it yet is not believed', async () => {
    await using next = await startOrigin('next');
    await zone.put([], [domain(1, 'a.test', [next.port], { rev: 9 })], [one]);
    assert.equal((await one.ask('a.test', '/moved')).body, 'next 1');
    assert.equal(origin.seen.length, 0);
    await zone.put([], [domain(1, 'a.test', [origin.port], { rev: 10 })]);
  });

  test('a post at one edge: nobody is shown what a relay has from before', async () => {
    await one.ask('a.test', '/thread');
    await two.ask('a.test', '/other-post', { method: 'POST', body: 'x' });
    await two.ask('a.test', '/thread', { method: 'POST', body: 'x' });
    assert.equal((await two.ask('a.test', '/thread')).body, 'body 4');
    assert.equal(origin.seen.length, 4);
    assert.equal((await two.ask('a.test', '/thread')).headers['x-cache'], 'HIT');
  });

  test('what an origin says reaches visitors as it was: errors of its own, redirects, cookies, ages', async () => {
    for (const status of [200, 301, 404, 500, 502, 503, 504, 590, 591, 593]) {
      origin.script = (_, response) => {
        response.setHeader('set-cookie', ['a=1', 'b=2']).setHeader('age', '7').setHeader('x-mine', '1');
        response.writeHead(status, { location: '/there' }).end('said');
      };
      const answer = await one.ask('a.test', `/status/${status}`);
      assert.deepEqual(
        [
          answer.status,
          answer.body,
          answer.headers['set-cookie'],
          answer.headers.location,
          answer.headers.age,
          answer.headers['x-mine'],
        ],
        [status, 'said', ['a=1', 'b=2'], '/there', '7', '1'],
      );
    }
  });

  test('an age goes on from edge to edge, and nothing lives longer for having been at a relay', async () => {
    origin.script = (_, response) =>
      response.setHeader('cache-control', 'max-age=2').setHeader('age', '1').end(`body ${origin.seen.length}`);
    await one.ask('a.test', '/short');
    const stale = await until('it has expired everywhere', async () => {
      const { body } = await two.ask('a.test', '/short');
      return body !== 'body 1' && body;
    });
    assert.equal(stale, 'body 2');
  });

  test('an origin that fails: an expired answer helps out, else it is a page of the edge', async () => {
    origin.script = (_, response) => response.setHeader('cache-control', 'max-age=1').end('old');
    // One that came with an age, as the clock's second went over meanwhile, had expired then, and nothing is kept of it.
    let tries = 0;
    const path = await until('it is stored for a while', async () => {
      const fresh = `/fails/${tries++}`;
      return (await one.ask('a.test', fresh)).headers.age === undefined && fresh;
    });
    origin.script = (_, response) => response.destroy();
    for (const edge of [one, two])
      await until('it has expired at the relay, too', async () => {
        const { status, headers, body } = await edge.ask('a.test', path);
        assert.deepEqual([status, body], [200, 'old']);
        return Number(headers.age) > 1;
      });
    const failed = await two.ask('a.test', '/never-there');
    assert.equal(failed.status, 502);
    assert.match(failed.body, /Bad Gateway/);
    // The relay asks once more where that was a kept connection's end; the edge does not ask after it.
    const ways = origin.seen.filter(({ url }) => url === '/never-there').map(({ headers }) => headers['cdn-loop']);
    assert.equal(new Set(ways).size, 1, 'nobody else asks');
  });

  test('conditions and parts', async () => {
    origin.script = (_, response) => response.setHeader('cache-control', 'max-age=60').setHeader('etag', '"e"').end('0123456789');
    assert.equal((await one.ask('a.test', '/tagged', { headers: { 'if-none-match': '"e"' } })).status, 304);
    const part = await two.ask('a.test', '/tagged', { headers: { range: 'bytes=2-4' } });
    assert.deepEqual([part.status, part.body, part.headers['content-range']], [206, '234', 'bytes 2-4/10']);
    assert.equal((await two.ask('a.test', '/tagged', { method: 'HEAD' })).headers['content-length'], '10');
    assert.equal(origin.seen.length, 1);
  });

  test('the same part of a large object that is not stored is asked of the origin once, however many want it', async () => {
    const size = 20e6;
    origin.script = (request, response) => {
      const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? [];
      assert.ok(from, 'a part is asked for');
      response.setHeader('cache-control', 'max-age=60').setHeader('etag', '"e"');
      response.writeHead(206, { 'content-range': `bytes ${from}-${to}/${size}` });
      setTimeout(() => response.end('x'.repeat(Number(to) - Number(from) + 1)), 200);
    };
    const range = { range: 'bytes=10000000-10000999' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 ? one : two).ask('a.test', '/large', { headers: range })),
    );
    assert.deepEqual(
      [...new Set(answers.map(({ status, body, headers }) => `${status} ${body.length} ${headers['content-range']}`))],
      [`206 1000 bytes 10000000-10000999/${size}`],
    );
    assert.equal(origin.seen.length, 1);
    const other = await one.ask('a.test', '/large', { headers: { range: 'bytes=10001000-10001009' } });
    assert.deepEqual([other.status, other.body.length, origin.seen.length], [206, 10, 2]);
  });

  test('a part without an end, a long one and one with If-Range are asked of the origin by the edge: no relay fetches the rest', async () => {
    const size = 50e6;
    origin.script = (request, response) => {
      const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1]);
      response.setHeader('cache-control', 'max-age=60').setHeader('etag', '"e"');
      response.writeHead(206, { 'content-range': `bytes ${from}-${from + 9}/${size}` }).end('0123456789');
    };
    const parts: Record<string, string>[] = [
      { range: 'bytes=10000000-' },
      { range: 'bytes=10000000-30000000' },
      { range: 'bytes=10000000-10000009', 'if-range': '"e"' },
    ];
    for (const headers of parts) {
      const { status, body } = await one.ask('a.test', '/endless', { headers });
      assert.deepEqual([status, body], [206, '0123456789'], JSON.stringify(headers));
      const { headers: seen } = origin.seen.at(-1)!;
      assert.deepEqual(
        [seen['cdn-loop'], seen.range, seen['if-range']],
        ['breakwater;node=n11', headers.range, headers['if-range']],
      );
    }
    assert.equal(origin.seen.length, parts.length);
  });

  test("an origin's error that is not stored: those who waited for it ask by themselves, and not one after the other", async () => {
    const held = new Set<() => void>();
    let most = 0;
    origin.script = (_, response) => {
      const end = () => {
        held.delete(end);
        clearTimeout(timer);
        response.writeHead(500).end('broken');
      };
      // the first one is let go by time: when the others wait for it nobody but the relay knows
      const timer = setTimeout(end, 1500);
      held.add(end);
      most = Math.max(most, held.size);
      if (held.size >= 5) for (const one of [...held]) one();
    };
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => (n % 2 ? one : two).ask('a.test', '/broken')));
    assert.deepEqual([...new Set(answers.map(({ status, body }) => `${status} ${body}`))], ['500 broken']);
    assert.equal(most, 5);
  });

  test("the log has each visitor once, and an origin's traffic where an origin was asked", async () => {
    await one.ask('a.test', '/counted');
    await two.ask('a.test', '/counted');
    const lineOf = async (edge: Edge) => (await edge.log(1, line => line[5] === '/counted'))[0]!;
    const [first, second] = [await lineOf(one), await lineOf(two)];
    assert.ok(Number(first[11]) > 0 && Number(first[12]) >= 0, String(first));
    assert.deepEqual([second[10], second[11], second[12]], ['MISS', '-', '-']);
    for (const relay of zone.relays) {
      const lines = readFileSync(join(relay.folder, 'log/access.log'), 'utf8');
      assert.equal(lines, '');
    }
  });
});

describe('lifetimes, encodings and streams by two tiers', async () => {
  const zone = await startZone({ relays: 1 });
  const origin = await startOrigin();
  after(async () => {
    await zone[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });
  const [one, two] = zone.edges as [Edge, Edge];
  beforeEach(() => {
    origin.seen.length = 0;
  });

  test('a lifetime that a rule gives counts from when the relay got it', async () => {
    const cacheRules = (['forceCache', 'followOrigin'] as const).map(mode => ({
      type: 'prefix' as const,
      value: `/${mode}`,
      mode,
      ttl: 4,
    }));
    await zone.put([site(1, { cacheRules })], [domain(1, 'a.test', [origin.port])]);
    for (const path of ['/forceCache', '/followOrigin']) {
      origin.seen.length = 0;
      origin.script = (_, response) => response.end(`body ${origin.seen.length}`);
      await one.ask('a.test', path);
      // Fetched by the other edge when half of its life is over.
      await until('it has an age', async () => Number((await one.ask('a.test', path)).headers.age) >= 2);
      const late = await two.ask('a.test', path);
      assert.deepEqual([late.body, Number(late.headers.age) >= 2], ['body 1', true], path);
      const ages: number[] = [];
      await until('it is fetched anew', async () => {
        const { body, headers } = await two.ask('a.test', path);
        if (body === 'body 1') ages.push(Number(headers.age ?? 0));
        return body === 'body 2';
      });
      assert.ok(Math.max(...ages) <= 5, `${path}: ${ages.at(-1)} s old`);
    }
  });

  test('an event stream passes at once, through both', async () => {
    await zone.put([site(1, { rev: 2 })], [domain(1, 'a.test', [origin.port], { rev: 2 })]);
    origin.script = (_, response) => void response.setHeader('content-type', 'text/event-stream').write('data: 1\n\n');
    const seen = await raw(one.port, 'GET /events HTTP/1.1\r\nHost: a.test\r\n\r\n');
    assert.match(seen.text, /data: 1/);
    origin.script = (_, response) => void response.setHeader('x-accel-buffering', 'no').write('first');
    const trickling = await raw(one.port, 'GET /trickles HTTP/1.1\r\nHost: a.test\r\n\r\n');
    assert.match(trickling.text, /first/);
    origin.server.closeAllConnections();
  });

  test('what a relay has compressed comes compressed, and once for each encoding', async () => {
    await zone.put([site(1, { rev: 3, gzip: { ...gzip.defaults } })], [domain(1, 'a.test', [origin.port], { rev: 3 })]);
    const page = 'x'.repeat(5000);
    origin.script = (_, response) =>
      response.setHeader('cache-control', 'max-age=60').setHeader('content-type', 'text/html').end(page);
    for (const edge of [one, two]) {
      const zipped = await edge.ask('a.test', '/page', { headers: { 'accept-encoding': 'gzip' } });
      assert.deepEqual([zipped.headers['content-encoding'], zipped.headers.vary], ['gzip', 'Accept-Encoding']);
      assert.ok(zipped.body.length < 200);
      const plain = await edge.ask('a.test', '/page');
      assert.deepEqual([plain.headers['content-encoding'], plain.body.length], [undefined, 5000]);
    }
    assert.equal(origin.seen.length, 2);
  });
});

describe('relays that are gone', async () => {
  const zone = await startZone({ edges: 1 });
  const origin = await startOrigin();
  after(async () => {
    await zone[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });
  const edge = zone.edges[0]!;
  // compressed by the edge where a relay has not done it: the way past relays leads on to the location of its level
  const shown = site(1, { gzip: { ...gzip.defaults } });
  await zone.put([shown], [domain(1, 'a.test', [origin.port])]);
  const chain = () => origin.seen.map(({ headers }) => (headers['cdn-loop'] as string).replaceAll('breakwater;node=', ''));
  /** Which nodes the next `count` misses went through */
  let next = 0;
  const misses = async (count = 16) => {
    origin.seen.length = 0;
    for (let i = 0; i < count; i++) assert.equal((await edge.ask('a.test', `/miss/${next++}`)).status, 200);
    return [...new Set(chain())].sort();
  };

  test("each has its URLs; those of a dead one are another's, and the origin is asked when there is none", async () => {
    assert.deepEqual(await misses(), ['n11, n1', 'n11, n2']);
    await zone.relays[0]!.stop();
    assert.deepEqual(await misses(), ['n11, n2']);
    const { relaysAway } = await edge.stat();
    assert.deepEqual(Object.keys(relaysAway), ['1']);
    assert.ok(relaysAway['1'].since > 0);
    await zone.relays[1]!.stop();
    assert.deepEqual(await misses(), ['n11']);
    await zone.relays[1]!.restart();
    // It has lost what it knew, and says so.
    assert.deepEqual(await misses(), ['n11']);
    await zone.put([shown], [domain(1, 'a.test', [origin.port])], [zone.relays[1]!]);
    await until('it is found again', async () => (await misses(2)).includes('n11, n2'));
  });

  test('one that takes connections and says nothing is passed by, and so is who shows another name', async () => {
    using open = new DisposableStack();
    const silent = createTcp(socket => open.defer(() => socket.on('error', () => {}).destroy()));
    open.defer(() => silent.close());
    const port = await freePort();
    silent.listen(port, '127.0.0.1');
    // the first one's port under another name
    await zone.relays[0]!.restart();
    await zone.tell(
      [edge],
      [
        { id: 7, port },
        { id: 8, port: zone.listed[0]!.port },
      ],
    );
    assert.deepEqual(await misses(), ['n11']);
    assert.deepEqual(Object.keys((await edge.stat()).relaysAway).sort(), ['7', '8']);
    await zone.tell([edge], []);
    assert.deepEqual(await misses(4), ['n11']);
    // another worker may answer, which has not looked yet
    await until('nobody is left to be away', async () => Object.keys((await edge.stat()).relaysAway).length === 0);
  });

  test('what the agent found counts as well, until it says otherwise', async () => {
    await zone.tell([edge], zone.listed.slice(1));
    const told = (found: unknown) => edge.control('POST', '/relays', Buffer.from(JSON.stringify(found)));
    await told({ 2: false });
    await until('it is asked', async () => (await misses(2)).includes('n11, n2'));
    assert.equal((await told({ 2: 'TIMEOUT' })).status, 200);
    assert.deepEqual(await misses(3), ['n11']);
    await told({ 2: false });
    assert.deepEqual(await misses(3), ['n11, n2']);
    // What requests met stays, whatever the agent, which comes another way, says of it.
    await zone.relays[1]!.stop();
    assert.deepEqual(await misses(3), ['n11']);
    await told({ 2: false });
    assert.deepEqual(Object.keys((await edge.stat()).relaysAway), ['2']);
    await zone.relays[1]!.restart();
    await zone.put([shown], [domain(1, 'a.test', [origin.port])], [zone.relays[1]!]);
    await told({ 2: false });
    await until('a request has found it', async () => (await misses(2)).includes('n11, n2'));
    assert.deepEqual((await edge.stat()).relaysAway, {});
    for (const bad of [[1], { x: false }, { 2: 3 }, 'x']) assert.equal((await told(bad)).status, 400);
  });
});
