/** Licences: what an operator may, how long, and files that nobody can make but the vendor. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { sql } from 'kysely';
import type { LicenceFile } from '#server/kit/licence.ts';
import { Licences } from '#server/kit/licence.ts';
import { Keys } from '#server/kit/crypto.ts';
import { row } from '#server/store/db.ts';
import { broken, by, is, mark, multiple, ok } from './expect.ts';
import { Api, type Person, type Tenant } from './harness.ts';

let api: Api;
let admin: ReturnType<typeof by>;
let serial = 0;
let a: Tenant;
let op: ReturnType<typeof by>;
let user: ReturnType<typeof by>;
before(async () => {
  api = await Api.start();
  admin = by(api, await api.account('admin', 'vendor@test.test'));
});
beforeEach(async () => {
  await sql`update "licenseClock" set "seenAt" = now()`.execute(api.database.db);
  a = await api.tenant(`t${++serial}`);
  [op, user] = [by(api, a.client), by(api, a.user)];
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const none = {
  siteLimit: 0,
  nodeLimit: 0,
  zoneLimit: 0,
  domainLimit: 0,
  autoSSLLimit: 0,
  portType: '7+4',
  nodeMonitorSeconds: 0,
};
/** A licence of the vendor's, and the operator holds it. */
async function issue(limits: Record<string, unknown> = {}, to: Pick<Person, 'id'> = a.client): Promise<number> {
  const licenseID = await admin.make('/admin/license', { name: `licence ${++serial}`, days: 30, ...none, ...limits });
  ok(await admin.post('/admin/license/issuing', { licenseID, userID: to.id }));
  return licenseID;
}
const order = (limits: Record<string, unknown>) =>
  admin.put(`/admin/license/${a.client.id}/order`, { ...none, expiredAt: null, ...limits });
const past = () => new Date(Date.now() - 1000).toISOString();
const held = () => op.read('/client/license');
const newSite = (name: string) => op.post('/client/site', { siteName: name, productID: a.productID, userID: a.user.id });
const domain = (name: string) => ({ domainName: `${name}.test`, upstreams: [{ address: '192.0.2.1' }] });
const offline = async (limits: Record<string, unknown> = {}, installationID?: string) => {
  const licenseID = await admin.make('/admin/license', { name: `licence ${++serial}`, days: 30, ...none, ...limits });
  const reply = ok(
    await admin.post('/admin/license/offline/issuing', { licenseID, name: 'file', installationID: installationID ?? null }),
  );
  return { id: reply.body.ids[0] as number, file: reply.body.file as string };
};
const put = (license: string, who = op) => who.put('/offline/license', { license });
const payloadOf = (file: string): LicenceFile => JSON.parse(Buffer.from(file.split('.')[1]!, 'base64url').toString());

