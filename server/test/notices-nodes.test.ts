/** When people are told that a node is gone, and that it is back: once each, whatever it was in between. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { nodeTable, productTable } from '#server/node/tables.ts';
import { siteTable } from '#server/site/tables.ts';
import { rows } from '#server/store/db.ts';
import { NoticeTeller } from '#server/work/notices.ts';
import { Api, type Person } from './harness.ts';

let api: Api;
let teller: NoticeTeller;
before(async () => {
  api = await Api.start();
  teller = new NoticeTeller(api.services, { node: nodeTable, site: siteTable, product: productTable }, { gatherSeconds: 0 });
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});
const inbox = async (person: Person) =>
  (await api.call('GET', `/${person.area}/notices`, { token: person.token })).body as {
    notices: { kind: string; sentence: string }[];
  };

test('a paused node that falls silent is told like any other, once, and so is that it is back', async () => {
  const { db } = api.database;
  const z = await api.tenant('paused');
  const [made] = await rows<{ id: number }>(
    db,
    sql`insert into node ("clientID", "zoneID", name, status) values (${z.client.id}, ${z.zoneID}, 'spare', 'paused') returning id`,
  );
  const set = async (silentSince: string | null) => {
    await sql`update node set "silentSince" = ${silentSince} where id = ${made!.id}`.execute(db);
    await teller.look();
    return (await inbox(z.client)).notices.map(({ kind, sentence }) => `${kind} ${sentence}`);
  };
  const [first] = await set('2026-01-01T00:00:00Z');
  assert.match(first!, /^nodeOffline .*spare/);
  assert.equal((await set('2026-01-01T00:00:01Z')).length, 1);
  assert.match((await set(null))[0]!, /^nodeBack .*spare/);
});

test('a node is told to be back once, from whatever it was in between, and never if nobody heard that it was gone', async () => {
  const { db } = api.database;
  const z = await api.tenant('between');
  const inside = await api.account('client', 'between@test.test', {
    rootID: z.client.id,
    parentID: z.client.id,
    keys: ['nodes.view'],
  });
  await sql`insert into "zoneAccount" ("zoneID", "accountID") values (${z.zoneID}, ${inside.id})`.execute(db);
  const told = async (name: string, steps: string[]) => {
    await sql`delete from notice`.execute(db);
    await sql`insert into node ("clientID", "zoneID", name, status, "lastBeat") values (${z.client.id}, ${z.zoneID}, ${name}, 'normal', now())`.execute(
      db,
    );
    for (const step of steps) {
      const change =
        step === 'heard' ? sql`"silentSince" = null` : step === 'silent' ? sql`"silentSince" = now()` : sql`status = ${step}`;
      await sql`update node set ${change} where name = ${name}`.execute(db);
    }
    await teller.look();
    const of = async (person: typeof inside) => (await inbox(person)).notices.map(({ kind }) => kind).toReversed();
    const [root, sub] = [await of(z.client), await of(inside)];
    assert.deepEqual(sub, root, 'whoever sees its zone hears what the root hears');
    return root.join(' ');
  };
  assert.equal(await told('cut', ['offline', 'natsError', 'normal']), 'nodeOffline nodeBack');
  assert.equal(await told('resumed', ['paused', 'silent', 'unknown', 'normal']), 'nodeOffline nodeBack');
  assert.equal(await told('gone-paused', ['offline', 'paused', 'heard']), 'nodeOffline nodeBack');
  assert.equal(await told('unheard', ['natsError', 'paused', 'heard', 'normal']), '');
  assert.equal(await told('again', ['offline', 'unknown', 'offline']), 'nodeOffline');
});
