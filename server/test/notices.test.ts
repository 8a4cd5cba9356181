/** What people are told: into whose inbox, in which words, once; by which mails; and what they chose. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { sealedMail } from '#server/kit/mail/send.ts';
import { rows } from '#server/store/db.ts';
import { nodeTable, productTable } from '#server/node/tables.ts';
import { siteTable } from '#server/site/tables.ts';
import { NoticeTeller } from '#server/work/notices.ts';
import { WebhookSender } from '#server/work/webhooks.ts';
import { is, ok } from './expect.ts';
import { Api, type Person, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let teller: NoticeTeller;
let helper: Person;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  helper = await api.account('client', 'helper@test.test', { rootID: a.client.id, parentID: a.client.id, keys: ['sites.view'] });
  await sql`insert into "mailServer" ("clientID", host, "fromAddress") values (${a.client.id}, 'mail.example.net', 'noreply@example.net')`.execute(
    api.database.db,
  );
  teller = new NoticeTeller(api.services, { node: nodeTable, site: siteTable, product: productTable }, { gatherSeconds: 0 });
});
after(() => api?.stop());

interface Inbox {
  notices: { id: number; kind: string; count: number; sentence: string; detail: string; readAt: string | null }[];
  unread: number;
}
const inbox = async (person: Person, query = ''): Promise<Inbox> =>
  (await api.call('GET', `/${person.area}/notices${query}`, { token: person.token })).body as Inbox;
const unread = async (person: Person) =>
  (await api.call('GET', `/${person.area}/notices/unread`, { token: person.token })).body.unread as number;
const post = (person: Person, what: string, body: object) =>
  api.call('POST', `/${person.area}/notices/${what}`, { token: person.token, body });
/** Mails that wait, opened. */
const mails = async () =>
  (await rows<{ message: string }>(api.database.db, sql`select message from mail order by id`)).map(
    ({ message }) =>
      JSON.parse(sealedMail(api.services.sealing).open('message', message)!) as {
        to: string;
        data: { title: string; lines: string[]; link: string };
      },
  );
const nodes: number[] = [];
const setNodes = (status: string, ids: readonly number[]) =>
  sql`update node set status = ${status} where id = any(${[...ids]}::bigint[])`.execute(api.database.db);

test('nodes that go are one line that counts them, for whoever may see nodes, and for nobody else', async () => {
  for (let n = 1; n <= 7; n++) {
    const [made] = await rows<{ id: number }>(
      api.database.db,
      sql`insert into node ("clientID", "zoneID", name, status) values (${a.client.id}, ${a.zoneID}, ${`edge-${n}`}, 'normal') returning id`,
    );
    nodes.push(made!.id);
  }
  await setNodes('offline', nodes);
  // told again by whoever writes the row, and nothing new
  await setNodes('offline', nodes);
  await teller.look();
  await teller.look();
  const mine = await inbox(a.client);
  assert.deepEqual(
    mine.notices.map(({ kind, count, sentence }) => [kind, count, sentence]),
    [['nodeOffline', 7, '7 nodes are offline: edge-1, edge-2, edge-3, edge-4, edge-5 …']],
  );
  assert.equal(mine.unread, 1);
  assert.deepEqual(await inbox(helper), { notices: [], unread: 0 });
  assert.deepEqual(await inbox(a.user), { notices: [], unread: 0 });
  const b = await api.tenant('b');
  assert.equal(await unread(b.client), 0);
  const zh = await api.call('GET', '/client/notices', { token: a.client.token, headers: { 'accept-language': 'zh-TW' } });
  assert.match(zh.body.notices[0].sentence, /^7 個節點離線：edge-1、/);
});

test('whoever sees some zones alone is told of the nodes in them', async () => {
  const { db } = api.database;
  const z = await api.tenant('zones');
  const of = (email: string) =>
    api.account('client', email, { rootID: z.client.id, parentID: z.client.id, keys: ['nodes.view'] });
  const [inside, outside] = [await of('inside@test.test'), await of('outside@test.test')];
  await sql`insert into "zoneAccount" ("zoneID", "accountID") values (${z.zoneID}, ${inside.id})`.execute(db);
  await sql`insert into node ("clientID", "zoneID", name, status) select ${z.client.id}, ${z.zoneID}, 'far-' || n, 'normal'
    from generate_series(1, 300) n`.execute(db);
  await sql`update node set status = 'offline' where "clientID" = ${z.client.id} and name like 'far-%'`.execute(db);
  await teller.look();
  for (const person of [z.client, inside]) {
    const { notices, unread: fresh } = await inbox(person);
    assert.deepEqual([notices.map(({ kind, count }) => [kind, count]), fresh], [[['nodeOffline', 300]], 1]);
  }
  assert.deepEqual(await inbox(outside), { notices: [], unread: 0 });
  // their mails are none of the next test's
  await sql`delete from mail where "clientID" = ${z.client.id}`.execute(db);
});

