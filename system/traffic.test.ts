/** A month's traffic, whole: visitors pass, their bytes are counted, people are told, the site stops answering, a plan brings it back. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { poll } from '#server/store/engine-process.ts';
import { openShop, type Shop } from './stand.ts';
import { originServer, Whole } from './whole.ts';

const host = 'metered.test';
const bodyBytes = 50_000;
let whole: Whole;
let origin: Awaited<ReturnType<typeof originServer>>;
let shop: Shop;
before(async () => {
  origin = await originServer((_request, response) =>
    response.writeHead(200, { 'Cache-Control': 'max-age=600', 'Content-Type': 'text/plain' }).end('x'.repeat(bodyBytes)),
  );
  whole = await Whole.start([], undefined, { INGEST_FLUSH_MS: '1000' });
  shop = await openShop(whole, 'metered', origin.port);
  await shop.addDomain(host);
});
after(async () => {
  await whole?.stop();
  await origin?.stop();
});

const call = async (method: string, path: string, area: 'client' | 'user', body?: unknown) => {
  const reply = await whole.call(method, path, await whole.signIn(area), body);
  assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
  return reply.body;
};
const status = async (path = '/page') => (await whole.visit(host, path)).status;
const becomes = (wanted: number, path?: string) => poll(async () => (await status(path)) === wanted, 60_000, 200);

interface Usage {
  userID: number;
  productID: number;
  bytes: number;
  planBytes: number;
  state: string;
  startTime: string;
  endTime: string;
  days: number[];
}

test('visitors pass → counted → warned → limited: 904 → a plan is added: served again', async () => {
  assert.ok(await becomes(200), 'the site is served');
  const { productID, userID } = await call('GET', `/client/site/${shop.siteID}`, 'client');
  const usage = async () =>
    ((await call('GET', '/client/traffic/monthlyUsages', 'client')).data as Usage[]).find(one => one.productID === productID);
  const until = (what: string, wanted: (one: Usage) => boolean) =>
    poll(
      async () => {
        const one = await usage();
        return one !== undefined && wanted(one);
      },
      90_000,
      300,
    ).then(async isSo => assert.ok(isSo, `${what}: ${JSON.stringify(await usage())}`));
  const kinds = async (area: 'client' | 'user') =>
    ((await call('GET', `/${area}/notices`, area)).notices as { kind: string }[])
      .map(({ kind }) => kind)
      .filter(kind => kind.startsWith('traffic'))
      .toReversed();

  await until('counted', one => one.bytes >= bodyBytes);
  const { bytes } = (await usage())!;
  // by what was used, so that one visit more warns and a few more stop it
  const trafficLimit = bytes + 4 * bodyBytes;
  await call('PUT', '/client/product', 'client', { id: productID, trafficLimit, trafficAction: 'limit' });
  assert.equal((await usage())!.state, bytes >= 0.8 * trafficLimit ? 'warning' : 'normal');
  while ((await usage())!.state === 'normal') {
    assert.equal(await status(), 200);
    const before = (await usage())!.bytes;
    await until('counted', one => one.bytes > before);
  }
  await until('warned', one => one.state === 'warning');
  assert.equal(await status(), 200, 'who is warned is served');
  for (const area of ['client', 'user'] as const)
    assert.ok(await poll(async () => (await kinds(area)).includes('trafficWarning'), 30_000, 200), `${area} is told`);

  for (let n = 0; n < 5; n++) await status();
  await until('limited', one => one.state === 'limited');
  assert.ok(await becomes(904), 'the edge answers as for a site that is not served');
  assert.equal(await status('/never-asked-before'), 904, 'neither what is cached nor what is not');
  const site = await call('GET', `/user/site/${shop.siteID}`, 'user');
  assert.equal(site.status, 'limit');
  for (const area of ['client', 'user'] as const)
    assert.ok(await poll(async () => (await kinds(area)).includes('trafficLimited'), 30_000, 200), `${area} is told`);
  const refused = await whole.call('PATCH', '/client/site/status', await whole.signIn('client'), {
    ids: [shop.siteID],
    status: 'normal',
  });
  assert.equal(refused.body.code, 205006, JSON.stringify(refused.body));

  // the very bytes that the statistics show of the month
  const now = (await usage())!;
  const info = await call('POST', '/client/statistics/info', 'client', {
    startTime: now.startTime,
    endTime: now.endTime,
    types: [2],
  });
  const counted = (await usage())!;
  // lines may have come in between
  assert.ok(
    info.data[0].total >= now.bytes && now.days.reduce((a, b) => a + b, 0) === now.bytes,
    JSON.stringify({ info, now, counted }),
  );

  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  await call('POST', '/client/extraTrafficPlan', 'client', {
    userID,
    productID,
    bytes: 50_000_000,
    startTime: at(-60_000),
    endTime: at(86_400_000),
  });
  assert.equal((await call('GET', `/user/site/${shop.siteID}`, 'user')).status, 'normal', 'with the call itself');
  assert.ok(await becomes(200), 'served again');
  assert.ok((await usage())!.planBytes === trafficLimit + 50_000_000);
});
