/** Handshakes with what the authority says of the certificate. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { after, before, test } from 'node:test';
import { questionOf } from '#server/domain/certificate/ocsp.ts';
import { authority } from '#system/authority.ts';
import { certificateDocument, recordsOfCertificate } from './certificates.ts';
import { domain, type Edge, freePort, site, startEdge } from './harness.ts';

const ca = authority();
const issued = ca.issue(['a.test', 'b.test']);
const answer = ca.answer(questionOf(new X509Certificate(issued.certificate), new X509Certificate(ca.between)), issued);
let edge: Edge;
let port: number;
before(async () => {
  port = await freePort();
  edge = await startEdge({ httpsPorts: [port] });
});
after(() => edge[Symbol.asyncDispose]());

/** What a handshake shows; null: nothing. */
async function stapled(servername: string, maxVersion: 'TLSv1.2' | 'TLSv1.3'): Promise<Buffer | null> {
  const socket = connect({ host: '127.0.0.1', port, servername, maxVersion, ca: ca.root, requestOCSP: true });
  socket.on('error', () => {});
  const said = once(socket, 'OCSPResponse') as Promise<[Buffer | null]>;
  await once(socket, 'secureConnect');
  const [found] = await said;
  socket.destroy();
  return found?.length ? found : null;
}

test('the answer is shown in each version of TLS until it is over, and not by a certificate that has none', async () => {
  const document = certificateDocument(1, issued, ca);
  const put = (id: number, until?: number) =>
    edge.put(
      ...recordsOfCertificate({ ...document, id, ...(until ? { ocsp: { answer: answer.toString('base64'), until } } : {}) }),
    );
  const now = Math.floor(Date.now() / 1000);
  await put(1, now + 600);
  await put(2);
  await edge.putDocuments(
    [site(1)],
    [domain(1, 'a.test', [1], { certificate: 1, owner: 7 }), domain(2, 'b.test', [1], { certificate: 2, owner: 7 })],
  );
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    assert.deepEqual(await stapled('a.test', version), answer, version);
    assert.equal(await stapled('b.test', version), null, version);
  }
  // the node goes on while nobody brings a newer one
  await put(1, now - 1);
  assert.equal(await stapled('a.test', 'TLSv1.3'), null);
  await put(1, now + 600);
  assert.deepEqual(await stapled('a.test', 'TLSv1.3'), answer);
});