test('one mail of all that came, in the reader’s language; the next one waits for its time', async () => {
  const [mail, ...others] = await mails();
  assert.deepEqual([mail!.to, others.length], [a.client.email, 0]);
  assert.match(mail!.data.title, /7 個節點離線/, 'their language is the default one');
  assert.equal(mail!.data.link, 'http://console.test/client');
  await sql`delete from mail`.execute(api.database.db);
  await setNodes('normal', nodes);
  await setNodes('offline', nodes.slice(0, 1));
  await teller.look();
  assert.deepEqual(await mails(), [], 'five minutes have not passed');
  await sql`update "noticePerson" set "mailedAt" = now() - interval '6 minutes'`.execute(api.database.db);
  await sql`update account set status = 'lock' where id = ${helper.id}`.execute(api.database.db);
  await teller.look();
  const [next] = await mails();
  assert.equal(next!.data.lines.length, 1, 'neither a node that is back nor a lock is mailed unasked');
  assert.deepEqual(
    (await inbox(a.client)).notices.map(({ kind, sentence }) => `${kind} ${sentence}`),
    [
      'accountLocked Account locked: helper@test.test',
      'nodeBack 7 nodes are back: edge-1, edge-2, edge-3, edge-4, edge-5 …',
      'nodeOffline 8 nodes are offline: edge-1, edge-2, edge-3, edge-4, edge-5 …',
    ],
  );
  await sql`delete from mail`.execute(api.database.db);
});

test('read up to what was seen, on every device; what comes then is another', async () => {
  const { notices } = await inbox(a.client);
  const [newest, , oldest] = notices;
  assert.equal((await post(a.client, 'read', { upTo: oldest!.id })).body.unread, 2);
  await setNodes('normal', nodes);
  await setNodes('offline', nodes.slice(0, 1));
  await teller.look();
  const now = await inbox(a.client);
  assert.deepEqual([now.notices[0]!.sentence, now.notices[0]!.count], ['1 node is offline: edge-1', 1]);
  assert.equal(await unread(a.client), 3);
  assert.deepEqual(
    (await inbox(a.client, `?before=${newest!.id}`)).notices.map(({ id }) => id),
    notices.slice(1).map(({ id }) => id),
  );
  // somebody else's are nobody's
  assert.equal((await post(a.user, 'read', { upTo: 1_000_000 })).body.unread, 0);
  assert.equal(await unread(a.client), 3);
});

test('whoever acts in another’s name reads their inbox, and neither empties nor silences it; a choice of one’s own stands in the audit', async () => {
  const { accessToken: token } = (await api.call('POST', '/client/proxy', { token: a.client.token, body: { id: a.user.id } }))
    .body;
  await sql`insert into notice ("accountID", kind, names, "isShown", "mailDue")
    values (${a.user.id}, 'originDown', '["shop"]', true, false)`.execute(api.database.db);
  const silent = { kind: 'trafficLimited', inbox: false, mail: false };
  const acting = { ...a.user, token };
  assert.equal(await unread(acting), 1);
  is(await post(acting, 'read', { upTo: 1_000_000 }), 'permissionDenied');
  is(await post(acting, 'choices', { choices: [silent] }), 'permissionDenied');
  assert.equal(await unread(a.user), 1);
  ok(await post(a.user, 'choices', { choices: [silent] }));
  const lines = await rows<{ status: number; proxyName: string | null; changes: unknown[] }>(
    api.database.db,
    sql`select status, "proxyName", changes from audit where url = '/api/v1/user/notices/choices' order by id`,
  );
  assert.deepEqual(
    lines.map(({ status, proxyName, changes }) => [status, proxyName, changes.length]),
    [
      [403, a.client.email, 0],
      [200, null, 1],
    ],
  );
  ok(await post(a.user, 'choices', { choices: [{ ...silent, inbox: true, mail: true }] }));
  ok(await post(a.user, 'read', { upTo: 1_000_000 }));
  await sql`delete from notice where "accountID" = ${a.user.id}`.execute(api.database.db);
});

