import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { connect } from 'node:tls';
import { frame, frames } from '#agent/render/records.ts';
import { authority } from '#system/authority.ts';
import { askHttp2, askTLS, certificateDocument, recordsOfCertificate, shake } from './certificates.ts';
import { type Edge, type Origin, domain, freePort, site, startEdge, startOrigin } from './harness.ts';

const serialOf = (pem: string) => new X509Certificate(pem).serialNumber;
/** More than the workers, so that each of them is asked. */
const often = Array.from({ length: 12 }, (_, i) => i);

describe('https', () => {
  const ca = authority();
  const exact = ca.issue(['a.test', 'b.test', 'strict.test']);
  const wild = ca.issue(['*.w.test'], 'rsa2048');
  const p384 = ca.issue(['p384.test'], 'p384');
  let edge: Edge;
  let origin: Origin;
  let port: number;
  const put = (id: number, issued: typeof exact) => edge.put(...recordsOfCertificate(certificateDocument(id, issued, ca)));

  before(async () => {
    port = await freePort();
    [edge, origin] = await Promise.all([startEdge({ httpsPorts: [port] }), startOrigin()]);
    await put(1, exact);
    await put(2, wild);
    await put(3, p384);
    await edge.putDocuments(
      [site(1), site(2)],
      [
        domain(1, 'a.test', [origin.port], { certificate: 1, owner: 7 }),
        domain(2, '*.w.test', [origin.port], { certificate: 2, owner: 7 }),
        domain(3, 'p384.test', [origin.port], { certificate: 3, owner: 8 }),
        domain(4, 'bare.test', [origin.port], { owner: 7 }),
        domain(5, 'strict.test', [origin.port], { certificate: 1, owner: 7, onlyTLS13: true }),
        domain(6, 'early.test', [origin.port], { certificate: 77, owner: 7 }),
        domain(7, 'b.test', [origin.port], { certificate: 1, owner: 7, site: 2 }),
      ],
    );
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });

  test('each name gets its certificate with the chain above it: EC, RSA, by wildcard, in any case of letters', async () => {
    for (const [name, issued] of [
      ['a.test', exact],
      ['A.Test', exact],
      ['deep.w.test', wild],
      ['p384.test', p384],
    ] as const)
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        const found = await shake(port, name, { ca: ca.root, maxVersion });
        assert.deepEqual([found.failed, found.error, found.protocol], [null, null, maxVersion], name);
        assert.equal(found.serial, serialOf(issued.certificate), name);
      }
    assert.equal((await askTLS(port, 'a.test', 'a.test')).status, 200);
  });

  test('a name that nobody has is refused in the handshake, and so is one without a certificate', async () => {
    for (const name of ['nobody.test', 'bare.test', 'early.test', 'w.test']) {
      const { failed } = await shake(port, name);
      assert.match(failed ?? 'shown a certificate', /HANDSHAKE_FAILURE/, name);
    }
  });

  test('who names nobody gets a certificate of the node, and no customer’s pages', async () => {
    const found = await shake(port, undefined);
    assert.equal(found.subject.subject.CN, 'edge.test');
    assert.equal((await askTLS(port, '', 'a.test')).status, 421);
    assert.equal((await askTLS(port, '', 'nobody.test')).status, 903);
  });

  test('a new certificate counts in the next handshake of every worker, and nginx is not reloaded', async () => {
    const { pid } = edge;
    const before = pid();
    await put(77, ca.issue(['early.test']));
    for (const _ of often) assert.equal((await shake(port, 'early.test', { ca: ca.root })).error, null);
    for (let round = 0; round < 3; round++) {
      const next = ca.issue(['early.test'], round % 2 ? 'rsa2048' : 'p256');
      await put(77, next);
      const serials = await Promise.all(often.map(() => shake(port, 'early.test').then(({ serial }) => serial)));
      assert.deepEqual(new Set(serials), new Set([serialOf(next.certificate)]));
    }
    await edge.put({ key: 'c:77', value: null });
    for (const _ of often) assert.ok((await shake(port, 'early.test')).failed);
    assert.equal(pid(), before);
    assert.doesNotMatch(edge.errors(), /reconfiguring/);
  });

  test('an authority above it that comes later is added to what is shown', async () => {
    const other = authority('Late');
    const records = recordsOfCertificate(certificateDocument(90, other.issue(['late.test']), other));
    const [above, own] = [records.filter(one => one.key.startsWith('i:')), records.filter(one => one.key.startsWith('c:'))];
    await edge.put(...own);
    await edge.putDocuments([], [domain(90, 'late.test', [origin.port], { certificate: 90 })]);
    assert.ok((await shake(port, 'late.test', { ca: other.root })).error);
    await edge.put(...above);
    for (const _ of often) assert.equal((await shake(port, 'late.test', { ca: other.root })).error, null);
  });

  test('a record that is no pair is refused as it comes, and what stood goes on', async () => {
    const good = certificateDocument(1, exact, ca);
    const rsa = certificateDocument(1, wild, ca);
    for (const bad of [
      { ...good, key: rsa.key, type: 'rsa' as const },
      { ...good, key: rsa.key },
      { ...good, key: certificateDocument(1, ca.issue(['a.test']), ca).key },
      { ...good, leaf: 'AAAA' },
      { ...good, leaf: Buffer.concat([Buffer.from(good.leaf, 'base64'), Buffer.alloc(3)]).toString('base64') },
      { ...good, key: '!!!!' },
    ]) {
      const own = recordsOfCertificate(bad).filter(one => one.key === 'c:1');
      const answer = await edge.control('POST', '/apply', frame(own));
      assert.equal(answer.status, 400, JSON.stringify(answer.body));
      assert.doesNotMatch(JSON.stringify(answer.body), new RegExp(bad.key.slice(0, 20)));
    }
    const misplaced = recordsOfCertificate(good).map(one => (one.key === 'c:1' ? { ...one, key: 'c:2' } : one));
    assert.equal((await edge.control('POST', '/apply', frame(misplaced))).status, 400);
    assert.equal((await shake(port, 'a.test', { ca: ca.root })).serial, serialOf(exact.certificate));
  });

  test('a name for TLS 1.3 alone refuses older visitors; another of the same certificate does not', async () => {
    assert.equal((await shake(port, 'strict.test', { ca: ca.root })).protocol, 'TLSv1.3');
    assert.match((await shake(port, 'strict.test', { maxVersion: 'TLSv1.2' })).failed ?? 'let in', /PROTOCOL_VERSION/);
    assert.equal((await shake(port, 'a.test', { maxVersion: 'TLSv1.2' })).protocol, 'TLSv1.2');
    // nor by way of that other name
    assert.equal((await askTLS(port, 'a.test', 'strict.test', '/', { maxVersion: 'TLSv1.2' })).status, 421);
    assert.equal((await askTLS(port, 'a.test', 'strict.test')).status, 200);
    assert.match(
      (await shake(port, 'a.test', { maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1' })).failed ?? 'let in',
      /PROTOCOL|UNSUPPORTED/,
    );
  });

  test('a connection serves the other names of its customer, and answers 421 for anybody else’s', async () => {
    assert.equal((await askTLS(port, 'a.test', 'b.test')).status, 200);
    assert.equal((await askTLS(port, 'a.test', 'p384.test')).status, 421);
    assert.equal((await askTLS(port, 'p384.test', 'a.test')).status, 421);
    assert.equal((await askTLS(port, 'a.test', 'nobody.test')).status, 903);
    assert.deepEqual(
      await askHttp2(port, 'a.test', ['a.test', 'b.test', 'x.w.test', 'p384.test', 'nobody.test', 'a.test'], ca.root),
      [200, 200, 200, 421, 903, 200],
    );
  });

  test('ciphers go by our order, but a visitor who wants ChaCha20 first has it', async () => {
    const cipherOf = (...names: string[]) =>
      new Promise<string>((done, fail) => {
        const options = { ciphers: names.join(':'), maxVersion: 'TLSv1.2' as const, rejectUnauthorized: false };
        const socket = connect({ host: '127.0.0.1', port, servername: 'a.test', ...options }, () => {
          done(socket.getCipher().name);
          socket.destroy();
        });
        socket.once('error', fail);
      });
    const [aes128, aes256] = ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384'];
    const chacha = 'ECDHE-ECDSA-CHACHA20-POLY1305';
    assert.equal(await cipherOf(aes256, aes128, chacha), aes128);
    assert.equal(await cipherOf(chacha, aes256, aes128), chacha);
    // without forward secrecy, or not authenticated with its text
    for (const weak of ['AES128-GCM-SHA256', 'ECDHE-ECDSA-AES128-SHA'])
      await assert.rejects(cipherOf(weak), /handshake failure/i, weak);
  });

  test('visitors may speak HTTP/2 or HTTP/1.1', async () => {
    assert.equal((await shake(port, 'a.test', { ALPNProtocols: ['h2', 'http/1.1'] })).alpn, 'h2');
    assert.equal((await shake(port, 'a.test', { ALPNProtocols: ['http/1.1'] })).alpn, 'http/1.1');
  });

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
    test(`a session goes on with whatever worker takes the connection (${version}), also after a reload`, async () => {
      const bound = { ca: ca.root, maxVersion: version, minVersion: version };
      const first = await shake(port, 'a.test', { ...bound, wantSession: true });
      assert.ok(first.session && !first.reused);
      const again = () => Promise.all(often.map(() => shake(port, 'a.test', { ...bound, session: first.session })));
      assert.deepEqual(new Set((await again()).map(({ reused, failed }) => `${reused} ${failed}`)), new Set(['true null']));
      process.kill(edge.pid(), 'SIGHUP');
      // old workers are gone when new ones alone answer: until then either goes on with the session
      assert.deepEqual(new Set((await again()).map(({ reused, failed }) => `${reused} ${failed}`)), new Set(['true null']));
    });

  test('many certificates fit beside each other, and those of one authority hold it once', async () => {
    const free = async () => (await edge.stat()).dictionaries.crt.free as number;
    const document = certificateDocument(1, exact, ca);
    const before = await free();
    const records = Array.from({ length: 500 }, (_, i) => recordsOfCertificate({ ...document, id: 1000 + i })).flat();
    for (const body of frames(records)) assert.equal((await edge.control('POST', '/apply', body)).status, 200);
    const each = (before - (await free())) / 500;
    assert.ok(each < 2500, `${each} bytes for each`);
  });

  test('they are there again after a start, from the snapshot', async () => {
    const second = await freePort();
    await using other = await startEdge({
      httpsPorts: [second],
      records: [...recordsOfCertificate(certificateDocument(5, exact, ca))],
    });
    await other.putDocuments([site(1)], [domain(1, 'a.test', [origin.port], { certificate: 5 })]);
    assert.equal((await shake(second, 'a.test', { ca: ca.root })).error, null);
    assert.equal((await other.stat()).snapshot.records, 2);
  });
});