describe('a licence', () => {
  test('nothing was ever issued: everything is unlimited', async () => {
    const own = await held();
    assert.deepEqual([own.kind, own.state, own.licenseSetting, own.usage.sites], ['unlimited', 'valid', none, 1]);
    assert.match(own.installationID, /^([A-Z2-7]{5}-){3}[A-Z2-7]{5}$/);
    ok(await newSite('free'));
  });

  test('its names are taken once, it is found by them, and it is changed and deleted', async () => {
    const name = `Silver ${serial}`;
    const id = await admin.make('/admin/license', { name });
    is(await admin.post('/admin/license', { name: name.toLowerCase() }), 'duplicated');
    ok(await admin.put('/admin/license', { id, days: 7, siteLimit: 3 }));
    const { data } = await admin.read(`/admin/license?keyword=${name.slice(2)}`);
    assert.deepEqual([data[0].id, data[0].days, data[0].siteLimit, data[0].holders], [id, 7, 3, 0]);
    multiple(await admin.del('/admin/license', { ids: [id, 2_000_000_001] }), ['parameter', ['2000000001']]);
    is(await admin.post('/admin/license/issuing', { licenseID: id, userID: a.client.id }), 'licenseNotFound');
  });

  test('what an operator holds is shown, changed by its order alone, and compared with what one saw', async () => {
    const licenseID = await issue({ siteLimit: 5 });
    const seen = await admin.read(`/admin/license/${a.client.id}/order`);
    assert.deepEqual([seen.kind, seen.state, seen.licenseSetting.siteLimit], ['order', 'valid', 5]);
    assert.ok(Math.abs(Date.parse(seen.expiredAt) - Date.now() - 30 * 86_400_000) < 60_000, seen.expiredAt);
    // the setting alone: it ends when it did
    ok(await admin.put(`/admin/license/${a.client.id}/order`, { ...none, siteLimit: 8 }));
    const kept = await admin.read(`/admin/license/${a.client.id}/order`);
    assert.deepEqual([kept.expiredAt, kept.licenseSetting.siteLimit], [seen.expiredAt, 8]);
    ok(await order({ siteLimit: 6 }));
    const stale = await api.call('PUT', `/admin/license/${a.client.id}/order`, {
      token: (await api.account('admin', `other${serial}@test.test`)).token,
      body: { ...none, expiredAt: null, siteLimit: 7 },
      headers: { 'if-match': `"${seen.version}"` },
    });
    broken(stale, 'siteLimit', 'stale', 409);
    const fresh = await api.tenant(`fresh${++serial}`);
    // one that was never issued anything gets its first order by it
    ok(await admin.put(`/admin/license/${fresh.client.id}/order`, { ...none, expiredAt: null, siteLimit: 1 }));
    const first = await admin.read(`/admin/license/${fresh.client.id}/order`);
    assert.deepEqual([first.kind, first.state, first.licenseSetting.siteLimit], ['order', 'valid', 1]);
    const more = { siteName: 'more', productID: fresh.productID, userID: fresh.user.id };
    is(await by(api, fresh.client).post('/client/site', more), 'sitesExceeded');
    broken(await admin.post('/admin/license/issuing', { licenseID, userID: a.user.id }), 'userID', 'unknown', 404);
    is(await op.put(`/admin/license/${a.client.id}/order`, { ...none, expiredAt: null }), 'permissionDenied');
  });
});

