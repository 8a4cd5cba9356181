/** Error pages of a site and of the zone, shown for what the edge itself refuses or cannot get. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { accessLogColumns } from '#contract/edge/log.ts';
import {
  domain,
  type Edge,
  freePort,
  type Origin,
  raw,
  site,
  siteRecords,
  startEdge,
  startOrigin,
  until,
  type WholeSite,
} from './harness.ts';

type Page = WholeSite['errorPages'][number];

describe('error pages', () => {
  let edge: Edge;
  let origin: Origin;
  let closed: number;
  before(async () => {
    [edge, origin, closed] = await Promise.all([startEdge({ workers: 2 }), startOrigin(), freePort()]);
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });

  let last = 0;
  const name = () => `h${last}.test`;
  async function host(errorPages: Page[], change: Partial<WholeSite> = {}, port = origin.port) {
    const id = ++last;
    await edge.putDocuments([site(id, { errorPages, ...change })], [domain(id, name(), [port], { site: id })]);
    return name();
  }
  let rev = 0;
  const zone = (errorPages: Page[]) =>
    edge.put({ key: 'z:', value: JSON.stringify({ v: 1, rev: ++rev, id: 1, ...(errorPages.length ? { errorPages } : {}) }) });
  const page = (code: Page['code'], content: string, type: Page['type'] = 'content'): Page => ({ code, type, content });
  const blacklists = [{ id: 1, ips: ['127.0.0.9'], block: 'deny' as const }];
  const refused = { from: '127.0.0.9' };

  test("a site's page stands for a refusal, with the request's number, and is stored nowhere", async () => {
    const at = await host([page(403, '<h1>No</h1><p>{{requestID}} and {{requestID}}</p>')], { blacklists });
    const answer = await edge.ask(at, '/', refused);
    const rid = answer.headers['x-request-id'] as string;
    assert.deepEqual([answer.status, answer.body], [403, `<h1>No</h1><p>${rid} and ${rid}</p>`]);
    assert.deepEqual([answer.headers['content-type'], answer.headers['cache-control']], ['text/html; charset=utf-8', 'no-store']);
    assert.equal((await edge.ask(at, '/')).body, 'origin 1', 'who is not refused sees nothing of it');
    const head = await edge.ask(at, '/', { ...refused, method: 'HEAD' });
    assert.deepEqual([head.status, head.body, head.headers['content-length']], [403, '', String(answer.body.length)]);
    await edge.putDocuments([site(last, { blacklists })], []);
    assert.match((await edge.ask(at, '/', refused)).body, /403 Forbidden/);
  });

  test('an address with a user in it leads nowhere: it says one host and names another', async () => {
    const id = ++last;
    const errorPages = [page(403, 'https://bank.test@evil.test/x', 'urlRedirect')];
    const answer = await edge.put(...siteRecords(site(id, { errorPages, blacklists })));
    await edge.putDocuments([], [domain(id, name(), [origin.port], { site: id })]);
    assert.deepEqual(
      answer.bad.map((one: { list: string; id: number }) => [one.list, one.id]),
      [['errorPages', 403]],
    );
    const shown = await edge.ask(name(), '/', refused);
    assert.deepEqual([shown.status, shown.headers.location], [403, undefined]);
  });

  test('what the edge cannot get: 502 of an origin that is not there, in and past the cache, and 929', async () => {
    const at = await host(
      [page(502, 'away {{requestID}}'), page(929, 'slow down')],
      { frequencies: [{ id: 1, urlRegex: '^/often', seconds: 3600, times: 1, by: 'ip', priority: 1, action: 'limit' }] },
      closed,
    );
    for (const method of ['GET', 'POST', 'GET'])
      for (const path of ['/a', '/b?c']) {
        const answer = await edge.ask(at, path, { method });
        assert.deepEqual(
          [answer.status, answer.body, answer.headers['cache-control']],
          [502, `away ${answer.headers['x-request-id']}`, 'no-store'],
          `${method} ${path}`,
        );
      }
    await edge.ask(at, '/often');
    const often = await edge.ask(at, '/often');
    assert.deepEqual([often.status, often.body], [929, 'slow down']);
  });

  test('an origin that hangs up while a stored answer has expired: the page too', async () => {
    const at = await host([page(502, 'gone')]);
    origin.script = (_, response) => {
      response.setHeader('cache-control', 'max-age=1, must-revalidate');
      response.setHeader('etag', '"1"');
      response.end('stored');
    };
    assert.equal((await edge.ask(at, '/once')).body, 'stored');
    origin.script = request => void (request.url === '/once' && origin.server.closeAllConnections());
    const answer = await until('the stored answer has expired', async () => {
      const now = await edge.ask(at, '/once');
      return now.body === 'stored' ? undefined : now;
    });
    assert.deepEqual([answer.status, answer.body, answer.headers['cache-control']], [502, 'gone', 'no-store']);
  });

  test("an origin's own errors are its own", async () => {
    const at = await host([page(502, 'ours'), page(403, 'ours'), page(500, 'ours')]);
    origin.script = (request, response) => {
      response.statusCode = Number(request.url.slice(1));
      response.end('its own');
    };
    for (const status of [403, 500, 502]) {
      const answer = await edge.ask(at, `/${status}`);
      assert.deepEqual([answer.status, answer.body], [status, 'its own']);
    }
  });

  test('an address sends visitors on, and not to where they have just been refused', async () => {
    const to = 'https://Away.test:8443/no?why=1#x';
    let at = await host([page(403, to, 'urlRedirect'), page(502, to, 'urlRedirect')], { blacklists }, closed);
    for (const options of [refused, {}, { method: 'POST' }]) {
      const answer = await edge.ask(at, '/', options);
      assert.deepEqual(
        [answer.status, answer.headers.location, answer.body, answer.headers['cache-control']],
        [302, to, '', 'no-store'],
      );
    }
    // A page of ours says nothing of the cache: once the origin is there, its answers are stored at once.
    origin.script = (_, response) => {
      response.setHeader('cache-control', 'max-age=60');
      response.end('back');
    };
    await edge.putDocuments([], [domain(last, at, [origin.port], { site: last })]);
    assert.equal((await edge.ask(at, '/')).headers['x-cache'], 'MISS');
    assert.equal((await edge.ask(at, '/')).headers['x-cache'], 'HIT');
    at = `h${last + 1}.test`;
    await host([page(403, `https://${at}/no?why=1`, 'urlRedirect')], { blacklists });
    assert.equal((await edge.ask(at, '/', refused)).status, 302);
    const again = await edge.ask(at, '/no?why=1', refused);
    assert.deepEqual([again.status, again.headers.location], [403, undefined]);
  });

  test('an address with the request’s number has it; the log tells what was refused, not that the visitor was sent on', async () => {
    const to = 'https://away.test/no?id={{requestID}}#{{requestID}}';
    const pages = [403, 502, 929].map(code => page(code as 403, to, 'urlRedirect'));
    const frequencies = [
      { id: 1, urlRegex: '^/often', seconds: 3600, times: 1, by: 'ip', priority: 1, action: 'limit' },
    ] as const;
    const at = await host(pages, { blacklists, frequencies: [...frequencies] }, closed);
    const wanted: [string, string, object][] = [
      ['403', '/', refused],
      ['502', '/in', {}],
      ['502', '/past', { method: 'POST' }],
      ['502', '/often', {}],
      ['929', '/often', {}],
    ];
    const told = [];
    for (const [status, path, options] of wanted) {
      const answer = await edge.ask(at, path, options);
      const rid = answer.headers['x-request-id'] as string;
      assert.deepEqual([answer.status, answer.headers.location], [302, to.replaceAll('{{requestID}}', rid)], status);
      told.push([rid, status]);
    }
    const lines = await edge.log(told.length, line => line[3] === at);
    const at_ = (name: string) => accessLogColumns.findIndex(column => column.name === name);
    assert.deepEqual(lines.map(line => [line[at_('rid')], line[at_('status')]]).toSorted(), told.toSorted());
    // One that differs in the number alone is the same address.
    const own = `h${last + 1}.test`;
    await host([page(403, `https://${own}/no?id={{requestID}}`, 'urlRedirect')], { blacklists });
    const { location } = (await edge.ask(own, '/', refused)).headers;
    const again = await edge.ask(own, location!.slice(location!.indexOf('/no')), refused);
    assert.deepEqual([again.status, again.headers.location], [403, undefined]);
  });

  test('a script is wrapped into a page that it cannot end', async () => {
    const at = await host([page(403, 'say("</script><p>", "<!--", "{{requestID}}")', 'javascript')], { blacklists });
    const answer = await edge.ask(at, '/', refused);
    const script = /<script>\n(.*)\n<\/script>/s.exec(answer.body)?.[1];
    assert.equal(script, `say("<\\/script><p>", "<\\!--", "${answer.headers['x-request-id']}")`);
    assert.equal(answer.body.match(/<\/script>/g)?.length, 1);
    assert.equal(answer.status, 403);
  });

  test("the operator's pages hold on every site that has none of its own, and for hosts that nobody knows", async () => {
    const own = await host([page(403, 'the site')], { blacklists });
    const bare = await host([], { blacklists });
    const unknown = async () => (await edge.ask('unknown.test', '/')).body;
    assert.match(await unknown(), /903 Unknown Host/);
    await zone([page(403, 'the zone'), page(903, 'nobody: {{requestID}}'), page(400, 'what?')]);
    assert.equal((await edge.ask(own, '/', refused)).body, 'the site');
    assert.equal((await edge.ask(bare, '/', refused)).body, 'the zone');
    const answer = await edge.ask('unknown.test', '/');
    assert.deepEqual([answer.status, answer.body], [903, `nobody: ${answer.headers['x-request-id']}`]);
    const malformed = await raw(edge.port, `GET / HTTP/1.1\r\nHost: ${bare}\r\nHost: ${bare}\r\n\r\n`);
    assert.deepEqual([malformed.statuses, malformed.closed], [[400], true]);
    assert.match(malformed.text, /what\?$/);
    await zone([page(903, 'another')]);
    assert.equal(await unknown(), 'another');
    assert.match((await edge.ask(bare, '/', refused)).body, /403 Forbidden/);
    await edge.put({ key: 'z:', value: null });
    assert.match(await unknown(), /903 Unknown Host/);
  });

  test('what is no page is left out and told; the others stand', async () => {
    const evil = page(403, 'https://a.test/\r\nSet-Cookie: a=b', 'urlRedirect');
    const at = await host([evil, page(502, 'fine')], { blacklists }, closed);
    const answer = await edge.ask(at, '/', refused);
    assert.deepEqual([answer.status, answer.headers['set-cookie']], [403, undefined]);
    assert.equal((await edge.ask(at, '/')).body, 'fine');
    const bad = (await edge.stat()).bad as { list: string; id: number }[];
    assert.ok(bad.some(fault => fault.list === 'errorPages' && fault.id === 403));
    await zone([{ code: 403, type: 'content', content: 7 } as never, page(903, 'stands')]);
    assert.equal((await edge.ask('unknown.test', '/')).body, 'stands');
    await edge.put({ key: 'z:', value: null });
  });

  test('custom headers of a site do not make a page storable, nor send it elsewhere', async () => {
    const at = await host([page(502, 'https://away.test/', 'urlRedirect')], {}, closed);
    const customHeaders = {
      request: [],
      response: ['cache-control', 'location'].map(field => ({ name: field, value: field === 'location' ? '/x' : 'max-age=60' })),
    };
    await edge.putDocuments([], [domain(last, at, [closed], { site: last, customHeaders })]);
    const answer = await edge.ask(at, '/');
    assert.deepEqual([answer.headers.location, answer.headers['cache-control']], ['https://away.test/', 'no-store']);
  });
});