test('each person chooses by kind, of what the person may see', async () => {
  const choices = async (person: Person) =>
    (await api.call('GET', `/${person.area}/notices/choices`, { token: person.token })).body.choices as {
      kind: string;
      inbox: boolean;
      mail: boolean;
    }[];
  assert.deepEqual(
    (await choices(a.user)).map(({ kind }) => kind),
    [
      'certificateFailed',
      'certificateEnds',
      'originDown',
      'originBack',
      'trafficWarning',
      'trafficUsedUp',
      'trafficLimited',
      'accountLocked',
      'accountEnds',
      'newDevice',
    ],
  );
  assert.equal((await post(a.client, 'choices', { choices: [{ kind: 'nodeOffline', inbox: false, mail: false }] })).status, 200);
  assert.equal((await post(a.client, 'choices', { choices: [{ kind: 'accountLocked', inbox: true, mail: true }] })).status, 200);
  const chosen = Object.fromEntries((await choices(a.client)).map(({ kind, ...rest }) => [kind, rest]));
  assert.deepEqual(
    [chosen['nodeOffline'], chosen['accountLocked']],
    [
      { inbox: false, mail: false },
      { inbox: true, mail: true },
    ],
  );
  assert.equal((await post(a.client, 'choices', { choices: [{ kind: 'nothing', inbox: true, mail: true }] })).status, 400);
  const before = await unread(a.client);
  await setNodes('normal', nodes.slice(0, 1));
  await setNodes('offline', nodes.slice(0, 2));
  await teller.look();
  assert.equal(await unread(a.client), before, 'nodes that are back joined their line');
});

test('a licence and a certificate that end are told at each step, once; one that could not be had once a day, to both it concerns', async () => {
  const { db } = api.database;
  await sql`insert into "licenseOrder" ("clientID", kind, name, "expiredAt") values (${a.client.id}, 'order', 'Large', now() + interval '20 days')
    on conflict ("clientID") do update set "expiredAt" = excluded."expiredAt", kind = 'order', name = 'Large'`.execute(db);
  const domain = await rows<{ id: number }>(
    db,
    sql`insert into domain ("siteID", "domainName", status) values (${a.siteID}, 'www.notices.test', 1) returning id`,
  );
  await sql`insert into "autoCertificate" ("domainID", provider, state) values (${domain[0]!.id}, 'letsEncrypt', 'processing')`.execute(
    db,
  );
  // uploaded, shown to visitors, and nobody makes another
  await sql`with made as (
      insert into certificate ("siteID", "sslName", names, issuer, serial, fingerprint, "keyType", "keyBits", "notBefore", "notAfter", "isWhole", leaf, issuers, "privateKey")
      values (${a.siteID}, 'x', '{www.notices.test}', 'x', '1', 'x', 'rsa', 2048, now(), now() + interval '6 days', true, 'x', '[]', 'x') returning id)
    update domain set "certificateID" = made.id from made where domain.id = ${domain[0]!.id}`.execute(db);
  for (let n = 0; n < 2; n++) {
    await sql`update "autoCertificate" set state = 'processing'`.execute(db);
    await sql`update "autoCertificate" set state = 'fail', error = 'no such name'`.execute(db);
    await teller.scan();
    await teller.look();
  }
  const of = async (person: Person) =>
    (await inbox(person)).notices
      .filter(({ kind }) => /^(certificate|licence)/.test(kind))
      .map(({ sentence, detail }) => [sentence, detail] as const);
  assert.deepEqual((await of(a.client)).map(([sentence]) => sentence).sort(), [
    'A certificate ends soon and does not renew by itself: www.notices.test',
    'No certificate could be had for www.notices.test',
    'The license ends soon: Large',
  ]);
  assert.deepEqual(
    (await of(a.user)).find(([sentence]) => sentence.startsWith('No ')),
    ['No certificate could be had for www.notices.test', 'no such name'],
  );
  assert.equal((await of(a.user)).length, 2);
  // nearer
  await post(a.client, 'read', { upTo: 1_000_000 });
  await sql`update "licenseOrder" set "expiredAt" = now() + interval '5 days'`.execute(db);
  await teller.scan();
  await teller.look();
  assert.equal((await of(a.client)).filter(([sentence]) => sentence.startsWith('The license')).length, 2);
});

