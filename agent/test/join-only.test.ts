/** Joining beside a node that works: who it is changes when somebody has joined, and at no other time. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createPrivateKey, createPublicKey, randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Identity } from '#agent/identity.ts';
import { takeIdentity } from '#agent/join-only.ts';
import { issue, makeAuthority, newKey } from '#host/certificates.ts';
import { memberCertificate, zoneAuthority } from '#host/zone-authority.ts';
import { testFolder } from '#system/engines.ts';

const textIn = (folder: string) => readFileSync(join(folder, 'identity.json'), 'utf8');
/** Who has joined as that node, with the newest command it obeyed. */
async function joined(nodeID: number, lastCommand: number): Promise<string> {
  const folder = testFolder('joined');
  await (await Identity.open(folder)).remember(lastCommand);
  writeFileSync(join(folder, 'identity.json'), JSON.stringify({ ...JSON.parse(textIn(folder)), grant: { nodeID } }));
  return folder;
}

test('a node stays who it is where nobody has joined beside it', async () => {
  const data = await joined(7, 3);
  const was = textIn(data);
  const [empty, half] = [testFolder('empty'), testFolder('half')];
  await Identity.open(half);
  for (const from of [empty, half])
    await assert.rejects(takeIdentity(data, from), /nobody has joined in \S+: the node here stays who it is/);
  assert.equal(textIn(data), was);
  assert.ok(!existsSync(join(empty, 'identity.json')), 'no key is made');
});

test('it becomes who joined beside it, and does no command twice', async () => {
  const [data, from] = [await joined(7, 5), await joined(8, 3)];
  await takeIdentity(data, from);
  assert.deepEqual(JSON.parse(textIn(data)), { ...JSON.parse(textIn(from)), lastCommand: 5 });
});

test('a line that names no authority is believed by those every machine knows, whatever was believed before', async t => {
  const authorityKey = createPrivateKey(newKey());
  const known = makeAuthority('Known to all', authorityKey);
  const key = newKey();
  const cert = issue(new X509Certificate(known), authorityKey, createPublicKey(key), ['127.0.0.1']);
  const grant = { nodeID: 9, jwt: 'jwt', natsUrl: 'tls://192.0.2.1:4222', documentKey: 'key' };
  const server = https.createServer({ cert, key }, (request, answer) =>
    request.resume().on('end', () => answer.end(JSON.stringify(grant))),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const [data, beside] = [testFolder('data'), testFolder('beside')];
  await Identity.open(data, makeAuthority('Of before', createPrivateKey(newKey())));
  const was = textIn(data);
  const file = join(testFolder('known'), 'ca.pem');
  writeFileSync(file, known);
  const main = new URL('../src/main.ts', import.meta.url).pathname;
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = [main, '--data', data, '--beside', beside, '--server', url, '--join', 'token', '--join-only'];
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: file };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, timeout: 60_000 });
  assert.match(stdout, /joined as node 9/);
  assert.equal(textIn(data), was);
  await takeIdentity(data, beside);
  const { ca, seed } = JSON.parse(textIn(data));
  assert.deepEqual([ca, seed], [undefined, JSON.parse(was).seed]);
});

test('a machine that was deleted and joins again is known by its new number', async t => {
  const authority = zoneAuthority(randomBytes(32), 5);
  let nodeID = 3;
  const server = http.createServer(async (request, answer) => {
    const { memberKey } = (await json(request)) as { memberKey: string };
    const [publicKey, until] = [Buffer.from(memberKey, 'base64url'), new Date(Date.now() + 30 * 86_400_000)];
    const certificate = memberCertificate(authority, { nodeID, zoneID: 5, publicKey, until });
    const more = { jwt: 'jwt', natsUrl: 'tls://192.0.2.1:4222', documentKey: 'key', zoneID: null };
    answer.end(JSON.stringify({ nodeID, ...more, member: { certificate, authority: authority.certificate } }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const identity = await Identity.open(testFolder('again'));
  const facts = { name: 'n', version: '1' };
  const nameOf = (grant: Awaited<ReturnType<Identity['join']>>) => new X509Certificate(grant.member!.certificate).subjectAltName;
  const first = await identity.join(url, 'one', facts);
  assert.equal(nameOf(first), 'DNS:node-3.zone-5');
  assert.equal((await identity.renew()).member!.certificate, first.member!.certificate, 'another one would be a reload');
  nodeID = 4;
  assert.equal(nameOf(await identity.join(url, 'two', facts)), 'DNS:node-4.zone-5');
});
