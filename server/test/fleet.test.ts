/** The fleet at one look: figures are what nodes report and ship, places are their operator's, and a change says which node lags and why. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { type Analytics, analytics } from '#server/store/analytics/client.ts';
import { migrateAnalytics } from '#server/store/analytics/migrate.ts';
import { row } from '#server/store/db.ts';
import { Beat, judge } from '#server/bus/said.ts';
import { accessRow } from '#system/access-row.ts';
import { clickhouse } from '#system/engines.ts';
import { broken, by, is, multiple, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let db: Analytics;
let own: Tenant;
let other: Tenant;
before(async () => {
  db = analytics(await clickhouse());
  await migrateAnalytics(db);
  api = await Api.start({ analytics: db });
  [own, other] = [await api.tenant('own'), await api.tenant('other')];
});
after(async () => {
  await api?.stop();
  db?.close();
});

let serial = 0;
const node = async (of: Tenant, values: Record<string, unknown> = {}): Promise<number> => {
  const all = {
    clientID: of.client.id,
    zoneID: of.zoneID,
    name: `n${++serial}`,
    status: 'normal',
    publicKey: `U${serial}`,
    ...values,
  };
  const made = await row<{ id: number }>(
    api.database.db,
    sql`insert into node (${sql.join(Object.keys(all).map(name => sql.ref(name)))}) values (${sql.join(Object.values(all))}) returning id`,
  );
  return made!.id;
};
// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect
const seen = async (of: Tenant, id: number, path = '/client/nodes/fleet'): Promise<any> =>
  (await by(api, of.client).read(path)).nodes.find((one: { id: number }) => one.id === id);

test('each node with what it says, what it lags and what it does; another operator’s is not among them', async () => {
  const checks = [
    { id: 'disk', state: 'warn', reason: 'disk.low', params: { freeMB: 1, wantedMB: 2 }, since: new Date().toISOString() },
  ];
  const beat = JSON.stringify({ problem: null, checks, disk: { freeBytes: 250, totalBytes: 1000 } });
  const id = await node(own, { beat, version: '1.2.3', lastBeat: new Date() });
  const quiet = await node(own, { beat: JSON.stringify({ disk: { freeBytes: -1, totalBytes: 'x' }, problem: 'nginx is away' }) });
  const foreign = await node(other);
  const now = Date.now();
  const line = (bytes: number, more: Record<string, string | number>) =>
    accessRow(now, own.siteID, bytes, 'a.test', { node: id, ...more });
  await db.insert(
    'access_in',
    'TSV',
    Buffer.from(
      [
        line(1000, { cache: 'HIT' }),
        line(2000, { cache: 'MISS' }),
        line(3000, { cache: 'STALE' }),
        line(0, { status: 502 }),
      ].join('') +
        // what is older than the shares' time, or another node's, counts for nothing here
        accessRow(now - 420_000, own.siteID, 5e9, 'a.test', { node: id }) +
        accessRow(now, other.siteID, 7, 'b.test', { node: foreign }),
    ),
    { async_insert: 0 },
  );
  const found = await seen(own, id);
  assert.equal(found.version, '1.2.3');
  assert.deepEqual(found.disk, { freeBytes: 250, totalBytes: 1000 });
  assert.equal(found.troubles.length, 1);
  assert.match(found.troubles[0], /\d/);
  assert.equal(found.traffic.hitShare, 0.5);
  assert.equal(found.traffic.errors, 1);
  assert.equal(found.traffic.errorShare, 0.25);
  assert.ok(found.traffic.bitsPerSecond >= Math.floor((6000 * 8) / 121) && found.traffic.bitsPerSecond <= (6000 * 8) / 60);
  assert.equal(found.place, null);
  const still = await seen(own, quiet);
  assert.deepEqual(still.troubles, ['nginx is away']);
  assert.equal(still.disk, null, 'what it says is no number of bytes');
  assert.deepEqual(still.traffic, { bitsPerSecond: 0, requestsPerSecond: 0, hitShare: null, errors: 0, errorShare: null });
  assert.equal(await seen(own, foreign), undefined);
  is(await by(api, own.client).get(`/client/nodes/fleet?zoneID=${other.zoneID}`), 'parameter', 404);
  assert.equal(await seen(own, id, `/client/nodes/fleet?zoneID=${own.zoneID}`).then(one => one.id), id);
});

test('a relay that half of the edges pass by has that among its troubles, and a paused node that says nothing any more', async () => {
  const zoneID = await by(api, own.client).make('/client/zone', { name: 'relays' });
  const relay = await node(own, { zoneID, type: 'relay' });
  const why = { id: relay, since: new Date().toISOString(), why: 'ECONNREFUSED' };
  const away = JSON.stringify({ relaysAway: [why] });
  const edges = [await node(own, { zoneID }), await node(own, { zoneID }), await node(own, { zoneID, beat: away })];
  // neither silent edges nor other zones' count
  await node(own, { zoneID, status: 'offline', beat: away });
  await node(own, { beat: away });
  assert.deepEqual((await seen(own, relay)).troubles, [], 'one edge of three may be cut off by itself');
  await sql`update node set beat = ${away}::jsonb where id = ${edges[0]}`.execute(api.database.db);
  const [said] = (await seen(own, relay)).troubles;
  assert.match(said, /2 of the 3 edges.*ECONNREFUSED/);
  assert.deepEqual((await seen(own, edges[0]!)).troubles, []);
  const paused = await node(own, { zoneID, status: 'paused', silentSince: new Date(Date.now() - 60_000) });
  assert.match((await seen(own, paused)).troubles[0], /has not been heard of for 6\d s/);
});

test('a node lags by what was published after what it serves, since the first of it', async () => {
  const id = await node(own, { appliedSeq: 5, appliedEpoch: 'e' });
  const sites = [
    own.siteID,
    await by(api, own.client).make('/client/site', { siteName: 'lags', productID: own.productID, userID: own.user.id }),
  ];
  const saved = new Date(Date.now() - 60_000);
  for (const [i, siteID] of sites.entries())
    await sql`insert into publication ("siteID", revision, "zoneID", seq, "committedAt") values (${siteID}, 1, ${own.zoneID}, ${6 + i}, ${new Date(saved.getTime() + i * 1000)})
      on conflict ("siteID") do update set "zoneID" = excluded."zoneID", seq = excluded.seq, "committedAt" = excluded."committedAt"`.execute(
      api.database.db,
    );
  const found = await seen(own, id);
  assert.equal(found.behind, 2);
  assert.equal(found.behindSince, saved.toISOString());
  await sql`update node set "appliedSeq" = 7 where id = ${id}`.execute(api.database.db);
  assert.deepEqual([(await seen(own, id)).behind, (await seen(own, id)).behindSince], [0, null]);
  await sql`delete from publication`.execute(api.database.db);
});

test('a place is said of many nodes at once, is judged, and can be taken away', async () => {
  const ids = [await node(own), await node(own)];
  const foreign = await node(other);
  const client = by(api, own.client);
  const place = { name: '臺北', latitude: 25.03, longitude: 121.56 };
  ok(await client.put('/client/nodes/place', { ids, place }));
  for (const id of ids) assert.deepEqual((await seen(own, id)).place, place);
  for (const wrong of [
    { ...place, latitude: 90.1 },
    { ...place, longitude: -181 },
    { ...place, latitude: 'north' },
  ])
    broken(
      await client.put('/client/nodes/place', { ids, place: wrong }),
      wrong.longitude === -181 ? 'place.longitude' : 'place.latitude',
    );
  broken(await client.put('/client/nodes/place', { ids, place: { ...place, name: ' ' } }), 'place.name');
  multiple(await client.put('/client/nodes/place', { ids: [ids[0], foreign], place: null }), ['parameter', [String(foreign)]]);
  assert.equal((await seen(own, ids[0]!)).place, null);
  assert.deepEqual((await seen(own, ids[1]!)).place, place);
});

test('of a change it is told which node lags and why; what a node says itself is its operator’s to read', async () => {
  const a = await api.tenant('lag');
  await sql`insert into "busStream" (name, epoch, "lastSeq") values ('CFG', 'e', 1) on conflict (name) do update set epoch = 'e'`.execute(
    api.database.db,
  );
  const fresh = { lastBeat: new Date(), appliedEpoch: 'e' };
  const silent = new Date(Date.now() - 60_000);
  const refused = JSON.stringify([{ subject: `cfg.${a.zoneID}.site.${a.siteID}`, seq: 3, why: 'too new' }]);
  const doc = (id: number) =>
    sql`insert into published (kind, "entityID", "zoneID", "siteID", subject, hash, seq, inherited, n, body)
      values ('site', ${id}, ${a.zoneID}, ${id}, ${`cfg.${a.zoneID}.site.${id}`}, 'h', 1, '', 3, '{}')`.execute(api.database.db);
  await doc(a.siteID);
  const named = {
    refused: await node(a, { ...fresh, refused }),
    offline: await node(a, { ...fresh, lastBeat: silent, status: 'offline' }),
    paused: await node(a, { ...fresh, lastBeat: silent, status: 'paused' }),
    bus: await node(a, { ...fresh, lastBeat: silent, status: 'natsError' }),
    ill: await node(a, { ...fresh, beat: JSON.stringify({ problem: 'the disk is full' }), status: 'error' }),
    reading: await node(a, { ...fresh, appliedEpoch: 'before' }),
    behind: await node(a, { ...fresh, appliedSeq: 2 }),
    there: await node(a, { ...fresh, appliedSeq: 4 }),
  };
  const published = async (revision: number) =>
    sql`insert into publication ("siteID", revision, "zoneID", seq, "committedAt") values (${a.siteID}, ${revision}, ${a.zoneID}, 4, now())
      on conflict ("siteID") do update set revision = excluded.revision, seq = 4`.execute(api.database.db);
  const revision = (await row<{ revision: number }>(api.database.db, sql`select revision from site where id = ${a.siteID}`))!
    .revision;
  await published(revision);
  await sql`insert into ack ("nodeID", "siteID", revision, ms) values (${named.there}, ${a.siteID}, ${revision}, 5)`.execute(
    api.database.db,
  );
  const lags = async (area: 'client' | 'user') => {
    const told = await by(api, a[area]).read(`/${area}/site/${a.siteID}/applied`);
    const of = (id: number) => told.perNode.find((one: { nodeID: number }) => one.nodeID === id).lag;
    return Object.fromEntries(Object.entries(named).map(([name, id]) => [name, of(id)]));
  };
  const told = await lags('client');
  assert.deepEqual(Object.fromEntries(Object.entries(told).map(([name, lag]) => [name, lag?.why])), {
    refused: 'refused',
    offline: 'offline',
    paused: 'offline',
    bus: 'bus',
    ill: 'ill',
    reading: 'reading',
    behind: 'behind',
    there: undefined,
  });
  assert.match(told['refused'].detail, /site.*too new/);
  assert.equal(told['ill'].detail, 'the disk is full');
  assert.equal(told['offline'].since, silent.toISOString());
  assert.deepEqual([told['behind'].count, typeof told['behind'].since], [1, 'string']);
  const customer = await lags('user');
  assert.deepEqual([customer['refused'].detail, customer['ill'].detail, customer['bus'].why], ['', '', 'offline']);
  // saved, and not on the bus yet
  await published(revision - 1);
  assert.equal((await lags('client'))['behind'].why, 'unpublished');
});

test('what a node says of its disk is judged', () => {
  const beat = { seq: 0, epoch: '', zoneID: null, version: '1', startedAt: '', problem: null };
  const said = (disk: unknown) => judge('beat', Beat, Buffer.from(JSON.stringify({ ...beat, disk })));
  assert.deepEqual(said({ freeBytes: 1, totalBytes: 2, more: 3 }).disk, { freeBytes: 1, totalBytes: 2 });
  assert.throws(() => said({ freeBytes: -1, totalBytes: 2 }), /disk/);
});
