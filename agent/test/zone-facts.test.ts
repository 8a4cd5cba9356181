/** What a zone sets of nginx itself, and of all its domains: HTTP/2 as a client is offered it, the code of forceSSL. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import http from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readPair } from '#server/domain/certificate/pem.ts';
import { Keys } from '#server/kit/crypto.ts';
import { Sealing } from '#server/kit/sealed.ts';
import { freePort } from '#server/store/engine-process.ts';
import { authority } from '#system/authority.ts';
import { askTLS, shake } from '../../edge/test/certificates.ts';
import { ZoneRelays } from '../src/relays.ts';
import { ZoneFacts } from '../src/zone-facts.ts';
import { Plane, TestNode, until } from './node.ts';

test('a zone switches HTTP/2 by one reload, under which an answer goes on; the code of forceSSL needs none', async t => {
  const sealing = new Sealing([new Keys(randomBytes(32))]);
  const plane = await Plane.start(t, { sealing });
  const { rig } = plane;
  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  // /slow is under way as long as this test wants
  let finish = () => {};
  const origin = http.createServer((request, answer) => {
    answer.setHeader('cache-control', 'no-store');
    if (request.url !== '/slow') return void answer.end('yes');
    answer.write('begun ');
    finish = () => void answer.end('ended');
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  t.after(() => (origin.close(), origin.closeAllConnections()));
  const domainID = await rig.domain(siteID, 'a.test', '127.0.0.1', (origin.address() as { port: number }).port);
  const ca = authority();
  const issued = ca.issue(['a.test']);
  const { leaf, issuers, privateKey } = readPair(issued.chain, issued.key);
  const certificateID = await rig.one(
    `insert into certificate ("siteID", "sslName", names, issuer, serial, fingerprint, "keyType", "keyBits", "notBefore", "notAfter", "isWhole", leaf, issuers, "privateKey")
     values ($1, 'a', '{a.test}', 'x', 'x', 'x', 'ec', 256, now(), now(), true, $2, $3, $4) returning id`,
    [siteID, leaf, JSON.stringify(issuers), sealing.seal('certificate.privateKey', privateKey)],
  );
  await rig.change(
    [`certificate ${certificateID}`, `domain ${domainID}`],
    [`update upstream set protocol = 'http' where "domainID" = $1`, [domainID]],
    ['update domain set "certificateID" = $2, "forceSSL" = true where id = $1', [domainID, certificateID]],
  );
  const set = (name: string, value: object) =>
    rig.change(
      [`zone ${zoneID}`],
      [
        `insert into "scopedSetting" (name, "zoneID", value) values ($1, $2, $3)
         on conflict ("zoneID", name) where "zoneID" is not null do update set value = excluded.value`,
        [name, zoneID, JSON.stringify(value)],
      ],
    );

  const node = new TestNode(plane, await plane.token(zoneID), 'n');
  [node.httpPort, node.healthPort, node.httpsPort] = [await freePort(), await freePort(), await freePort()];
  t.after(() => node.end());
  node.start();
  /** of h2 and http/1.1 what the node chooses (ALPN) */
  const offered = async () => (await shake(node.httpsPort, 'a.test', { ca: ca.root, ALPNProtocols: ['h2', 'http/1.1'] })).alpn;
  await until('HTTP/2 is offered', async () => (await offered()) === 'h2', 60_000);
  const reloads = () => readFileSync(join(node.data, 'log', 'error.log'), 'utf8').split('(SIGHUP) received').length - 1;
  const master = node.nginx();
  assert.equal(reloads(), 0);

  const session = connectHttp2('https://a.test', {
    host: '127.0.0.1',
    port: node.httpsPort,
    servername: 'a.test',
    ca: ca.root,
  } as never);
  t.after(() => session.destroy());
  const stream = session.request({ ':path': '/slow' });
  let body = '';
  stream.setEncoding('utf8').on('data', (piece: string) => (body += piece));
  await until('an answer is under way', () => body === 'begun ');

  await set('http2', { enable: false });
  await until('HTTP/1.1 alone is offered', async () => (await offered()) === 'http/1.1');
  const ended = once(stream, 'end');
  finish();
  await ended;
  assert.deepEqual([stream.rstCode, body], [0, 'begun ended']);
  assert.deepEqual([node.nginx(), reloads()], [master, 1]);
  assert.equal((await askTLS(node.httpsPort, 'a.test', 'a.test')).body, 'yes');

  // a start begins with what its zone said last
  await node.end();
  node.start();
  await until('it is up again', async () => (await offered()) !== null, 60_000);
  assert.deepEqual([await offered(), reloads()], ['http/1.1', 1]);

  const redirected = async () => (await node.get('/', node.httpPort, 'a.test')).status;
  assert.equal(await redirected(), 301);
  await set('forceSSLRedirectCode', { code: 308 });
  await until('the code of the zone', async () => (await redirected()) === 308);
  assert.equal(reloads(), 1);

  await set('http2', { enable: true });
  await until('HTTP/2 is offered again', async () => (await offered()) === 'h2');
  assert.equal(reloads(), 2);
});

test('facts that cannot be had, as a full disk takes no certificate, are a problem until they can, and end nothing', async () => {
  const [given, logged] = [[] as object[], [] as string[]];
  let isFull = true;
  const facts = new ZoneFacts({
    wanted: () => {
      if (isFull) throw new Error('ENOSPC: no space left on device');
      return { cacheAge: 'a' };
    },
    configure: wanted => Promise.resolve(given.push(wanted)),
    isLacking: () => false,
    isUp: () => true,
    log: message => logged.push(message),
  });
  await facts.look();
  assert.deepEqual([facts.isTaken, facts.problem], [false, 'ENOSPC: no space left on device']);
  await facts.up();
  assert.deepEqual([logged.length, given.length], [1, 0], 'said once');
  isFull = false;
  await facts.look();
  assert.deepEqual([given, facts.problem, facts.isTaken], [[{ cacheAge: 'a' }], null, true]);
});

test('certificates that are renewed one after the other: what the running nginx may still name stays', t => {
  const data = mkdtempSync(join(tmpdir(), 'member-'));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  let number = 0;
  const grant = () => ({ type: 'relay', zoneID: 1, member: { certificate: `certificate ${number}`, authority: 'authority' } });
  const relays = new ZoneRelays({
    data,
    identity: {
      get grant() {
        return grant();
      },
      memberKey: 'key',
    } as never,
    control: {} as never,
    listed: () => [],
  });
  let before = relays.fleet()!;
  while (++number < 6) {
    const next = relays.fleet()!;
    assert.notEqual(next.certificate, before.certificate);
    for (const path of [before.certificate, before.key, before.authority, next.certificate]) assert.ok(existsSync(path), path);
    // in the order of their renewals, however coarse the disk's clock
    for (const path of [next.certificate, next.key, next.authority]) utimesSync(path, number, number + 4e9);
    before = next;
  }
  assert.equal(readdirSync(join(data, 'member')).length, 9, 'of the two newest and the one that came');
});
