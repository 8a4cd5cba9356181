/**
 * A visitor against the next visitor, through the product as it is started: site and domain made at the API, the node's own agent
 * and nginx. Some attacks of each kind; edge/test (unkeyed, strict, runner) has every kind in full.
 */
import assert from 'node:assert/strict';
import type http from 'node:http';
import { after, before, beforeEach, describe, test } from 'node:test';
import { poll } from '#server/store/engine-process.ts';
import { ask, raw } from '../../edge/test/harness.ts';
import { originServer, Whole } from '../whole.ts';

const host = 'attacked.test';

describe('a visitor changes what the next one gets', () => {
  let whole: Whole;
  let origin: Awaited<ReturnType<typeof originServer>>;
  const seen: { url: string; body: string; headers: http.IncomingHttpHeaders }[] = [];
  let next = 0;
  const url = () => `/page${next++}`;
  beforeEach(() => {
    seen.length = 0;
  });

  before(async () => {
    // Heeds everything a visitor can send, and says so in a page that may be kept.
    origin = await originServer(async (request, response) => {
      let body = '';
      for await (const part of request) body += String(part);
      seen.push({ url: request.url!, body, headers: request.headers });
      const heeded = Object.entries(request.headers).filter(
        ([name]) => !['x-request-id', 'connection', 'cdn-loop'].includes(name),
      );
      response.setHeader('cache-control', 'public, max-age=600');
      response.end(JSON.stringify([request.method, body, heeded.toSorted()]));
    });
    whole = await Whole.start();
    const client = await whole.signIn('client');
    const groups = await whole.call('GET', '/client/metaGroups', client);
    const product = await whole.call('POST', '/client/product', client, { name: 'attacked', groupID: groups.body[0].id });
    const users = await whole.call('GET', '/client/accounts?auth=user', client);
    const site = await whole.call('POST', '/client/site', client, {
      siteName: 'attacked',
      productID: product.body.ids[0],
      userID: users.body.data[0].id,
    });
    const user = await whole.signIn('user');
    const domain = await whole.call('POST', `/user/site/${site.body.ids[0]}/domains`, user, {
      domains: [{ domainName: host, upstreams: [{ address: '127.0.0.1', port: origin.port }] }],
    });
    assert.equal(domain.status, 200, JSON.stringify(domain.body));
    assert.ok(await poll(async () => (await whole.visit(host, '/warm')).status === 200, 30_000, 50), 'the domain is served');
  });
  after(async () => {
    await whole?.stop();
    await origin?.stop();
  });

  const get = (path: string) => ask(whole.edgePort, host, path);
  /** Attack on a page nobody has asked for yet, and on one that is stored: a visitor gets the same as anywhere else. */
  async function harmless(what: string, attack: (path: string) => Promise<unknown>) {
    const page = (await get(url())).body;
    for (const stored of [false, true]) {
      const path = url();
      if (stored) assert.equal((await get(path)).body, page);
      await attack(path);
      const answer = await get(path);
      assert.deepEqual([answer.status, answer.body], [200, page], `${what}, ${stored ? 'stored' : 'new'}`);
      assert.equal((await get(path)).headers['x-cache'], 'HIT', what);
    }
  }

  test('by an upgrade', async () => {
    const upgrades: Record<string, string>[] = [
      { upgrade: 'websocket', connection: 'Upgrade' },
      { upgrade: 'h2c', connection: 'Upgrade, HTTP2-Settings', 'http2-settings': 'AAMAAABkAARAAAAAAAIAAAAA' },
    ];
    for (const headers of upgrades) {
      for (const method of ['GET', 'HEAD']) {
        await harmless(`${method} ${headers.upgrade}`, path => ask(whole.edgePort, host, path, { method, headers }));
      }
    }
  });

  test('by a header that is not in the key', async () => {
    const names =
      'x-http-method-override x-http-method x-method-override x-forwarded-for x-forwarded-host x-forwarded-proto x-forwarded-scheme ' +
      'x-forwarded-prefix x-forwarded-port x-forwarded-server forwarded x-host x-original-url x-original-host x-rewrite-url ' +
      'true-client-ip cf-connecting-ip x-client-ip x-cluster-client-ip x-real-ip fastly-client-ip x-wap-profile proxy ' +
      'x-requested-with x-api-key x-nextjs-data content-type accept-datetime max-forwards never-heard-of';
    for (const name of names.split(' ')) {
      await harmless(name, path => ask(whole.edgePort, host, path, { headers: { [name]: 'https' } }));
    }
    await harmless('Connection', path =>
      ask(whole.edgePort, host, path, { headers: { connection: 'close, x-forwarded-for, x-real-ip' } }),
    );
  });

  test('by a body', async () => {
    for (const method of ['GET', 'HEAD']) {
      await harmless(method, path => ask(whole.edgePort, host, path, { method, body: 'evil' }));
    }
    assert.ok(seen.every(one => one.body === ''));
  });

  test('by a request that two readers understand differently', async () => {
    const forms: [string, (path: string) => string][] = [
      ['odd name', path => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nBad(name): x\r\n\r\n`],
      ['no colon', path => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nnonsense\r\n\r\n`],
      ['folded', path => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nX: a\r\n b\r\n\r\n`],
      ['lone LF', path => `GET ${path} HTTP/1.1\r\nHost: ${host}\nX: a\r\n\r\n`],
      ['userinfo', path => `GET ${path} HTTP/1.1\r\nHost: evil@${host}\r\n\r\n`],
      ['port', path => `GET ${path} HTTP/1.1\r\nHost: ${host}:x\r\n\r\n`],
      ['two hosts', path => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nHost: evil.test\r\n\r\n`],
      ['ftp', path => `GET ftp://${host}${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
      ['length twice', path => `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\nContent-Length: 50\r\n\r\n`],
      [
        'both',
        path => `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      ],
      ['coding', path => `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ];
    for (const [what, text] of forms) {
      await harmless(what, async path => {
        const answer = await raw(whole.edgePort, `${text(path)}GET /smuggled HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
        assert.deepEqual([answer.statuses, answer.closed], [[400], true], what);
      });
    }
    assert.ok(seen.every(one => one.url !== '/smuggled'));
  });

  test('ids of requests tell nothing and are nobody’s to choose', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => ask(whole.edgePort, host, '/id', { headers: { 'x-request-id': 'mine' } })),
    );
    const ids = answers.map(answer => answer.headers['x-request-id'] as string);
    assert.ok(ids.every(id => /^[0-9a-f]{24}$/.test(id)));
    assert.equal(new Set(ids).size, 50);
    // No part stays the same, as a process or a node would.
    for (let at = 0; at < 24; at += 4) assert.ok(new Set(ids.map(id => id.slice(at, at + 4))).size > 40);
  });
});
