/** Who is let in at a relay's door, and what they may say. */
import assert from 'node:assert/strict';
import https from 'node:https';
import { after, beforeEach, describe, test } from 'node:test';
import { selfSigned } from '#host/certificates.ts';
import { member, startZone } from './fleet.ts';
import { domain, raw, site, startOrigin } from './harness.ts';

describe("a relay's door", async () => {
  const zone = await startZone({ edges: 1, relays: 1 });
  const origin = await startOrigin();
  after(async () => {
    await zone[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });
  await zone.put([site(1)], [domain(1, 'a.test', [origin.port])]);
  const { port } = zone.listed[0]!;
  beforeEach(() => {
    origin.seen.length = 0;
  });
  const knock = (options: https.RequestOptions, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<number | string>(done => {
      const request = https.request(
        {
          host: '127.0.0.1',
          port,
          path: '/x',
          method,
          agent: false,
          rejectUnauthorized: false,
          ...options,
          headers: { host: 'a.test', ...headers },
        },
        response => (response.resume(), response.on('end', () => done(response.statusCode!))),
      );
      request.on('error', error => done((error as NodeJS.ErrnoException).code ?? error.message));
      request.end();
    });
  const asks = { 'x-edge-relay': '1 1 -', 'x-real-ip': '192.0.2.7', 'x-forwarded-proto': 'https' };

  test('an edge of the zone is answered, and believed about its visitor', async () => {
    using node = member(11);
    assert.equal(await knock(node.pem, asks), 200);
    assert.deepEqual(
      ['x-forwarded-for', 'x-real-ip', 'x-forwarded-proto', 'host'].map(name => origin.seen[0]!.headers[name]),
      ['192.0.2.7', '192.0.2.7', 'https', 'a.test'],
    );
    assert.equal(await knock(node.pem, {}), 204, 'an agent asks how it is');
    assert.equal(await knock(node.pem, asks, 'POST'), 590);
    assert.equal(await knock(node.pem, { ...asks, host: 'unknown.test' }), 590);
    assert.equal(await knock(node.pem, { ...asks, 'x-edge-relay': '99 1 -' }), 590, 'of a revision it has not');
    assert.equal(await knock(node.pem, { ...asks, 'x-edge-relay': '1 99 -' }), 590, 'of a purge it has not');
    assert.equal(origin.seen.length, 1);
  });

  test('nobody else is told anything', async () => {
    using other = member(11, { zone: 4 });
    using forged = member(11, { zone: 4, authorityOf: 3 });
    using own = member(12);
    const { certificate, key } = selfSigned('node-11.zone-3');
    const visitors: [string, https.RequestOptions][] = [
      ['a visitor', {}],
      ['a certificate of his own', { cert: certificate, key }],
      ['a node of another zone', other.pem],
      ['the name of another zone below our authority', forged.pem],
    ];
    for (const [who, options] of visitors) assert.match(String(await knock(options, asks)), /ECONNRESET|hang up/, who);
    assert.equal(await knock(own.pem, asks), 200);
    await zone.tell(zone.relays, [], [12]);
    assert.match(String(await knock(own.pem, asks)), /ECONNRESET|hang up/, 'one that was taken out of the zone');
    // more were taken out than are named: who is not in the zone is let in no more
    await zone.tell(zone.relays, zone.listed, [13], [1, 11]);
    assert.match(String(await knock(own.pem, asks)), /ECONNRESET|hang up/, 'one that was taken out and is not named');
    using stays = member(11);
    assert.equal(await knock(stays.pem, asks), 200);
    await zone.tell(zone.relays, zone.listed);
    assert.equal(await knock(own.pem, asks), 200);
    origin.seen.length = 0;
    assert.deepEqual((await raw(port, 'GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n')).text, '');
    assert.equal(origin.seen.length, 0);
  });

  test('a visitor cannot speak as the halves do', async () => {
    const edge = zone.edges[0]!;
    for (const name of ['x-edge-relay', 'x-edge-part', 'x_edge_relay'])
      assert.equal((await edge.ask('a.test', `/forged?${name}`, { headers: { [name]: '1 99 -' } })).status, 200);
    for (const { headers } of origin.seen)
      assert.deepEqual(
        Object.keys(headers).filter(name => /edge/.test(name)),
        [],
      );
    origin.script = (_, response) =>
      response.setHeader('x-edge-relay', 'held=1 kept status=418').setHeader('cache-control', 'max-age=60').end('x');
    const answer = await edge.ask('a.test', '/mimics');
    assert.deepEqual([answer.status, answer.headers['x-edge-relay'], answer.headers.age], [200, undefined, undefined]);
  });
});