describe('limits', () => {
  test('sites, zones, domains and certificates are bounded when they come, not when they are read or go', async () => {
    await issue({ siteLimit: 1, zoneLimit: 1, domainLimit: 2, autoSSLLimit: 1 });
    is(await newSite('second'), 'sitesExceeded');
    is(await op.post('/client/zone', { name: `second${serial}` }), 'zonesExceeded');
    const made = await user.post(`/user/site/${a.siteID}/domains`, { domains: [1, 2, 3].map(n => domain(`n${n}-${serial}`)) });
    multiple(made, ['domainsExceeded', [`n3-${serial}.test`]]);
    const { data } = await user.read(`/user/site/${a.siteID}/domains?sortBy=domainName&orderBy=asc`);
    const domainIDs = data.map((one: { id: number }) => one.id);
    const ssl = await user.patch(`/user/site/${a.siteID}/domain/setting/autoSSL`, { domainIDs, enabled: true });
    multiple(ssl, ['autoSSLExceeded', [`n2-${serial}.test`]]);
    ok(await op.patch('/client/site', { id: a.siteID, siteName: 'renamed' }));
    // fewer than there are: nothing is taken away, what is there goes on and may go
    ok(await order({ siteLimit: 1, domainLimit: 1, zoneLimit: 1 }));
    assert.equal((await user.read(`/user/site/${a.siteID}/domains`)).total, 2);
    ok(await user.patch(`/user/site/${a.siteID}/domain/setting/status`, { domainIDs: [domainIDs[0]], status: 0 }));
    is(
      await user.patch(`/user/site/${a.siteID}/domain/setting/status`, { domainIDs: [domainIDs[0]], status: 1 }),
      'domainsExceeded',
    );
    ok(await user.del(`/user/site/${a.siteID}/domains`, { ids: [domainIDs[1]] }));
    ok(await user.patch(`/user/site/${a.siteID}/domain/setting/status`, { domainIDs: [domainIDs[0]], status: 1 }));
    // 0 is no bound
    ok(await order({}));
    ok(await newSite('second'));
  });

  test('editing what is too many already is refused', async () => {
    ok(await newSite('second'));
    await issue({ siteLimit: 1 });
    is(await op.patch('/client/site', { id: a.siteID, siteName: 'other' }), 'sitesExceeded');
    is(await op.put('/client/site/expired', { ids: [a.siteID], expired: null }), 'sitesExceeded');
    is(await user.put(`/user/site/${a.siteID}/tags`, { tags: ['x'] }), 'sitesExceeded');
    assert.equal((await op.read('/client/sites')).total, 2);
  });

  test('so are domains, nodes and zones: each edit and each coming back, never what takes away', async () => {
    const site = `/user/site/${a.siteID}`;
    const made = await user.post(`${site}/domains`, { domains: [1, 2].map(n => domain(`e${n}-${serial}`)) });
    const [first, second] = ok(made).body.ids as [number, number];
    const { db } = api.database;
    const node = async (name: string, zoneID: number | null, status: string) =>
      (await row<{ id: number }>(
        db,
        sql`insert into node ("clientID", "zoneID", name, status) values (${a.client.id}, ${zoneID}, ${name}, ${status}) returning id`,
      ))!.id;
    const [paused, fresh] = [await node('paused', a.zoneID, 'paused'), await node('fresh', null, 'unknown')];
    const running = await node('running', a.zoneID, 'normal');
    const other = await op.make('/client/zone', { name: `other${serial}` });
    await issue({ domainLimit: 1, nodeLimit: 1, zoneLimit: 1 });
    const upstreams = { upstreams: [{ address: '192.0.2.2' }] };
    for (const reply of [
      await user.put(`${site}/domain/setting/tags`, { domainIDs: [first], tags: ['x'] }),
      await user.patch(`${site}/domain/setting/balance`, { domainIDs: [first], balance: 'ipHash' }),
      await user.patch(`${site}/domain/setting/forceSSL`, { domainIDs: [first], forceSSL: false }),
      await user.post(`${site}/domain/${first}/upstreams`, upstreams),
    ])
      is(reply, 'domainsExceeded');
    ok(await user.get(`${site}/domain/${first}/upstreams`));
    for (const reply of [
      await op.patch('/client/node', { id: running, name: 'renamed' }),
      await op.put('/client/nodes/memo', { ids: [running], memo: 'x' }),
      await op.patch('/client/node/status', { ids: [paused], status: 'normal' }),
      await op.post('/client/nodes/initialize', { ids: [fresh], zoneID: a.zoneID }),
      await op.post('/client/node/moveToZone', { nodeIDs: [running], zoneID: other }),
    ])
      is(reply, 'nodesExceeded');
    ok(await op.patch('/client/node/status', { ids: [running], status: 'paused' }));
    is(await op.put('/client/zone', { id: other, memo: 'x' }), 'zonesExceeded');
    is(await op.post(`/client/zone/${other}/setting/ports`, { ports: [{ port: 8081, scheme: 'http' }] }), 'zonesExceeded');
    // once there is no more than allowed it goes on
    ok(await user.del(`${site}/domains`, { ids: [second] }));
    ok(await user.put(`${site}/domain/setting/tags`, { domainIDs: [first], tags: ['x'] }));
    ok(await op.del('/client/zone', { ids: [other] }));
    ok(await op.put('/client/zone', { id: a.zoneID, memo: 'x' }));
    ok(await op.del('/client/node', { ids: [fresh, running] }));
    ok(await op.patch('/client/node/status', { ids: [paused], status: 'normal' }));
  });

  test('fifty at once take no more than there is room for', async () => {
    // of ten customers, who do not wait for each other
    const shops: { who: ReturnType<typeof by>; siteID: number }[] = [];
    for (let n = 0; n < 10; n++) {
      const person = await api.account('user', `shop${n}-${serial}@test.test`, { parentClient: a.client.id });
      const body = { siteName: `shop${n}`, productID: a.productID, userID: person.id };
      shops.push({ who: by(api, person), siteID: await op.make('/client/site', body) });
    }
    await issue({ domainLimit: 10 });
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) => {
        const { who, siteID } = shops[n % shops.length]!;
        return who.post(`/user/site/${siteID}/domains`, { domains: [domain(`many-${n}-${serial}`)] });
      }),
    );
    const good = replies.filter(one => one.status === 200);
    for (const one of replies) if (one.status !== 200) is(one, 'domainsExceeded');
    assert.equal(good.length, 10);
    assert.equal((await held()).usage.domains, 10);
  });

  test('layer 4 is closed to who may serve web sites alone: 101023', async () => {
    await sql`update product set "portType" = '7+4' where id = ${a.productID}`.execute(api.database.db);
    const ports = (port: number) => op.post(`/client/zone/${a.zoneID}/setting/ports`, { ports: [{ port, scheme: 'tcp' }] });
    ok(await ports(20_001));
    const own = await user.make(`/user/site/${a.siteID}/ports`, { ports: [{ port: 20_001, scheme: 'tcp' }] });
    await issue({ portType: '7' });
    is(await ports(20_002), 'illegalPortType');
    is(await user.post(`/user/site/${a.siteID}/ports`, { ports: [{ port: 20_001, scheme: 'tcp' }] }), 'illegalPortType');
    // one that is there is not edited either, and may go
    is(await user.put(`/user/site/${a.siteID}/port/${own}`, { memo: 'x' }), 'illegalPortType');
    ok(await user.del(`/user/site/${a.siteID}/ports`, { ids: [own] }));
    const { data } = await op.read(`/client/zone/${a.zoneID}/setting/ports`);
    const { id } = data.find((one: { port: number }) => one.port === 20_001);
    is(await op.put(`/client/zone/${a.zoneID}/setting/port`, { id, port: 20_003 }), 'illegalPortType');
  });
});

