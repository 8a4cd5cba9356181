/** The checks over a real database, and who is told what over HTTP. */
import assert from 'node:assert/strict';
import { createBusKeys } from '#server/bus/credentials.ts';
import { renewNode } from '#server/bus/join.ts';
import { renewalText } from '#server/bus/join-token.ts';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { type Finding, fails, keyOf, warns, well } from '#contract/system/health.ts';
import { Health } from '#server/kit/health.ts';
import { row } from '#server/store/db.ts';
import { addDocumentsCheck, addOriginsCheck } from '#server/system/refusals.ts';
import { addDatabaseChecks, addNodesCheck, addRelayCheck, addTasksCheck, addUpkeepCheck } from '#server/system/checks.ts';
import { writeSetting } from '#server/system/settings.ts';
import { by } from './expect.ts';
import { Api, type Tenant } from './harness.ts';
import { nodeKey } from './node-key.ts';

let api: Api;
let owner: Tenant;
let other: Tenant;
let findings: Finding[] = [];
const health = new Health();
health.add('bus', () => findings, { away: 'bus.away', everyMs: 0 });
before(async () => {
  api = await Api.start({ health });
  owner = await api.tenant('owner');
  other = await api.tenant('other');
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

let serial = 0;
async function node(
  clientID: number,
  zoneID: number | null,
  more: { status?: string; beat?: unknown; appliedSeq?: number } = {},
) {
  const made = await row<{ id: number }>(
    api.database.db,
    sql`insert into node ("clientID", "zoneID", name, status, "publicKey", "lastBeat", beat, "appliedSeq")
      values (${clientID}, ${zoneID}, ${`node-${++serial}`}, ${more.status ?? 'normal'}, ${`U${serial}`}, now() - interval '30 s',
        ${JSON.stringify(more.beat ?? {})}::jsonb, ${more.appliedSeq ?? 0}) returning id`,
  );
  return made!.id;
}
const zone = (tenant: Tenant) => by(api, tenant.client).make('/client/zone', { name: `zone-${++serial}` });
async function told(who: Parameters<typeof by>[1], area: 'user' | 'client' | 'admin') {
  await health.look();
  const { status, body } = await by(api, who).get(`/${area}/systemHealth`);
  assert.equal(status, 200, JSON.stringify(body));
  return body as {
    state: string;
    troubles: { check: string; key: string; sentence: string; advice: string; nodeID: number | null }[];
  };
}
const checksOf = (answer: Awaited<ReturnType<typeof told>>) => answer.troubles.map(one => one.check);

describe('who is told', () => {
  test('nobody is told anything while all is well', async () => {
    findings = [well('bus')];
    assert.deepEqual(await told(owner.client, 'client'), { state: 'ok', troubles: [] });
    assert.deepEqual(await told(owner.user, 'user'), { state: 'ok', troubles: [] });
  });

  test('the installation is told to who owns it; nodes to their operator; others hear of neither', async () => {
    const mine = await node(owner.client.id, await zone(owner));
    const theirs = await node(other.client.id, await zone(other));
    findings = [
      fails('bus.away', { detail: 'mute' }),
      warns('nodes.offline', { node: 'mine', seconds: 20 }, { key: keyOf('node', mine) }),
      warns('nodes.offline', { node: 'theirs', seconds: 20 }, { key: keyOf('node', theirs) }),
    ];
    const first = await told(owner.client, 'client');
    assert.equal(first.state, 'fail');
    assert.deepEqual(checksOf(first), ['bus', 'nodes']);
    assert.equal(first.troubles[1]!.nodeID, mine);
    assert.match(first.troubles[0]!.sentence, /mute/);
    assert.ok(first.troubles[0]!.advice.length > 20);
    const second = await told(other.client, 'client');
    assert.deepEqual(
      second.troubles.map(one => [one.check, one.nodeID]),
      [
        ['nodes', theirs],
        ['sites', null],
      ],
    );
    assert.doesNotMatch(JSON.stringify(second), /NATS|mute|mine/);
    const vendor = await api.account('admin', 'vendor-health@test.test');
    assert.deepEqual(checksOf(await told(vendor, 'admin')), ['bus', 'nodes', 'nodes'], 'the vendor is told of all of it');
    const clerk = await api.account('admin', 'clerk@test.test', { rootID: vendor.id, keys: ['licenses.view'] });
    assert.doesNotMatch(
      JSON.stringify(await told(clerk, 'admin')),
      /NATS|mute|mine|theirs/,
      'its people are told what their keys are for',
    );
    const stranger = await api.account('user', 'siteless@test.test', { parentClient: owner.client.id });
    assert.deepEqual(checksOf(await told(stranger, 'user')), [], 'a customer without a site is not affected');
    const blind = await api.account('client', 'blind@test.test', { rootID: owner.client.id, keys: ['sites.view'] });
    assert.doesNotMatch(JSON.stringify(await told(blind, 'client')), /NATS|mute|mine/, 'who may not see nodes sees no inside');
  });

  test('what an operator’s own configuration cannot do is told to it and to the owner, not to others', async () => {
    const key = keyOf('operator', other.client.id);
    findings = [
      warns('origins.refused', { count: 3, sites: 'a.test' }, { key }),
      warns('documents.notMade', { count: 1, seconds: 9, sites: 'shop' }, { key }),
    ];
    assert.deepEqual(checksOf(await told(owner.client, 'client')).sort(), ['documents', 'origins']);
    const own = await told(other.client, 'client');
    assert.deepEqual(checksOf(own).sort(), ['documents', 'origins']);
    assert.match(own.troubles.find(one => one.check === 'origins')!.advice, /Private origins/);
    const third = await api.tenant('third');
    assert.deepEqual(checksOf(await told(third.client, 'client')), []);
    assert.deepEqual(checksOf(await told(other.user, 'user')), []);
  });

  test('a customer hears gently when changes or figures of its own sites are late, and in its own language', async () => {
    findings = [fails('bus.away', { detail: 'mute' })];
    assert.deepEqual(
      (await told(owner.user, 'user')).troubles.map(one => one.sentence),
      ['Figures and logs are late.'],
    );
    await sql`update outbox set "committedAt" = now() - interval '1 minute' where "siteID" = ${owner.siteID}`.execute(
      api.database.db,
    );
    const late = await told(owner.user, 'user');
    assert.equal(late.state, 'warn');
    assert.deepEqual(
      late.troubles.map(one => one.sentence),
      ['Changes take longer than usual to go live.', 'Figures and logs are late.'],
    );
    assert.deepEqual(
      (await told(other.user, 'user')).troubles.map(one => one.sentence),
      ['Figures and logs are late.'],
      'whose changes are served hears nothing of those of others',
    );
    const { body } = await api.call('GET', '/user/systemHealth', {
      token: owner.user.token,
      headers: { 'accept-language': 'zh-TW' },
    });
    assert.equal(body.troubles[1].sentence, '統計與日誌有所延遲。');
  });
});

describe('what is looked at', () => {
  const look = async (add: (health: Health) => void) => {
    const one = new Health();
    add(one);
    return one.look();
  };

  test('PostgreSQL is asked and written to', async () => {
    const [found] = await look(one => addDatabaseChecks(one, api.database.pool));
    assert.equal(found!.state, 'ok');
    const readOnly = {
      query: (async (text: string) => {
        if (text.startsWith('update')) throw new Error('could not extend file: No space left on device');
        return { rows: [] };
      }) as never,
    };
    const [full] = await look(one => addDatabaseChecks(one, readOnly));
    assert.equal(full!.reason, 'database.noWrites');
    assert.match(String(full!.params!['detail']), /No space left/);
  });

  test('changes that wait: nobody carries them, or somebody does and they wait all the same', async () => {
    const { db, pool } = api.database;
    await sql`delete from outbox`.execute(db);
    assert.equal((await look(one => addRelayCheck(one, pool)))[0]!.state, 'ok');
    await sql`insert into outbox (kind, "entityID", revision, "committedAt") values ('zone', 1, 1, now() - interval '12 s')`.execute(
      db,
    );
    const [idle] = await look(one => addRelayCheck(one, pool));
    assert.deepEqual([idle!.state, idle!.reason], ['fail', 'relay.idle']);
    const holder = await pool.connect();
    try {
      await holder.query('select pg_advisory_lock(72011)');
      const [late] = await look(one => addRelayCheck(one, pool));
      assert.deepEqual([late!.reason, late!.params!['count'], late!.value! >= 12], ['relay.late', 1, true]);
    } finally {
      await holder.query('select pg_advisory_unlock(72011)');
      holder.release();
      await sql`delete from outbox`.execute(db);
    }
  });

  test('nodes: silent ones, ones that say what is wrong, ones that serve less than was published', async () => {
    const { db, pool } = api.database;
    await sql`update node set "deletedAt" = now()`.execute(db);
    const inZone = await zone(owner);
    const away = await node(owner.client.id, inZone, { status: 'offline' });
    const ill = await node(owner.client.id, inZone, {
      beat: {
        problem: 'nginx is being started',
        checks: [{ id: 'nginx', state: 'fail', reason: 'nginx.away', params: { detail: 'x' }, since: new Date().toISOString() }],
      },
    });
    const plain = await node(owner.client.id, inZone, { beat: { problem: 'out of order' } });
    await node(owner.client.id, inZone, { status: 'paused', beat: { problem: 'not asked' } });
    await node(owner.client.id, null, { status: 'offline' });
    const found = await look(one => addNodesCheck(one, pool));
    const byKey = new Map(found.map(check => [check.key, check]));
    assert.deepEqual([...byKey.keys()].sort(), [away, ill, plain].map(id => keyOf('node', id)).sort());
    assert.equal(byKey.get(keyOf('node', away))!.reason, 'nodes.offline');
    assert.deepEqual([byKey.get(keyOf('node', ill))!.reason, byKey.get(keyOf('node', ill))!.state], ['nginx.away', 'warn']);
    assert.equal(byKey.get(keyOf('node', plain))!.reason, 'nodes.problem');
    const detail = 'an answer cannot be read: documents of another zone';
    await sql`update node set beat = ${JSON.stringify({
      problem: detail,
      checks: [
        { id: 'configuration', state: 'fail', reason: 'configuration.late', params: { detail }, since: new Date().toISOString() },
      ],
    })}::jsonb where id = ${plain}`.execute(db);
    // new keys of the bus: it asks for credentials, and takes none of what is answered
    const { publicKey, sign } = nodeKey();
    await sql`update node set "publicKey" = ${publicKey} where id = ${away}`.execute(db);
    const time = Date.now();
    const bus = { keys: createBusKeys(), natsUrl: 'nats://127.0.0.1:1' };
    await renewNode(pool, bus, { nodeID: away, time, signature: sign(renewalText(away, time)) });
    const later = new Map((await look(one => addNodesCheck(one, pool))).map(check => [check.key, check.reason]));
    assert.deepEqual([later.get(keyOf('node', away)), later.get(keyOf('node', plain))], ['nodes.notOnBus', 'nodes.older']);
    await sql`update node set "deletedAt" = now()`.execute(db);
    // what they say of their version; 0.1 is ours
    const near = ['', '0.1.0', '0.1.0-abc', '0.3.7'];
    const far = ['0.4.0', '1.1.0', '999999999999999999999.0.0', '<b>0.1.0', 'newest'];
    for (const version of [...near, ...far]) {
      const id = await node(owner.client.id, inZone);
      await sql`update node set version = ${version} where id = ${id}`.execute(db);
    }
    const apart = (await look(one => addNodesCheck(one, pool))).filter(({ reason }) => reason === 'nodes.apart');
    assert.deepEqual(apart.map(({ params }) => params!['version']).sort(), [...far].sort());
    await sql`update node set "deletedAt" = now()`.execute(db);

    const behind = await node(owner.client.id, inZone, { appliedSeq: 4 });
    await sql`insert into publication ("siteID", revision, "zoneID", seq, "committedAt")
      values (70001, 1, ${inZone}, 4, now() - interval '1 hour'), (70002, 2, ${inZone}, 5, now() - interval '20 s'), (70003, 3, ${inZone}, 6, now())`.execute(
      db,
    );
    assert.deepEqual(
      (await look(one => addNodesCheck(one, pool))).map(check => check.state),
      ['ok'],
      'who has just come to its zone reads it first',
    );
    await sql`update node set "updatedAt" = now() - interval '1 minute' where id = ${behind}`.execute(db);
    const [late] = await look(one => addNodesCheck(one, pool));
    assert.deepEqual(
      [late!.reason, late!.state, late!.key, late!.params!['count']],
      ['nodes.unserved', 'fail', keyOf('node', behind), 1],
    );
    const others = [
      await node(owner.client.id, inZone, { appliedSeq: 6 }),
      await node(owner.client.id, inZone, { appliedSeq: 6 }),
    ];
    assert.deepEqual(
      (await look(one => addNodesCheck(one, pool))).map(check => check.state),
      ['warn'],
      'one node of three takes nothing out of service, whatever it says',
    );
    await sql`update node set "appliedSeq" = 6 where id = ${behind}`.execute(db);
    await sql`update node set "deletedAt" = now() where id = any(${others})`.execute(db);
    assert.deepEqual(
      (await look(one => addNodesCheck(one, pool))).map(check => check.state),
      ['ok'],
    );
  });

  test('a node is heard on itself alone, whatever number it has, and on several matters of one check', async () => {
    const { db, pool } = api.database;
    await sql`update node set "deletedAt" = now()`.execute(db);
    const since = '2026-01-01T00:00:00.000Z';
    const said = (reason: string, more = {}) => ({ id: reason.split('.')[0], state: 'warn', reason, since, ...more });
    const id = await node(owner.client.id, await zone(owner), {
      beat: {
        checks: [
          said('documents.notMade', { params: { count: 1, seconds: 1, sites: 'x' } }),
          said('origins.refused', { params: { count: 1, sites: 'x' } }),
          said('database.away'),
          said('nginx.away', { id: 'documents' }),
          said('configuration.late', { params: { detail: 'x' } }),
          said('configuration.unreadRules', { key: 'rules', params: { count: 3, detail: 'site 12' } }),
        ],
      },
    });
    const both = [keyOf('node', id), keyOf('node', id, 'rules')];
    const own = await look(one => addNodesCheck(one, pool));
    assert.deepEqual(
      own.map(check => [check.reason, check.key]),
      [
        ['configuration.late', both[0]],
        ['configuration.unreadRules', both[1]],
      ],
    );
    // an operator whose number is the node's
    findings = [warns('documents.notMade', { count: 1, seconds: 9, sites: 'shop' }, { key: keyOf('operator', id) }), ...own];
    const seen = await told(owner.client, 'client');
    assert.deepEqual(seen.troubles.map(one => [one.check, one.key, one.nodeID]).sort(), [
      ['configuration', both[0], id],
      ['configuration', both[1], id],
      ['documents', keyOf('operator', id), null],
    ]);
    // each stays as old as it is
    const again = await told(owner.client, 'client');
    const ages = (all: typeof seen) => all.troubles.map(one => (one as { since?: string }).since).sort();
    assert.deepEqual(ages(again), ages(seen));
    await sql`update node set "deletedAt" = now()`.execute(db);
  });

  test('origins that nodes refuse are told by operator: how many, the first names, no name that is not served there', async () => {
    const { db, pool } = api.database;
    await sql`update node set "deletedAt" = now()`.execute(db);
    const zoneOf = async (tenant: Tenant) =>
      (await row<{ id: number }>(
        db,
        sql`select g."zoneID" as id from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID" where s.id = ${tenant.siteID}`,
      ))!.id;
    const [mine, theirs] = [await zoneOf(owner), await zoneOf(other)];
    const names = Array.from({ length: 7 }, (_, i) => `refused-${i}.test`);
    for (const name of names)
      await sql`insert into domain ("siteID", "domainName") values (${owner.siteID}, ${name})`.execute(db);
    await sql`insert into domain ("siteID", "domainName") values (${other.siteID}, 'refused-other.test')`.execute(db);
    const beat = (hosts: string[], more = {}) => ({
      beat: { refusedOrigins: hosts.map(host => ({ host, address: '10.0.0.1', port: 80, kind: 'private' })), ...more },
    });
    assert.deepEqual(
      (await look(one => addOriginsCheck(one, pool))).map(check => check.state),
      ['ok'],
    );
    await node(owner.client.id, mine, beat([...names, ...names], { refusedDomains: 40 }));
    await node(owner.client.id, mine, beat(names.slice(0, 2), { refusedDomains: 'many' }));
    await node(owner.client.id, mine, { status: 'offline', ...beat(names, { refusedDomains: 900 }) });
    await node(other.client.id, theirs, beat(['refused-other.test', names[0]!, 'nobody.test']));
    const found = await look(one => addOriginsCheck(one, pool));
    assert.deepEqual(
      found.map(({ state, reason, key, value, params }) => [state, reason, key, value, params!['sites']]),
      [
        ['warn', 'origins.refused', keyOf('operator', owner.client.id), 40, `${names.slice(0, 5).join(', ')} …`],
        ['warn', 'origins.refused', keyOf('operator', other.client.id), 1, 'refused-other.test'],
      ],
    );
    await sql`update node set "deletedAt" = now()`.execute(db);
  });

  test('accepted changes that no document can be made of are told by operator, with the age of the oldest', async () => {
    const { db, pool } = api.database;
    assert.deepEqual(
      (await look(one => addDocumentsCheck(one, pool))).map(check => check.state),
      ['ok'],
    );
    const inZone = await zone(other);
    await sql`insert into "compileError" (kind, "entityID", "siteID", message, "createdAt") values
      ('domain', 700011, ${owner.siteID}, 'port', now() - interval '90 s'), ('site', ${owner.siteID}, ${owner.siteID}, 'x', now()),
      ('zone', ${inZone}, null, 'x', now()), ('domain', 700012, 700013, 'of a site that is gone for good', now())`.execute(db);
    const found = await look(one => addDocumentsCheck(one, pool));
    const told = new Map(found.map(check => [check.key, check]));
    assert.deepEqual([...told.keys()].sort(), [owner, other].map(({ client }) => keyOf('operator', client.id)).sort());
    const worst_ = told.get(keyOf('operator', owner.client.id))!;
    assert.deepEqual([worst_.state, worst_.reason, worst_.params!['count']], ['warn', 'documents.notMade', 2]);
    assert.ok(worst_.value! >= 90 && String(worst_.params!['sites']).length > 0);
    await sql`delete from "compileError"`.execute(db);
  });

  test('a clearing away that fails is told until one goes well', async () => {
    const { db } = api.database;
    const run = { at: new Date().toISOString(), ms: 1, removed: {}, more: false };
    const upkeep = async () => (await look(one => addUpkeepCheck(one, db))).map(check => check.reason ?? check.state);
    assert.deepEqual(await upkeep(), ['ok'], 'a new installation has nothing to show yet');
    await writeSetting(db, null, 'retentionRun', { ...run, problem: 'lock timeout' });
    assert.deepEqual(await upkeep(), ['upkeep.failing']);
    await writeSetting(db, null, 'retentionRun', { ...run, problem: null });
    assert.deepEqual(await upkeep(), ['ok']);
  });

  test('tasks: one whose turn it is and that nobody works on, or of whose worker nothing is heard; not one that waits for its own', async () => {
    const { db } = api.database;
    const tasks = async () =>
      (await look(one => addTasksCheck(one, api.database.pool))).map(({ reason, state, params }) => reason ?? [state, params]);
    const root = (await api.account('client', 'tasks@x.test')).id;
    const make = async (ago: number, beat: number | null) =>
      sql`insert into task (kind, resource, "rootID", input, "runAt", "updatedAt", "beatAt") select 'copyModule', 'modules', ${root}, '{}',
        now() - ${ago} * interval '1 second', now() - ${ago} * interval '1 second', now() - ${beat}::float8 * interval '1 second'`.execute(
        db,
      );
    await make(5, null);
    assert.deepEqual(await tasks(), [['ok', undefined]]);
    await make(500, null);
    assert.deepEqual(await tasks(), [['ok', undefined]], 'another of its kind and owner has its turn');
    await sql`delete from task where "updatedAt" > now() - interval '60 seconds'`.execute(db);
    assert.deepEqual(await tasks(), ['tasks.late']);
    await sql`update task set "beatAt" = now()`.execute(db);
    assert.deepEqual(await tasks(), [['ok', undefined]]);
    await sql`update task set "beatAt" = now() - interval '70 seconds'`.execute(db);
    assert.deepEqual(await tasks(), ['tasks.late']);
    await sql`update task set "beatAt" = now() + interval '1 hour'`.execute(db);
    assert.deepEqual(await tasks(), ['tasks.late'], 'the clock was set back since');
    await sql`delete from task`.execute(db);
  });
});
