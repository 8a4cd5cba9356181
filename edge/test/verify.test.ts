/** Certificates of origins, verified: by whose authorities, for which name, and on every way to an origin. Real origins, real certificates. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { once } from 'node:events';
import https from 'node:https';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { ownTrust, publicTrust, type Trust } from '#agent/render/trusts.ts';
import type { DomainDocument } from '#contract/edge/document.ts';
import { authority, type Issued } from '#system/authority.ts';
import { domain, type Edge, freePort, site, startEdge, startOrigin } from './harness.ts';

type TLS = NonNullable<DomainDocument['originTLS']>;
const verifiedBy = (ca: string, sni = ''): TLS => ({ verify: 'own', ca, sni });

describe('certificates of origins', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trusts-'));
  const [house, stranger] = [authority('House'), authority('Stranger')];
  const unknown = authority('Unknown').root;
  let edge: Edge;
  let next = 1;
  const origins: https.Server[] = [];
  before(async () => {
    const trusts: Trust[] = [house, stranger].map(({ root }, i) => {
      const file = join(folder, `${i}.pem`);
      writeFileSync(file, root);
      return { name: ownTrust(verifiedBy(root))!.name, file };
    });
    edge = await startEdge({ workers: 1, trusts: [publicTrust()!, ...trusts] });
    await edge.putDocuments([site(1)], []);
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    for (const origin of origins) origin.closeAllConnections();
    for (const origin of origins) origin.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Says under which name it was asked. `asked`: URLs, with the method */
  async function origin({ chain, key }: Issued) {
    const asked: string[] = [];
    const port = await freePort();
    const server = https.createServer({ cert: chain, key }, (request, response) => {
      asked.push(`${request.method} ${request.url}`);
      if (request.url!.startsWith('/early')) response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      request.resume().on('end', () => {
        if (request.url!.startsWith('/fail')) return response.destroy();
        response.setHeader('cache-control', request.url!.startsWith('/kept') ? 'max-age=1, stale-if-error=60' : 'no-store');
        response.end((request.socket as unknown as { servername: string }).servername || 'nameless');
      });
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    origins.push(server);
    return { port, asked, server };
  }
  async function host(
    ports: { port: number; protocol?: 'http' | 'https' }[],
    tls: TLS | undefined,
    change: Partial<DomainDocument> = {},
  ) {
    const id = next++;
    const doc = domain(id, change.host ?? `v${id}.test`, [], { ...change, ...(tls && { originTLS: tls }) });
    doc.upstreams = ports.map(one => ({ ...domain(0, 'x', [one.port]).upstreams[0]!, protocol: 'https', maxFails: 0, ...one }));
    await edge.putDocuments([], [doc]);
    return doc.host;
  }
  const statusOf = async (name: string, path = '/', options = {}) => (await edge.ask(name, path, options)).status;

  test('off takes any; an authority of one’s own takes what it has signed, for the right name, and nothing else', async () => {
    const { port, asked } = await origin(house.issue(['inner.test']));
    const name = 'inner.test';
    assert.equal((await edge.ask(await host([{ port }], undefined, { originHost: name }), '/')).body, name);
    assert.equal(
      (await edge.ask(await host([{ port }], { verify: 'off', ca: '', sni: '' }, { originHost: name }), '/')).body,
      name,
    );
    assert.equal((await edge.ask(await host([{ port }], verifiedBy(house.root), { originHost: name }), '/')).body, name);
    assert.equal(
      (await edge.ask(await host([{ port }], verifiedBy(house.root, name)), '/')).body,
      name,
      'a name apart from the Host',
    );
    assert.equal(
      (await edge.ask(await host([{ port }], verifiedBy(house.root), { originHost: `${name}:${port}` }), '/')).body,
      name,
    );
    const good = asked.length;
    for (const [tls, change] of [
      [verifiedBy(stranger.root), { originHost: name }],
      [verifiedBy(house.root), {}],
      [verifiedBy(house.root, 'other.test'), { originHost: name }],
      [{ verify: 'public', ca: '', sni: name }, {}],
      // nginx was told nothing of it
      [verifiedBy(unknown), { originHost: name }],
    ] as const) {
      const refused = await host([{ port }], tls, change);
      assert.equal(await statusOf(refused), 502, JSON.stringify([tls.verify, tls.sni, change]));
      assert.equal(await statusOf(refused, '/', { method: 'POST', body: 'x' }), 502);
      assert.equal(await statusOf(refused, '/', { method: 'PUT', body: 'x'.repeat(50_000) }), 502);
    }
    assert.equal(asked.length, good, 'the origin was not asked at all');
    assert.match(edge.errors(), /upstream SSL certificate verify error/);
  });

  test('a connection that was not verified, or by another authority, is not gone on with by who verifies', async () => {
    const { port, asked } = await origin(stranger.issue(['same.test']));
    const all = { originHost: 'same.test', owner: 4 };
    const [loose, by, strict] = [
      await host([{ port }], undefined, all),
      await host([{ port }], verifiedBy(stranger.root), all),
      await host([{ port }], verifiedBy(house.root), all),
    ];
    for (let i = 0; i < 5; i++) {
      assert.deepEqual([await statusOf(loose), await statusOf(by), await statusOf(strict)], [200, 200, 502]);
      assert.equal(await statusOf(strict, '/early'), 502);
    }
    assert.equal(asked.length, 10);
  });

  test('every way to an origin verifies: other methods, long bodies, interim answers, what is compressed, the other protocol first', async () => {
    const [right, wrong] = [await origin(house.issue(['ways.test'])), await origin(stranger.issue(['ways.test']))];
    const dead = await freePort();
    await edge.putDocuments([site(2, { gzip: { enabled: true, types: ['text/html'], minLength: 0, level: 9 } })], []);
    for (const [port, status] of [
      [right.port, 200],
      [wrong.port, 502],
    ] as const) {
      const tls = verifiedBy(house.root, 'ways.test');
      const name = await host([{ port }], tls);
      for (let i = 0; i < 3; i++) {
        assert.equal(await statusOf(name), status);
        assert.equal(await statusOf(name, '/', { method: 'POST', body: 'x' }), status);
        assert.equal(await statusOf(name, '/', { method: 'POST', body: 'x'.repeat(100_000) }), status);
        const chunked = { method: 'POST', headers: { 'transfer-encoding': 'chunked' } };
        assert.equal(await statusOf(name, '/', chunked), status);
      }
      assert.equal(
        await statusOf(await host([{ port: dead, protocol: 'http' }, { port }], tls)),
        status,
        'behind the other protocol',
      );
      assert.equal(
        await statusOf(await host([{ port: dead, protocol: 'http' }, { port }], tls), '/', {
          method: 'PUT',
          body: 'x'.repeat(100_000),
        }),
        status,
        'and with a long body',
      );
      assert.equal(
        await statusOf(await host([{ port }], tls, { site: 2 }), '/', { headers: { 'accept-encoding': 'gzip' } }),
        status,
      );
      const early = await host([{ port }], tls);
      await statusOf(early, '/early1'); // teaches it
      assert.equal(await statusOf(early, '/early2'), status);
      assert.equal(await statusOf(early, '/early2'), status);
    }
    assert.deepEqual(wrong.asked, []);
  });

  test('an origin whose certificate is none is passed over for one whose certificate is good; http beside it is asked as ever', async () => {
    const [right, wrong] = [await origin(house.issue(['two.test'])), await origin(stranger.issue(['two.test']))];
    const tls = verifiedBy(house.root, 'two.test');
    const name = await host([{ port: wrong.port }, { port: right.port }], tls);
    for (let i = 0; i < 4; i++) assert.equal((await edge.ask(name, '/')).body, 'two.test');
    assert.deepEqual(wrong.asked, []);
    await using plain = await startOrigin('plain');
    assert.equal((await edge.ask(await host([{ port: plain.port, protocol: 'http' }], tls), '/')).body, 'plain 1');
  });

  test('with nobody to be trusted an expired answer helps out, and a page that was never asked for is 502 with its number', async () => {
    const { port } = await origin(house.issue(['old.test']));
    const named = { host: 'old.test' };
    const id = next;
    const name = await host([{ port }], verifiedBy(house.root), named);
    assert.equal((await edge.ask(name, '/kept')).status, 200);
    next = id; // the same domain, with an authority that nginx knows nothing of
    await host([{ port }], verifiedBy(unknown), named);
    const stale = await untilExpired(() => edge.ask(name, '/kept'));
    assert.deepEqual([stale.status, stale.body], [200, 'old.test']);
    const none = await edge.ask(name, '/never');
    assert.equal(none.status, 502);
    assert.ok(none.headers['x-request-id'] && none.body.includes(String(none.headers['x-request-id'])));
  });
});

/** Asks until the answer is no longer a fresh one. */
async function untilExpired<T extends { headers: Record<string, unknown> }>(ask: () => Promise<T>): Promise<T> {
  for (const end = performance.now() + 20_000; ;) {
    const answer = await ask();
    if (answer.headers['x-cache'] !== 'HIT') return answer;
    if (performance.now() > end) throw new Error('it did not expire');
    await new Promise(done => setTimeout(done, 50));
  }
}
