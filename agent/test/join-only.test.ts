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
import { Identity, thisMachine } from '#agent/identity.ts';
import { joinOnly, takeIdentity } from '#agent/join-only.ts';
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

test('a copied disk makes another identity and says so; the same machine, one without an id, or of an earlier release keeps its own', async t => {
  const [ours, theirs] = ['a'.repeat(64), 'b'.repeat(64)];
  const data = await joined(7, 3);
  const bare = JSON.parse(textIn(data));
  delete bare.machine;
  writeFileSync(join(data, 'identity.json'), JSON.stringify({ ...bare, server: 'http://192.0.2.1' }));
  const open = (machine?: string) => Identity.open(data, undefined, undefined, machine);
  const { publicKey } = await open(ours);
  assert.equal(JSON.parse(textIn(data)).machine, ours, 'one of an earlier release is bound to where it is');
  for (const identity of [await open(ours), await Identity.open(data, undefined, undefined, '')])
    assert.deepEqual([identity.publicKey, identity.grant?.nodeID, identity.copied], [publicKey, 7, null]);
  const was = textIn(data);
  for (const copy of [await open(theirs), await open(theirs)]) {
    assert.notEqual(copy.publicKey, publicKey);
    assert.deepEqual([copy.grant, copy.server], [null, 'http://192.0.2.1']);
    assert.match(copy.copied ?? '', /this disk was copied from node 7 .*a new identity was made/);
  }
  assert.equal(readFileSync(join(data, 'identity.json.copied'), 'utf8'), was);

  // a line that is pasted on a copy joins by a key of its own, and says what it did
  const keys: string[] = [];
  const server = http.createServer(async (request, answer) => {
    keys.push(((await json(request)) as { publicKey: string }).publicKey);
    answer.end(JSON.stringify({ nodeID: 9, zoneID: null, jwt: 'jwt', natsUrl: 'tls://192.0.2.1:4222', documentKey: 'key' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  writeFileSync(join(data, 'identity.json'), JSON.stringify({ ...JSON.parse(was), machine: ours }));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const beside = testFolder('beside');
  const said = await joinOnly({ data, beside, server: url, joinToken: 'token', machine: theirs });
  assert.match(said, /copied from node 7 [^]*joined as node 9/);
  assert.ok(keys.length > 0 && !keys.includes(publicKey));
  assert.equal((await Identity.open(beside, undefined, undefined, theirs)).copied, null, 'it is a node of its own from now on');

  // a control plane that is restored elsewhere brings its own node along
  const near = { ...JSON.parse(was), grant: { nodeID: 7, tls: null } };
  writeFileSync(join(data, 'identity.json'), JSON.stringify(near));
  assert.equal((await open(theirs)).publicKey, publicKey);
});

test('a machine is told by a hash of its id, and by nothing where it has none', () => {
  const file = join(testFolder('machine'), 'machine-id');
  assert.equal(thisMachine(file), undefined);
  for (const none of ['', 'uninitialized\n']) {
    writeFileSync(file, none);
    assert.equal(thisMachine(file), undefined);
  }
  const id = '3d1219c7c4c5404aaa1f6d2a48adfda4';
  writeFileSync(file, `${id}\n`);
  assert.match(thisMachine(file) ?? '', /^[0-9a-f]{64}$/);
  assert.ok(!thisMachine(file)!.includes(id));
});

test('what the control plane says is wrong is read where the machine joins: its clock, another machine in its name', async t => {
  const said = [
    { rule: 'nodeClock', bounds: { seconds: 3600, most: 300 } },
    { rule: 'nodeTwin' },
    { rule: 'of a later release' },
  ];
  const boots: unknown[] = [];
  let answer = said[0]!;
  const server = http.createServer(async (request, response) => {
    boots.push(((await json(request)) as { boot?: string }).boot);
    response.statusCode = 403;
    response.end(JSON.stringify({ code: 1, message: 'No', errorData: [{ path: '', ...answer }] }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sentences = [
    /403: No\. The clock of this machine is 3600 s away .* 300 s/,
    /403: No\. Another machine runs as this node/,
    /403: No$/,
  ];
  for (const [n, sentence] of sentences.entries()) {
    answer = said[n]!;
    await assert.rejects(joinOnly({ data: testFolder('told'), server: url, joinToken: 'token' }), sentence);
  }
  assert.match(String(boots[0]), /^[0-9a-f]{64}$/);
  assert.deepEqual(new Set(boots).size, 1, 'the same boot, whoever asks');
});