test('an address that does not answer is asked once at a time, and keeps nobody waiting', async () => {
  let [now, most, asked] = [0, 0, 0];
  const server = createServer((_, response) => {
    most = Math.max(most, ++now);
    asked++;
    setTimeout(() => (now--, response.writeHead(500).end()), 100);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { db } = api.database;
  const c = await api.tenant('slow');
  const sender = new WebhookSender(api.services);
  const body = {
    enable: true,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    secret: 'a secret of many letters',
    kinds: [],
  };
  try {
    assert.equal((await api.call('PUT', '/client/setting/webhook', { token: c.client.token, body })).status, 200);
    await sql`insert into "webhookDelivery" ("webhookID", kind, body) select id, 'nodeOffline', '{}' from webhook, generate_series(1, 20)
      where "accountID" = ${c.client.id}`.execute(db);
    await sender.look();
    assert.deepEqual([most, asked], [1, 1]);
    // what cannot be opened is a try as well
    await sql`update webhook set secret = 'nonsense' where "accountID" = ${c.client.id}`.execute(db);
    await sql`update "webhookDelivery" set "nextAt" = now(), attempts = 7 where state = 'waiting'`.execute(db);
    await sender.look();
    const failed = await rows(db, sql`select id from "webhookDelivery" where state = 'failed' and problem like 'It could not%'`);
    assert.equal(failed.length, 1);
    await sql`delete from webhook where "accountID" = ${c.client.id}`.execute(db);
  } finally {
    await sender.stop();
    server.close();
  }
});

test('a webhook is told with a signature that holds, again after a refusal, never inside the house; each telling is shown', async () => {
  const got: { headers: IncomingHttpHeaders; body: string }[] = [];
  let answer = 500;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', part => (body += part));
    request.on('end', () => {
      got.push({ headers: request.headers, body });
      response.writeHead(answer, { location: 'http://127.0.0.1:1/' }).end('as it\nis');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { db } = api.database;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const secret = 'a secret of many letters';
  const put = (body: object, person: Person = a.client) =>
    api.call('PUT', `/${person.area}/setting/webhook`, {
      token: person.token,
      body: { enable: true, url, secret, kinds: [], ...body },
    });
  const read = async () => (await api.call('GET', '/client/setting/webhook', { token: a.client.token })).body;
  const sender = new WebhookSender(api.services);
  try {
    const refusals = [
      { url: 'http://169.254.169.254/x' },
      { url: 'http://u:p@hooks.test/' },
      { url: 'ftp://hooks.test/' },
      { secret: 'short' },
      { url: '' },
    ];
    for (const refused of refusals) assert.equal((await put(refused)).status, 400, JSON.stringify(refused));
    assert.equal((await api.call('POST', '/client/setting/webhook/test', { token: a.client.token })).status, 400);
    assert.equal((await put({ kinds: ['nodeOffline'] })).status, 200);
    await setNodes('normal', nodes);
    await setNodes('offline', nodes.slice(0, 1));
    await teller.look();
    await sender.look();
    assert.equal(got.length, 1, 'nodes that are back are not asked for');
    const [first] = (await read()).deliveries;
    assert.deepEqual(
      [first.kind, first.state, first.attempts, first.status, first.answer],
      ['nodeOffline', 'waiting', 1, 500, 'as it is'],
    );
    await sender.look();
    assert.equal(got.length, 1, 'it is not its time');
    answer = 302;
    const due = () => sql`update "webhookDelivery" set "nextAt" = now() where state = 'waiting'`.execute(db);
    await due();
    await sender.look();
    assert.equal((await read()).deliveries[0].status, 302, 'no redirect is followed');
    answer = 204;
    await due();
    await sender.look();
    assert.deepEqual([(await read()).deliveries[0].state, got.length], ['done', 3]);
    for (const { headers, body } of got) {
      const timestamp = String(headers['breakwater-timestamp']);
      // as a receiver reckons it
      const mac = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
      assert.equal(headers['breakwater-signature'], `v1=${mac}`);
      assert.ok(Math.abs(Number(timestamp) - Date.now() / 1000) < 120);
      assert.equal(headers['breakwater-delivery'], String(first.id), 'the same each time');
      const { event, name, time } = JSON.parse(body) as Record<string, string>;
      assert.deepEqual([event, name], ['nodeOffline', 'edge-1']);
      assert.ok(!Number.isNaN(Date.parse(time!)));
    }
    // what was allowed when it was saved is judged again
    assert.equal((await api.call('POST', '/client/setting/webhook/test', { token: a.client.token })).status, 200);
    await sql`delete from setting where key = 'originEnvironment'`.execute(db);
    await sender.look();
    const [kept] = (await read()).deliveries;
    assert.deepEqual([kept.kind, kept.status, /may not be connected to/.test(kept.problem), got.length], ['test', null, true, 3]);
    // tried eight times, then left
    await sql`update "webhookDelivery" set attempts = 7, "nextAt" = now() where state = 'waiting'`.execute(db);
    await sender.look();
    assert.equal((await read()).deliveries[0].state, 'failed');
    assert.ok(!JSON.stringify(await read()).includes(secret));
    await sql`insert into "webhookDelivery" ("webhookID", kind, body) select "webhookID", 'test', '' from "webhookDelivery", generate_series(1, 1000) where id = ${kept.id}`.execute(
      db,
    );
    const { errorData } = (await api.call('POST', '/client/setting/webhook/test', { token: a.client.token })).body;
    assert.deepEqual(errorData, [{ path: 'url', rule: 'tooManyDeliveries', bounds: { n: 1000 } }], 'full, and not off');
  } finally {
    await sender.stop();
    server.close();
  }
});
