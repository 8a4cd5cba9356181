/** Origins that the node's own checks found down: not picked, and what visitors get when there is nobody left. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { DomainDocument } from '#contract/edge/document.ts';
import { domain, type Edge, type Origin, site, startEdge, startOrigin, until } from './harness.ts';

describe('origins that are down', () => {
  let edge: Edge;
  let [a, b, c]: Origin[] = [];
  let next = 1;
  before(async () => {
    [edge, a, b, c] = await Promise.all([startEdge({ workers: 2 }), startOrigin('a'), startOrigin('b'), startOrigin('c')]);
    for (const one of [a, b, c])
      one.script = ({ url }, response) => {
        response.setHeader('cache-control', url.startsWith('/kept') ? 'max-age=1, stale-if-error=60' : 'no-store');
        response.end(one.name);
      };
    await edge.putDocuments([site(1)], []);
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    for (const one of [a, b, c]) await one![Symbol.asyncDispose]();
  });
  async function host(
    upstreams: ({ port: number } & Partial<DomainDocument['upstreams'][number]>)[],
    change: Partial<DomainDocument> = {},
  ) {
    const id = next++;
    const doc = domain(id, `h${id}.test`, [], change);
    doc.upstreams = upstreams.map(one => ({ ...domain(0, 'x', [one.port]).upstreams[0]!, ...one }));
    await edge.putDocuments([], [doc]);
    return doc.host;
  }
  /** All that are down from now on. */
  async function down(lists: Record<string, string[]>) {
    const answer = await edge.control('POST', '/down', Buffer.from(JSON.stringify(lists)));
    assert.deepEqual([answer.status, answer.body], [200, { left: 0 }]);
    await new Promise(done => setTimeout(done, 2)); // a worker looks once a millisecond
  }
  const nameOf = (origin: Origin, protocol = 'http') => `127.0.0.1|${origin.port}|${protocol}`;
  async function spread(name: string, count: number, options = {}) {
    const counts: Record<string, number> = {};
    for (let i = 0; i < count; i++) {
      const { status, body } = await edge.ask(name, `/${i}`, options);
      const key = status === 200 ? body : String(status);
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  }

  test('one that is down is asked by nobody, by no method and no hash, until it is up again', async () => {
    const [name, hashed, other] = [
      await host([{ port: a!.port }, { port: b!.port }]),
      await host([{ port: a!.port }, { port: b!.port }], { balance: 'urlHash' }),
      await host([{ port: a!.port }]),
    ];
    const both = await spread(name, 12);
    assert.ok(both['a']! >= 4 && both['b']! >= 4, JSON.stringify(both)); // each worker has a rotation of its own
    await down({ [`d:${name}`]: [nameOf(a!)], [`d:${hashed}`]: [nameOf(a!)] });
    for (const one of [name, hashed]) {
      assert.deepEqual(await spread(one, 20), { b: 20 });
      assert.deepEqual(await spread(one, 4, { method: 'POST', body: 'x' }), { b: 4 });
      assert.deepEqual(await spread(one, 4, { method: 'POST', body: 'x'.repeat(50_000) }), { b: 4 });
    }
    // another domain's own check says nothing of it
    assert.deepEqual(await spread(other, 4), { a: 4 });
    await down({ [`d:${hashed}`]: [nameOf(a!)] });
    const again = await spread(name, 12);
    assert.ok(again['a']! >= 4 && again['b']! >= 4, JSON.stringify(again));
    assert.deepEqual(await spread(hashed, 12), { b: 12 });
    await down({});
    assert.deepEqual(Object.keys(await spread(hashed, 12)).sort(), ['a', 'b']);
  });

  test('backups answer when every main origin is down, whatever their protocol', async () => {
    const name = await host([{ port: a!.port }, { port: b!.port, keepalive: false }, { port: c!.port, backup: true }]);
    await down({ [`d:${name}`]: [nameOf(a!), nameOf(b!)] });
    assert.deepEqual(await spread(name, 6), { c: 6 });
    await down({});
  });

  test('of one that follows, the port for https may be down by itself', async () => {
    const name = await host([{ port: a!.port, httpsPort: b!.port, protocol: 'follow' }]);
    await down({ [`d:${name}`]: [nameOf(b!, 'follow')] });
    assert.deepEqual(await spread(name, 3), { a: 3 });
    await down({ [`d:${name}`]: [nameOf(a!, 'follow')] });
    assert.deepEqual(await spread(name, 3), { 502: 3 });
    await down({});
  });

  test('with all of them down an expired answer helps out, anything else is 502 with its number, and none of them is asked', async () => {
    const name = await host([{ port: a!.port }, { port: b!.port, backup: true }]);
    const first = (await edge.ask(name, '/kept')).body;
    await spread(name, 4); // the front half has learned to ask by itself
    await down({ [`d:${name}`]: [nameOf(a!), nameOf(b!)] });
    const seen = a!.seen.length + b!.seen.length;
    const stale = await until('it has expired', async () => {
      const answer = await edge.ask(name, '/kept');
      return answer.headers['x-cache'] === 'HIT' ? undefined : answer;
    });
    assert.deepEqual([stale.status, stale.body], [200, first]);
    for (const options of [
      {},
      { method: 'POST', body: 'x' },
      { method: 'PUT', body: 'x'.repeat(50_000) },
      { headers: { 'x-own': '1' } },
    ]) {
      const answer = await edge.ask(name, '/none', options);
      assert.equal(answer.status, 502);
      assert.ok(answer.body.includes(String(answer.headers['x-request-id'])));
    }
    assert.equal(a!.seen.length + b!.seen.length, seen);
    await down({});
    assert.equal((await edge.ask(name, '/none')).status, 200);
  });

  test('a domain without any address is the same: what is kept helps out', async () => {
    const id = next;
    const name = await host([{ port: a!.port }]);
    assert.equal((await edge.ask(name, '/kept')).body, 'a');
    next = id;
    await host([]);
    const stale = await until('it has expired', async () => {
      const answer = await edge.ask(name, '/kept');
      return answer.headers['x-cache'] === 'HIT' ? undefined : answer;
    });
    assert.deepEqual([stale.status, stale.body], [200, 'a']);
    assert.equal((await edge.ask(name, '/none')).status, 502);
  });

  test('however many lists follow each other, they take the room of two', async () => {
    const name = await host([{ port: a!.port }, { port: b!.port }]);
    const many = Array.from({ length: 500 }, (_, i) => `10.0.${i >> 8}.${i & 255}|80|http`);
    const free = async () => {
      const { body } = await edge.control('GET', '/stat');
      return (body as { dictionaries: { down: { free: number } } }).dictionaries.down.free;
    };
    for (let i = 0; i < 2; i++) await down({ [`d:${name}`]: [nameOf(a!), ...many] });
    const before = await free();
    // the dictionary of an edge in use is 4 MB, these are more
    for (let i = 0; i < 800; i++) await down({ [`d:${name}`]: [nameOf(a!), ...many] });
    assert.ok((await free()) > before - 65_536, `${before} bytes before, ${await free()} after`);
    assert.deepEqual(await spread(name, 6), { b: 6 });
    await down({});
    await down({});
    const both = await spread(name, 12);
    assert.ok(both['a']! >= 4 && both['b']! >= 4, JSON.stringify(both));
  });

  test('what is no list of origins is refused, and changes nothing', async () => {
    const name = await host([{ port: a!.port }, { port: b!.port }]);
    await down({ [`d:${name}`]: [nameOf(a!)] });
    for (const body of ['', '[1]', '{"d:x":1}', '{"d:x":[1]}', '1'])
      assert.equal((await edge.control('POST', '/down', Buffer.from(body))).status, 400, body);
    assert.equal((await edge.control('GET', '/down')).status, 405);
    assert.deepEqual(await spread(name, 4), { b: 4 });
    await down({});
  });
});
