/** Whom a node takes for its control plane. */
import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { askServer } from '#agent/ask-server.ts';
import { Identity } from '#agent/identity.ts';
import { issue, makeAuthority, newKey } from '#host/certificates.ts';

const authorityKey = createPrivateKey(newKey());
const ca = makeAuthority('Test', authorityKey);
const key = newKey();
const cert = issue(new X509Certificate(ca), authorityKey, createPublicKey(key), ['127.0.0.1']);
const server = https.createServer({ cert, key }, (request, response) => {
  asked++;
  request.resume().on('end', () => response.writeHead(403, { 'retry-after': '7' }).end('{"code":101002,"message":"no"}'));
});
let asked = 0;
let url: URL;
before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/api`);
});
after(() => server.close());

test('the authority it was told of is believed, and no other', async () => {
  const answer = await askServer(url, { a: 1 }, 20_000, ca);
  assert.equal(answer.status, 403);
  assert.deepEqual(answer.said, { code: 101002, message: 'no' });
  assert.equal(answer.headers['retry-after'], '7');
  const before_ = asked;
  for (const other of [makeAuthority('Test', createPrivateKey(newKey())), undefined])
    await assert.rejects(
      askServer(url, {}, 20_000, other),
      /^Error: the server https:\/\/127\.0\.0\.1:\d+ cannot be reached: its certificate is not signed by the authority this node was told of$/,
    );
  assert.equal(asked, before_, 'nothing is sent to who is not known');
});

test('a name that is not in the certificate is another server', async () => {
  const named = new URL(url);
  named.hostname = 'localhost';
  await assert.rejects(askServer(named, {}, 20_000, ca), /cannot be reached: /);
});

test('a machine elsewhere is never asked plainly', async () => {
  await assert.rejects(
    askServer(new URL('http://192.0.2.1/api'), {}, 20_000),
    /^Error: http:\/\/192\.0\.2\.1 would be told secrets plainly/,
  );
});

test('the authority is kept with the identity', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'identity-'));
  t.after(() => rmSync(folder, { recursive: true }));
  await Identity.open(folder, ca);
  const again = await Identity.open(folder);
  await assert.rejects(again.join(url.origin, 'token', { name: 'a', version: '1' }), /the server answers 403: no/);
  assert.equal(JSON.parse(readFileSync(join(folder, 'identity.json'), 'utf8')).ca, ca);
});