describe('the end', () => {
  test('what creates and edits is refused, for customers too; reading, deleting and a new licence are not', async () => {
    await issue();
    const since = await mark(api);
    ok(await order({ expiredAt: past() }));
    assert.equal((await held()).state, 'expired');
    is(await newSite('late'), 'licenseExpired');
    is(await user.post(`/user/site/${a.siteID}/domains`, { domains: [domain('late')] }), 'licenseExpired');
    is(await op.put('/client/zone', { id: a.zoneID, memo: 'x' }), 'licenseExpired');
    assert.equal((await user.read('/user/sites')).total, 1);
    ok(await user.put('/user/account/self', { name: 'still me' }));
    ok(await op.del('/client/site', { ids: [a.siteID] }));
    assert.ok((await since.refusals()).some(one => one.reason === 'licenseExpired'));
    ok(await order({ expiredAt: new Date(Date.now() + 60_000).toISOString() }));
    ok(await newSite('again'));
  });

  test('it ends at its very time, for who is signed in as well', async () => {
    await issue();
    ok(await order({ expiredAt: new Date(Date.now() + 1500).toISOString() }));
    ok(await op.put('/client/zone', { id: a.zoneID, memo: 'before' }));
    const until = performance.now() + 20_000;
    for (;;) {
      const reply = await op.put('/client/zone', { id: a.zoneID, memo: String(performance.now()) });
      if (reply.status !== 200) {
        is(reply, 'licenseExpired');
        break;
      }
      assert.ok(performance.now() < until, 'it never ended');
      await new Promise(done => setTimeout(done, 100));
    }
  });
});

