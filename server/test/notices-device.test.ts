/** A sign-in from a device that was not seen before, as people are told of it in the console and by HTTP; mails: own-sessions.test.ts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { nodeTable, productTable } from '#server/node/tables.ts';
import { siteTable } from '#server/site/tables.ts';
import { NoticeTeller } from '#server/work/notices.ts';
import { Api, password, type Person, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let teller: NoticeTeller;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  teller = new NoticeTeller(api.services, { node: nodeTable, site: siteTable, product: productTable }, { gatherSeconds: 0 });
});
after(() => api?.stop());

interface Inbox {
  notices: { kind: string; count: number; sentence: string; detail: string }[];
}
const inbox = async (person: Person): Promise<Inbox> =>
  (await api.call('GET', `/${person.area}/notices`, { token: person.token })).body as Inbox;
const post = (person: Person, what: string, body: object) =>
  api.call('POST', `/${person.area}/notices/${what}`, { token: person.token, body });

test('a new device is told to its person alone, and to the webhook of their root where it was chosen; the mail is the account’s own choice', async () => {
  const { db } = api.database;
  const [one, other] = await Promise.all(
    ['one', 'other'].map(name => api.account('user', `${name}-device@test.test`, { rootID: a.user.id, parentID: a.user.id })),
  );
  await sql`update account set "firstSignInAt" = now() where id in (${one!.id}, ${a.user.id})`.execute(db);
  const signIn = async (person: Person, agent: string) =>
    assert.equal(
      (
        await api.call('POST', `/${person.area}/verify`, {
          body: { email: person.email, password },
          headers: { 'user-agent': agent },
        })
      ).status,
      200,
    );
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
  const told = async (person: Person) => (await inbox(person)).notices.filter(({ kind }) => kind === 'newDevice');
  await sql`insert into webhook ("accountID", enable, url, secret, kinds) values (${a.user.id}, true, 'https://hook.example.net',
    ${api.services.sealing.seal('webhook.secret', 'a secret of theirs')}, '{newDevice}'),
    (${a.client.id}, true, 'https://all.example.net', ${api.services.sealing.seal('webhook.secret', 'another')}, '{}')`.execute(
    db,
  );
  await signIn(one!, firefox);
  await teller.look();
  const { rows: deliveries } = await sql<{ body: string }>`select body from "webhookDelivery"`.execute(db);
  assert.deepEqual(
    deliveries.map(({ body }) => JSON.parse(body)).map(({ event, name, detail }) => [event, name, detail]),
    [['newDevice', one!.email, 'Firefox 140, Linux, 127.0.0.1']],
  );
  assert.deepEqual(
    (await told(one!)).map(({ sentence, detail, count }) => [sentence, detail, count]),
    [[`Signed in from a new device: ${one!.email}`, 'Firefox 140, Linux, 127.0.0.1', 1]],
  );
  assert.deepEqual([await told(other!), await told(a.user), await told(a.client)], [[], [], []]);
  const newest = async () => {
    const { rows: found } = await sql<{
      mail: boolean;
      due: boolean;
    }>`select (select "newDeviceMail" from account where id = ${one!.id}) as mail,
      coalesce(bool_or("mailDue"), false) as due from notice where "accountID" = ${one!.id} and kind = 'newDevice'`.execute(db);
    return found[0]!;
  };
  assert.deepEqual(await newest(), { mail: true, due: false }, 'the mail about it went at once');
  assert.equal((await post(one!, 'choices', { choices: [{ kind: 'newDevice', inbox: false, mail: false }] })).status, 200);
  const { choices } = (await api.call('GET', '/user/notices/choices', { token: one!.token })).body as {
    choices: { kind: string; inbox: boolean; mail: boolean }[];
  };
  assert.deepEqual(
    choices.filter(({ kind }) => kind === 'newDevice'),
    [{ kind: 'newDevice', inbox: false, mail: false }],
  );
  assert.equal((await newest()).mail, false);
  const audit = await sql<{ n: number }>`select count(*)::int as n from audit where url like '%/notices/choices'
    and changes::text like '%newDeviceMail%'`.execute(db);
  assert.equal(audit.rows[0]!.n, 1);
  await signIn(one!, 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1');
  await teller.look();
  assert.equal((await told(one!)).length, 1);
  // whoever acts in their name is not offered it, and silences nothing
  const { accessToken: token } = (await api.call('POST', '/user/proxy', { token: a.user.token, body: { id: one!.id } })).body;
  const theirs = (await api.call('GET', '/user/notices/choices', { token })).body.choices as { kind: string }[];
  assert.ok(!theirs.some(({ kind }) => kind === 'newDevice'));
  const silenced = { choices: [{ kind: 'newDevice', inbox: false, mail: false }] };
  assert.equal((await api.call('POST', '/user/notices/choices', { token, body: silenced })).status, 403);
});
