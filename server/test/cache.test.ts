/** Cache rules, purges, and the other rows of a site's document. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { compile } from '#server/compile/compile.ts';
import { load } from '#server/compile/load.ts';
import { row } from '#server/store/db.ts';
import { broken, by, mark, multiple, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let me: ReturnType<typeof by>;
let base: string;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  me = by(api, a.user);
  base = `/user/site/${a.siteID}`;
  ok(
    await me.post(`${base}/domains`, {
      domains: [
        { domainName: 'www.cache.test', upstreams: [{ address: '192.0.2.1' }] },
        { domainName: '*.wild.test', upstreams: [{ address: '192.0.2.1' }] },
      ],
    }),
  );
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const rule = (more: object = {}) => ({
  type: 'fileType',
  value: 'jpg,png',
  duration: 60,
  mode: 'forceCache',
  priority: 100,
  enabled: true,
  ...more,
});

describe('cache rules', () => {
  test('are made, listed by priority, changed in part and removed', async () => {
    const since = await mark(api);
    const { ids } = ok(
      await me.post(`${base}/setting/cacheRule`, {
        items: [rule({ priority: 20 }), rule({ priority: 10, type: 'site', value: '' })],
      }),
    ).body;
    const list = async () =>
      (await me.read(`${base}/setting/cacheRules`)).data as { id: number; priority: number; duration: number }[];
    assert.deepEqual(
      (await list()).map(one => one.id),
      [ids[1], ids[0]],
    );
    ok(await me.put(`${base}/setting/cacheRule`, { id: ids[0], priority: 5, duration: 0 }));
    assert.deepEqual(
      (await list()).map(one => [one.id, one.duration]),
      [
        [ids[0], 0],
        [ids[1], 60],
      ],
    );
    ok(await me.del(`${base}/setting/cacheRule`, { ids }));
    assert.deepEqual(await list(), []);
    assert.deepEqual(
      (await since.outbox()).map(line => [line.kind, line.entityID]),
      Array(3).fill(['cacheRules', a.siteID]),
    );
    assert.deepEqual(
      (await since.audits()).map(line => line.changes.length),
      [2, 1, 2],
    );
    assert.deepEqual((await since.audits())[1]!.changes[0]!.before, { priority: 20, duration: 60 });
  });

  test('value and type belong together, also when only one of them changes', async () => {
    const post = (more: object) => me.post(`${base}/setting/cacheRule`, { items: [rule(more)] });
    broken(await post({ value: 'j pg' }), 'items.0.value', 'wrongFormat');
    broken(await post({ type: 'regex', value: '((' }), 'items.0.value', 'invalidRegex');
    broken(await post({ type: 'prefix', value: 'images' }), 'items.0.value', 'pathOnly');
    broken(await post({ type: 'prefix', value: '/images/*' }), 'items.0.value', 'starInSource');
    broken(await post({ type: 'exact', value: '' }), 'items.0.value', 'required');
    broken(await post({ type: 'site', value: '/x' }), 'items.0.value', 'wrongFormat');
    broken(await post({ duration: 525_601 }), 'items.0.duration', 'tooBig');
    const id = await me.make(`${base}/setting/cacheRule`, { items: [rule()] });
    broken(await me.put(`${base}/setting/cacheRule`, { id, type: 'regex', value: '((' }), 'value', 'invalidRegex');
    broken(await me.put(`${base}/setting/cacheRule`, { id, type: 'prefix' }), 'value', 'pathOnly');
    broken(await me.put(`${base}/setting/cacheRule`, { id, value: '/x' }), 'value', 'wrongFormat');
    ok(await me.put(`${base}/setting/cacheRule`, { id, type: 'prefix', value: '/x' }));
    ok(await me.put(`${base}/setting/cacheRule`, { id }));
  });

  test('a thousand for a site, as many as its document holds', async () => {
    const b = await api.tenant('many');
    const its = by(api, b.user);
    const path = `/user/site/${b.siteID}/setting/cacheRule`;
    ok(await its.post(path, { items: Array.from({ length: 999 }, () => rule()) }));
    broken(await its.post(path, { items: [rule(), rule()] }), 'items', 'tooMany');
    const replies = await Promise.all([its.post(path, { items: [rule()] }), its.post(path, { items: [rule()] })]);
    assert.deepEqual(replies.map(reply => reply.status).sort(), [200, 400]);
  });
});

describe('purges', () => {
  const generation = async () =>
    (await row<{ n: number }>(api.database.db, sql`select "cacheGeneration" as n from site where id = ${a.siteID}`))!.n;
  const purge = (type: number, ...urls: string[]) => me.del(`${base}/setting/urlCache`, { type, urls });

  test('of everything: the site’s generation rises, its document is published', async () => {
    const before_ = await generation();
    const since = await mark(api);
    ok(await me.del(`${base}/setting/currentCache`));
    assert.ok((await generation()) > before_);
    const [line] = await since.outbox();
    assert.equal(line!.entityID, a.siteID);
    assert.ok(line!.revision > (await generation()), 'the document is newer than the purge it carries');
    const [task] = (await me.read(`${base}/setting/urlCaches`)).data;
    assert.deepEqual([task.type, task.url, task.kind], [0, '*', 'clear']);
    assert.equal((await since.audits()).length, 1);
  });

  test('of several sites by the operator', async () => {
    const before_ = await generation();
    ok(await by(api, a.client).del('/client/site/currentCache', { ids: [a.siteID] }));
    assert.ok((await generation()) > before_);
  });

  test('by URL, prefix and host of the site; of no other', async () => {
    ok(await purge(1, 'http://www.cache.test/a?b=c', 'https://x.wild.test/'));
    ok(await purge(2, 'http://www.cache.test/dir/'));
    ok(await purge(3, 'www.cache.test'));
    ok(await purge(3, 'deep.wild.test'));
    broken(await purge(1, 'http://other.test/'), 'urls', 'foreignHost');
    broken(await purge(1, 'ftp://www.cache.test/'), 'urls', 'wholeURL');
    broken(await purge(1, '/a'), 'urls', 'wholeURL');
    for (const who of ['u', 'u:p', ':p']) broken(await purge(1, `http://${who}@www.cache.test/`), 'urls', 'wholeURL');
    broken(await purge(3, 'http://www.cache.test/'), 'urls', 'hostOnly');
    broken(await purge(4, 'tag'), 'type', 'tagsNotKept');
    broken(await purge(5, 'tag'), 'type', 'invalidChoice');
    const some = await purge(1, 'http://www.cache.test/b', 'http://other.test/', 'nonsense', 'other');
    multiple(some, ['parameter', ['http://other.test/']], ['parameter', ['nonsense', 'other']]);
    const reasons = (some.body.errorData as { message: string }[]).map(one => one.message);
    assert.match(reasons[0]!, /other\.test is no domain of this site/);
    assert.match(reasons[1]!, /whole address/);
    const { data } = await me.read(`${base}/setting/urlCaches?pageSize=100`);
    assert.ok(data.some((task: { url: string }) => task.url === 'http://www.cache.test/b'));
  });

  test('a wildcard domain by its name, and hosts however deep below it', async () => {
    ok(await purge(3, '*.wild.test'));
    ok(await purge(3, 'very.deep.wild.test'));
    ok(await purge(1, 'http://very.deep.wild.test/x'));
    // longer than any name: no request could match it, and no document hold it
    broken(await purge(1, `http://${'b.'.repeat(130)}wild.test/x`), 'urls', 'wholeURL');
    broken(await purge(2, `http://${'b.'.repeat(130)}wild.test/x`), 'urls', 'wholeURL');
    ok(await purge(1, `http://${'b.'.repeat(120)}wild.test/x`));
    broken(await purge(3, '*.cache.test'), 'urls', 'foreignHost');
    broken(await purge(3, 'wild.test'), 'urls', 'foreignHost');
    broken(await purge(3, '*.test'), 'urls', 'foreignHost');
  });

  test('five hundred URLs in one call are those URLs, also long ones; a thousand later the older half is folded once', async () => {
    const b = await api.tenant('purger');
    const its = by(api, b.user);
    ok(
      await its.post(`/user/site/${b.siteID}/domains`, {
        domains: [{ domainName: 'p.test', upstreams: [{ address: '192.0.2.1' }] }],
      }),
    );
    const send = async (from: number, n: number, path: string) =>
      ok(
        await its.del(`/user/site/${b.siteID}/setting/urlCache`, {
          type: 1,
          urls: Array.from({ length: n }, (_, i) => `http://p.test/${path}${from + i}`),
        }),
      );
    const document = async () => {
      const found = (await load(api.database.pool as never, 'purges', [b.siteID])).get(b.siteID)!;
      return compile('purges', found).document;
    };
    const { gen: none } = await document();
    assert.equal(none, 0, 'no purges, no document');
    await send(0, 500, 'long/'.repeat(300));
    const one = await document();
    assert.deepEqual([one.purges.length, one.gen], [500, 1], 'the site itself is not purged');
    assert.ok(Buffer.byteLength(JSON.stringify(one)) < 100_000);
    assert.deepEqual((await load(api.database.pool as never, 'site', [b.siteID])).get(b.siteID)!.row.parts, ['purges']);
    await send(500, 500, '');
    const two = await document();
    assert.deepEqual([two.purges.length, two.gen], [1000, 1]);
    await send(1000, 1, '');
    const three = await document();
    assert.equal(three.purges.length, 500, 'room for as many again');
    assert.ok(three.gen > 1 && three.purges.every(one => one.gen > three.gen));
    await send(1001, 500, '');
    assert.deepEqual([(await document()).purges.length, (await document()).gen], [1000, three.gen]);
  });

  test('are done when every node of the zone serves a newer revision', async () => {
    const node = (await row<{ id: number }>(
      api.database.db,
      sql`insert into node ("clientID", "zoneID", name, "publicKey") values (${a.client.id}, ${a.zoneID}, 'n', 'U1') returning id`,
    ))!.id;
    ok(await purge(1, 'http://www.cache.test/progress'));
    const task = async () => (await me.read(`${base}/setting/urlCaches`)).data[0];
    assert.deepEqual([(await task()).status, (await task()).nodes, (await task()).applied], ['processing', 1, 0]);
    await sql`insert into ack select ${node}, id, revision, 1 from site where id = ${a.siteID}`.execute(api.database.db);
    assert.deepEqual([(await task()).status, (await task()).applied], ['completed', 1]);
  });
});