describe('a file', () => {
  test('is registered at one installation, counts, and is seen by the vendor', async () => {
    const { file, id } = await offline({ siteLimit: 1 });
    ok(await put(file));
    const own = await held();
    assert.deepEqual([own.kind, own.state, own.licenseSetting.siteLimit], ['offline', 'valid', 1]);
    is(await newSite('second'), 'sitesExceeded');
    const { data } = await admin.read(`/admin/license/offlines?ids=${id}`);
    assert.deepEqual([data[0].installationID, data[0].registeredAt !== null], [own.installationID, true]);
    // a second operator cannot hold it too
    const other = await api.tenant(`other${++serial}`);
    is(await put(file, by(api, other.client)), 'illegalLicense');
    // nor anybody but a root
    const sub = await api.account('client', `sub${serial}@test.test`, {
      rootID: a.client.id,
      keys: ['license.view', 'license.edit'],
    });
    is(await put(file, by(api, sub)), 'permissionDenied');
    ok(await admin.del('/admin/license/offline/register', { ids: [id] }));
    assert.equal((await held()).state, 'missing');
    is(await op.put('/client/zone', { id: a.zoneID, memo: 'x' }), 'licenseNotFound', 403);
    // what was taken back does not come again by the same file
    is(await put(file), 'illegalLicense');
    is(await admin.del('/admin/license/offline/register', { ids: [id] }), 'licenseNotFound');
    const [again] = (await admin.read(`/admin/license/offlines?ids=${id}`)).data;
    ok(await put(again.file));
    ok(await admin.del('/admin/license/offline', { ids: [id] }));
    assert.equal((await held()).state, 'missing');
  });

  test('edited, of a foreign key, of another installation, or of the future: 900001', async () => {
    const { file } = await offline({ siteLimit: 1 });
    const [head, , signature] = file.split('.');
    const edited = { ...payloadOf(file), siteLimit: 0 };
    const text = Buffer.from(JSON.stringify(edited)).toString('base64url');
    is(await put(`${head}.${text}.${signature}`), 'illegalLicense');
    const unsigned = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
    is(await put(`${unsigned}.${text}.`), 'illegalLicense');
    is(await put('not a licence'), 'illegalLicense');
    const stranger = new Licences(new Keys(randomBytes(32)));
    is(await put(await stranger.sign(payloadOf(file))), 'illegalLicense');
    const trusting = new Licences(new Keys(randomBytes(32)), [stranger.publicKey]);
    assert.ok(await trusting.verify(await stranger.sign(payloadOf(file))), 'a vendor that is trusted');
    is(await put((await offline({}, stranger.installationID)).file), 'illegalLicense');
    const future = new Date(Date.now() + 3_600_000).toISOString();
    is(await put(await api.services.licences.sign({ ...payloadOf(file), issuedAt: future })), 'illegalLicense');
    is(await put(await api.services.licences.sign({ ...payloadOf(file), expiredAt: past() })), 'licenseExpired');
    assert.equal((await held()).kind, 'unlimited');
  });

  test('edited where it is stored, or brought to another installation with its database: 900001 until a good one comes', async () => {
    const { file } = await offline();
    ok(await put(file));
    const change = async (what: ReturnType<typeof sql>) => {
      await what.execute(api.database.db);
      await api.changed();
    };
    const text = Buffer.from(JSON.stringify({ ...payloadOf(file), siteLimit: 0, expiredAt: null })).toString('base64url');
    const [head, , signature] = file.split('.');
    await change(sql`update "licenseOrder" set file = ${`${head}.${text}.${signature}`} where "clientID" = ${a.client.id}`);
    is(await op.put('/client/zone', { id: a.zoneID, memo: 'x' }), 'illegalLicense', 403);
    assert.equal((await held()).state, 'illegal');
    await change(
      sql`update "licenseOrder" set file = ${file}, "installationID" = 'AAAAA-AAAAA-AAAAA-AAAAA' where "clientID" = ${a.client.id}`,
    );
    is(await op.put('/client/zone', { id: a.zoneID, memo: 'x' }), 'illegalLicense', 403);
    ok(await put((await offline()).file));
    ok(await op.put('/client/zone', { id: a.zoneID, memo: 'x' }));
  });

  test('a clock that was set back: 900001, until it is right again', async () => {
    ok(await put((await offline()).file));
    await sql`update "licenseClock" set "seenAt" = now() + interval '1 day'`.execute(api.database.db);
    await api.changed();
    is(await op.put('/client/zone', { id: a.zoneID, memo: 'y' }), 'illegalLicense', 403);
    assert.equal((await op.read('/client/zones')).total, 1);
    await sql`update "licenseClock" set "seenAt" = now()`.execute(api.database.db);
    await api.changed();
    ok(await op.put('/client/zone', { id: a.zoneID, memo: 'y' }));
  });

  test('changed by the vendor it is another file: the newer counts, the older does not come back, and layers stay as they were', async () => {
    const { id, file } = await offline({ portType: '7' });
    ok(await put(file));
    is(await admin.put('/admin/license/offline', { id, portType: '7+4' }), 'illegalPortType');
    ok(await admin.put('/admin/license/offline', { id, siteLimit: 9, portType: '7' }));
    const [changed] = (await admin.read(`/admin/license/offlines?ids=${id}`)).data;
    assert.equal(changed.revision, 2);
    ok(await put(changed.file));
    assert.equal((await held()).licenseSetting.siteLimit, 9);
    is(await put(file), 'illegalLicense');
    // a file that somebody signed all the same
    is(
      await put(await api.services.licences.sign({ ...payloadOf(changed.file), revision: 3, portType: '7+4' })),
      'illegalPortType',
    );
  });

  test('taken back, or changed, it does not come again behind another one, nor before it was ever registered, nor by whoever else', async () => {
    const [first, second, changed, unseen] = [
      await offline({ siteLimit: 9 }),
      await offline(),
      await offline({ siteLimit: 7 }),
      await offline(),
    ];
    ok(await put(first.file));
    ok(await admin.del('/admin/license/offline', { ids: [first.id] }));
    ok(await put(second.file));
    is(await put(first.file), 'illegalLicense');
    ok(await put(changed.file));
    ok(await admin.put('/admin/license/offline', { id: changed.id, siteLimit: 1 }));
    // what is held goes on until the new one comes, and is told so
    ok(await put(changed.file));
    assert.equal((await held()).licenseSetting.siteLimit, 7);
    ok(await put(second.file));
    is(await put(changed.file), 'illegalLicense');
    ok(await admin.del('/admin/license/offline', { ids: [unseen.id] }));
    const other = by(api, (await api.tenant(`other${++serial}`)).client);
    for (const one of [unseen, first, changed]) is(await put(one.file, other), 'illegalLicense');
    // its layers are known too, whoever holds it
    const text = { ...payloadOf(changed.file), revision: 3, portType: '7' as const };
    is(await put(await api.services.licences.sign(text), other), 'illegalPortType');
    ok(await put((await admin.read(`/admin/license/offlines?ids=${changed.id}`)).data[0].file, other));
    assert.equal((await held()).licenseSetting.siteLimit, 0);
  });

  test('sent by six operators at once it is held by one', async () => {
    const six = await Promise.all(
      Array.from({ length: 6 }, async (_, n) => by(api, await api.account('client', `six${n}-${serial}@test.test`))),
    );
    for (let n = 0; n < 4; n++) {
      const { file } = await offline();
      const replies = await Promise.all(six.map(one => put(file, one)));
      for (const one of replies) if (one.status !== 200) is(one, 'illegalLicense');
      assert.equal(replies.filter(one => one.status === 200).length, 1);
    }
  });
});
