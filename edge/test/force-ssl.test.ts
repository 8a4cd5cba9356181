import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { authority } from '#system/authority.ts';
import { askTLS, certificateDocument, recordsOfCertificate } from './certificates.ts';
import { type Edge, type Origin, domain, freePort, site, startEdge, startOrigin } from './harness.ts';

describe('a domain that wants https', () => {
  const ca = authority();
  const issued = ca.issue(['f.test', '*.w.test', 'h.test']);
  let edge: Edge;
  let origin: Origin;
  let port: number;
  const hsts = { maxAge: 600, includeSubDomains: true, preload: false };
  before(async () => {
    port = await freePort();
    [edge, origin] = await Promise.all([startEdge({ httpsPorts: [port] }), startOrigin()]);
    origin.script = (_, response) => response.setHeader('strict-transport-security', 'max-age=1').end('yes');
    await edge.put(...recordsOfCertificate(certificateDocument(1, issued, ca)));
    await edge.putDocuments(
      [site(1)],
      [
        domain(1, 'f.test', [origin.port], { certificate: 1, forceSSL: true }),
        domain(2, '*.w.test', [origin.port], { certificate: 1, forceSSL: true }),
        domain(3, 'bare.test', [origin.port], { forceSSL: true }),
        domain(4, 'h.test', [origin.port], { certificate: 1, hsts }),
      ],
    );
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });

  test('sends visitors over http there: same host, same path, the port this node has', async () => {
    for (const [host, path] of [
      ['f.test', '/a/b?c=%2F&d'],
      ['x.w.test', '/'],
      ['F.test', '//evil.test/'],
    ] as const) {
      const { status, headers } = await edge.ask(host, path);
      assert.deepEqual([status, headers.location], [301, `https://${host.toLowerCase()}:${port}${path}`]);
    }
    assert.equal((await edge.ask('f.test', '/form', { method: 'POST', body: 'x' })).status, 301);
    assert.equal((await askTLS(port, 'f.test', 'f.test', '/a')).status, 200);
    const [line] = await edge.log(1, fields => fields.includes('forceSSL'));
    assert.ok(line);
  });

  test('sends nobody where nobody would be found: without a certificate, or on a node without https', async () => {
    assert.equal((await edge.ask('bare.test', '/')).status, 200);
    // a wildcard's certificate stands for one label
    assert.equal((await edge.ask('x.y.w.test', '/')).status, 200);
    // named, and not on this node yet
    await edge.putDocuments([], [domain(5, 'early.test', [origin.port], { certificate: 77, forceSSL: true })]);
    assert.equal((await edge.ask('early.test', '/')).status, 200);
    await edge.put(...recordsOfCertificate(certificateDocument(77, ca.issue(['early.test']), ca)));
    assert.equal((await edge.ask('early.test', '/')).status, 301);
    await using plain = await startEdge();
    await plain.putDocuments([site(1)], [domain(1, 'f.test', [origin.port], { certificate: 1, forceSSL: true })]);
    assert.equal((await plain.ask('f.test', '/')).status, 200);
  });

  test('sends them with the code of the zone, which changes without a reload, and with 301 where it says none', async () => {
    let rev = 0;
    const zone = (fields: object) => edge.put({ key: 'z:', value: JSON.stringify({ v: 1, rev: ++rev, id: 1, ...fields }) });
    for (const code of [308, 302, 307]) {
      await zone({ forceSSLRedirectCode: { code } });
      const { status, headers } = await edge.ask('f.test', '/a');
      assert.deepEqual([status, headers.location], [code, `https://f.test:${port}/a`]);
    }
    await zone({});
    assert.equal((await edge.ask('f.test', '/a')).status, 301);
    await edge.put({ key: 'z:', value: null });
    assert.equal((await edge.ask('f.test', '/a')).status, 301);
  });

  test('says so to browsers over https alone, on every answer, in the place of the origin’s word', async () => {
    const told = async (path: string, method = 'GET') =>
      (await askTLS(port, 'h.test', 'h.test', path, { method })).headers['strict-transport-security'];
    assert.equal(await told('/a'), 'max-age=600; includeSubDomains');
    assert.equal(await told('/a'), 'max-age=600; includeSubDomains', 'from the cache');
    assert.equal(await told('/a', 'DELETE'), 'max-age=600; includeSubDomains', 'past the cache');
    assert.equal((await edge.ask('h.test', '/plain')).headers['strict-transport-security'], 'max-age=1');
    assert.equal((await askTLS(port, 'f.test', 'f.test', '/')).headers['strict-transport-security'], 'max-age=1');
    await edge.putDocuments(
      [site(1)],
      [
        domain(4, 'h.test', [origin.port], {
          certificate: 1,
          hsts: { maxAge: 31_536_000, includeSubDomains: true, preload: true },
        }),
      ],
    );
    assert.equal(await told('/a'), 'max-age=31536000; includeSubDomains; preload');
  });
});
