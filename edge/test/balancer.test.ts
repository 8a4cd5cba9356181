import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { after, before, describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { selfSigned } from '#host/certificates.ts';
import { once } from 'node:events';
import type { DomainDocument } from '#contract/edge/document.ts';
import { type Edge, type Origin, domain, freePort, site, startEdge, startOrigin } from './harness.ts';

/** Answers `<name>`, never stored */
async function named(name: string) {
  const origin = await startOrigin(name);
  origin.script = (_, response) => {
    response.setHeader('cache-control', 'no-store');
    response.end(name);
  };
  return origin;
}

describe('which origin answers', () => {
  let edge: Edge;
  let [a, b, c]: Origin[] = [];
  let dead: number;
  let next = 100;
  before(async () => {
    // One worker: rotation and health are each worker's own.
    [edge, a, b, c] = await Promise.all([startEdge({ workers: 1 }), named('a'), named('b'), named('c')]);
    dead = await freePort();
    await edge.putDocuments([site(1)], []);
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    for (const origin of [a, b, c]) await origin![Symbol.asyncDispose]();
  });

  /** A new domain over these ports → its host */
  async function host(
    upstreams: ({ port: number } & Partial<DomainDocument['upstreams'][number]>)[],
    change: Partial<DomainDocument> = {},
  ) {
    const id = next++;
    const doc = domain(id, `d${id}.test`, [], change);
    doc.upstreams = upstreams.map(one => ({ ...domain(0, 'x', [one.port]).upstreams[0]!, ...one }));
    await edge.putDocuments([], [doc]);
    return doc.host;
  }
  /** What `count` requests for different URLs were answered, as {a: 3, b: 1} */
  async function spread(
    name: string,
    count: number,
    path = (i: number) => `/${i}`,
    from: (i: number) => string = () => '127.0.0.1',
  ) {
    const counts: Record<string, number> = {};
    for (let i = 0; i < count; i++) {
      const answer = await edge.ask(name, path(i), { from: from(i) });
      const key = answer.status === 200 ? answer.body : String(answer.status);
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  }

  test('weights are kept exactly, and smoothly', async () => {
    const name = await host([
      { port: a!.port, weight: 3 },
      { port: b!.port, weight: 1 },
      { port: c!.port, weight: 1 },
    ]);
    assert.deepEqual(await spread(name, 20), { a: 12, b: 4, c: 4 });
    const order = [];
    for (let i = 0; i < 5; i++) order.push((await edge.ask(name, '/x')).body);
    assert.ok(!order.join('').includes('aaa'), order.join(''));
  });

  test('an origin that is down is passed over, and not asked again at once', async () => {
    const name = await host([{ port: dead, failTimeout: 60 }, { port: b!.port }]);
    assert.deepEqual(await spread(name, 10), { b: 10 });
    const refused = edge
      .errors()
      .split('\n')
      .filter(line => line.includes('Connection refused') && line.includes(`:${dead}`) && line.includes(`"${name}"`));
    assert.equal(refused.length, 1);
  });

  test('maxFails 0 keeps an origin in use; each request still finds the other', async () => {
    const name = await host([{ port: dead, maxFails: 0 }, { port: b!.port }]);
    assert.deepEqual(await spread(name, 6), { b: 6 });
    const refused = edge
      .errors()
      .split('\n')
      .filter(line => line.includes(`:${dead}`) && line.includes(`"${name}"`));
    assert.equal(refused.length, 3);
  });

  test('backups serve only when every main origin is down', async () => {
    const name = await host([{ port: a!.port }, { port: c!.port, backup: true }]);
    assert.deepEqual(await spread(name, 5), { a: 5 });
    const broken = await host([{ port: dead }, { port: c!.port, backup: true }]);
    assert.deepEqual(await spread(broken, 5), { c: 5 });
  });

  test('when all are down the answer is 502, and 200 as soon as one is back', async () => {
    const back = await named('back');
    await new Promise(done => back.server.close(done));
    const name = await host([
      { port: back.port, failTimeout: 60 },
      { port: dead, failTimeout: 60 },
    ]);
    assert.deepEqual(await spread(name, 3), { 502: 3 });
    back.server.listen(back.port, '127.0.0.1');
    await once(back.server, 'listening');
    assert.deepEqual(await spread(name, 3), { back: 3 });
    await back[Symbol.asyncDispose]();
  });

  test('a POST that may have arrived is not sent twice; one that could not be sent is', async () => {
    const half = await startOrigin('half');
    half.script = (_, response) => response.destroy();
    const name = await host([{ port: half.port, weight: 100 }, { port: b!.port }]);
    const before = b!.seen.length;
    assert.equal((await edge.ask(name, '/', { method: 'POST', body: 'x' })).status, 502);
    assert.equal(half.seen.length, 1);
    assert.equal(b!.seen.length, before);
    for (const body of ['x', 'x'.repeat(300_000)]) {
      const other = await host([{ port: dead, weight: 100 }, { port: b!.port }]);
      assert.equal((await edge.ask(other, '/', { method: 'POST', body })).body, 'b');
      // Also where the one that is left speaks the other protocol
      const mixed = await host([
        { port: dead, protocol: 'https' },
        { port: b!.port, backup: true },
      ]);
      assert.equal((await edge.ask(mixed, '/', { method: 'POST', body })).body, 'b');
      assert.equal(b!.seen.at(-1)!.body.length, body.length);
    }
    // Nor is anything that was passed on as it came
    const long = await host([{ port: half.port, weight: 100 }, { port: b!.port }]);
    assert.equal((await edge.ask(long, '/', { method: 'PUT', body: 'x'.repeat(300_000) })).status, 502);
    await half[Symbol.asyncDispose]();
  });

  test('ipHash keeps a visitor on one origin and spreads visitors; only those of a lost origin move', async () => {
    const ports = [a!, b!, c!].map(origin => ({ port: origin.port, failTimeout: 60 }));
    const visitors = Array.from({ length: 60 }, (_, i) => `127.0.1.${i + 1}`);
    const name = await host(ports, { balance: 'ipHash' });
    const where = async (at: string) =>
      Object.fromEntries(await Promise.all(visitors.map(async ip => [ip, (await edge.ask(at, '/', { from: ip })).body])));
    const first = await where(name);
    assert.deepEqual(await where(name), first);
    for (const one of ['a', 'b', 'c']) assert.ok(Object.values(first).filter(x => x === one).length >= 8, one);
    // The same three addresses, one of them gone
    const less = await host(ports.slice(0, 2), { balance: 'ipHash' });
    const second = await where(less);
    for (const ip of visitors) if (first[ip] !== 'c') assert.equal(second[ip], first[ip]);
  });

  test('urlHash keeps a URL on one origin, and heeds weights', async () => {
    const name = await host(
      [
        { port: a!.port, weight: 9 },
        { port: b!.port, weight: 1 },
      ],
      { balance: 'urlHash' },
    );
    assert.equal(Object.keys(await spread(name, 5, () => '/same')).length, 1);
    const counts = await spread(name, 150);
    assert.ok(counts['a']! > 115 && counts['b']! > 3, JSON.stringify(counts));
  });

  test('an origin with a hash type of its own always gets the same visitors, as many as its weight stands for; the others take turns', async () => {
    const visitors = Array.from({ length: 80 }, (_, i) => `127.0.2.${i + 1}`);
    const name = await host([{ port: a!.port, hash: 'ipHash' }, { port: b!.port }, { port: c!.port }]);
    const rounds: Record<string, string>[] = [];
    for (let i = 0; i < 4; i++)
      rounds.push(
        Object.fromEntries(await Promise.all(visitors.map(async ip => [ip, (await edge.ask(name, '/', { from: ip })).body]))),
      );
    const bound = visitors.filter(ip => rounds[0]![ip] === 'a');
    assert.ok(bound.length >= 12 && bound.length <= 42, `${bound.length} of 80, by weight 27`);
    for (const ip of visitors)
      for (const round of rounds) assert.equal(round[ip] === 'a', bound.includes(ip), `${ip} is always a’s, or never`);
    const others = visitors.filter(ip => !bound.includes(ip));
    assert.ok(others.some(ip => new Set(rounds.map(round => round[ip])).size === 2));
    // its visitors are not lost with it
    const broken = await host([{ port: dead, hash: 'ipHash', failTimeout: 60 }, { port: b!.port }]);
    assert.deepEqual(await spread(broken, 40, undefined, i => visitors[i]!), { b: 40 });
    const alone = await host([
      { port: dead, failTimeout: 60 },
      { port: b!.port, hash: 'urlHash' },
    ]);
    assert.deepEqual(await spread(alone, 40), { b: 40 });
  });

  test('main origins of every protocol and kind of connection are tried before a backup, and the backup after all of them', async () => {
    const name = await host([
      { port: dead },
      { port: dead, protocol: 'https' },
      { port: dead, keepalive: false },
      { port: c!.port, backup: true },
    ]);
    assert.deepEqual(await spread(name, 6), { c: 6 });
  });

  test('https origins are asked with the right server name, also on kept connections', async () => {
    const names: string[] = [];
    const { certificate, key } = selfSigned('origin.test');
    const server = https.createServer({ cert: certificate, key }, (request, response) => {
      names.push(`${(request.socket as TLSSocket & { servername: string }).servername} ${request.headers.host}`);
      response.setHeader('cache-control', 'no-store');
      response.end('tls');
    });
    const port = await freePort();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const one = await host([{ port, protocol: 'https' }]);
    const two = await host([{ port, protocol: 'https' }], { originHost: 'inner.test' });
    for (const name of [one, two, one, two, one, two]) assert.equal((await edge.ask(name, '/')).body, 'tls');
    assert.deepEqual(
      names,
      [one, two, one, two, one, two].map(name => (name === two ? 'inner.test inner.test' : `${one} ${one}`)),
    );
    assert.ok(server.listening);
    const mixed = await host([
      { port: dead, protocol: 'https' },
      { port: a!.port, backup: true, protocol: 'http' },
    ]);
    assert.deepEqual(await spread(mixed, 3), { a: 3 });
    const rotating = await host([
      { port, protocol: 'https' },
      { port: b!.port, protocol: 'http' },
    ]);
    assert.deepEqual(await spread(rotating, 6), { tls: 3, b: 3 });
    const follow = await host([{ port: a!.port, protocol: 'follow' }]);
    assert.deepEqual(await spread(follow, 2), { a: 2 });
    server.closeAllConnections();
    await new Promise(done => server.close(done));
  });

  test('an IPv6 origin', async () => {
    const six = await startOrigin('six', '::1');
    const name = await host([{ port: six.port, address: '::1' }]);
    assert.equal((await edge.ask(name, '/')).body, 'six 1');
    await six[Symbol.asyncDispose]();
  });

  /** Asks the host, and tells which connections to `to` carried a request for which host. */
  async function connections(to: Origin, act: () => Promise<unknown>): Promise<string[]> {
    const ids = new Map<object, number>();
    const carried: string[] = [];
    const note = (request: IncomingMessage) => {
      if (!ids.has(request.socket)) ids.set(request.socket, ids.size);
      carried.push(`${ids.get(request.socket)} ${request.headers.host}`);
    };
    to.server.on('request', note);
    await act();
    to.server.off('request', note);
    return carried;
  }

  test('an origin without keepalive gets a connection for each request, its neighbour goes on with one', async () => {
    const name = await host([{ port: a!.port, keepalive: false }, { port: b!.port }]);
    let kept: string[] = [];
    const fresh = await connections(a!, async () => (kept = await connections(b!, () => spread(name, 10))));
    assert.deepEqual(
      fresh,
      ['0', '1', '2', '3', '4'].map(id => `${id} ${name}`),
    );
    assert.deepEqual(
      kept,
      Array.from({ length: 5 }, () => `0 ${name}`),
    );
  });

  test('two customers with one origin share no connection to it; two sites of one customer may', async () => {
    const shared = await named('shared');
    const [one, two, third] = [
      await host([{ port: shared.port }], { owner: 1 }),
      await host([{ port: shared.port }], { owner: 2 }),
      await host([{ port: shared.port }], { owner: 1 }),
    ];
    const carried = await connections(shared, async () => {
      for (const name of [one, two, third, one, two, third]) assert.equal((await edge.ask(name, '/')).body, 'shared');
    });
    assert.deepEqual(carried, [`0 ${one}`, `1 ${two}`, `0 ${third}`, `0 ${one}`, `1 ${two}`, `0 ${third}`]);
    await shared[Symbol.asyncDispose]();
  });

  test('connections to an origin are kept', async () => {
    const sockets = new Set();
    a!.server.on('connection', socket => sockets.add(socket));
    const name = await host([{ port: a!.port }]);
    await spread(name, 10);
    assert.ok(sockets.size <= 1, `${sockets.size} connections`);
    assert.ok(!readFileSync(`${edge.folder}/log/error.log`, 'utf8').includes('lua entry thread aborted'));
  });
});
