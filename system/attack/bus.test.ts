/**
 * What a node that turned hostile can do to others: its credentials against the real bus with the control plane behind it. Whatever it
 * sends, with whatever reply subject and headers, nothing may reach our configuration or another node, and nobody may be stopped.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { type Msg, createInbox, headers } from '@nats-io/transport-node';
import { signed } from '#contract/edge/signed.ts';
import { own, streams, subjects } from '#contract/edge/subjects.ts';
import { Signer, mintNode } from '#server/bus/credentials.ts';
import { command } from '#server/bus/commands.ts';
import { foreignWrites } from '#server/bus/foreign.ts';
import { registry } from '#server/kit/metrics.ts';
import { busEvents, siteApplied } from '#server/bus/settle.ts';
import { openSystem } from '#server/bus/system.ts';
import { startWatchdog } from '#server/bus/watchdog.ts';
import { origin, until } from '../../agent/test/node.ts';
import { connectNode } from '../../server/test/bus/rig.ts';
import {
  beat,
  ensureLogs,
  foe,
  homeless,
  inventory,
  lastBeat,
  logged,
  neighbour,
  one,
  plane,
  statusOf,
  stranger,
  two,
} from './foe.ts';

test('nothing of ours listens to what nodes say: it all ends in a stream', () => {
  const root = new URL('../../server/src/', import.meta.url).pathname;
  const listeners = globSync('**/*.ts', { cwd: root }).filter(file => /\.subscribe\(/.test(readFileSync(root + file, 'utf8')));
  assert.deepEqual(listeners, []);
});

test('thousands of publishes, each with another reply and other headers: nothing lands anywhere', async () => {
  await ensureLogs();
  const [other, third] = [neighbour, stranger].map(node => node.grant.nodeID) as [number, number];
  const config = subjects.config(two.zoneID, 'zone', two.zoneID);
  const api = '$JS.API';
  const places = [
    ...['beat', 'ack', 'sync', 'ans', 'log', 'mark'],
    ...[own.tick, 'doc.zone.1', 'cmd.renew', 'dlv.sync', '_INBOX.x', '_R_.x', '>', '*'],
    ...[config, subjects.config(one.zoneID, 'zone', one.zoneID), 'live.1.zone.1', subjects.tick(two.zoneID)],
    ...[other, third].flatMap(node => [
      subjects.command(node, 'renew'),
      subjects.mark(node),
      subjects.delivery(node),
      subjects.said('beat', node),
      subjects.log(node, 'access'),
    ]),
    ...[
      `${api}.INFO`,
      `${api}.STREAM.INFO.CFG`,
      `${api}.STREAM.MSG.GET.CFG`,
      `${api}.STREAM.PURGE.CFG`,
      `${api}.STREAM.DELETE.CFG`,
    ],
    ...[`${api}.CONSUMER.CREATE.CFG.x.${config}`, `${api}.CONSUMER.DURABLE.CREATE.CFG.x`, `${api}.CONSUMER.MSG.NEXT.UP.server`],
    ...[`${api}.DIRECT.GET.CFG`, '$JS.ACK.CFG.x.1.1.1.1.1', '$JS.FC.CFG.x', '$SYS.REQ.CLAIMS.UPDATE', '$SYS.REQ.SERVER.PING'],
  ];
  const replies = [
    undefined,
    ...[config, subjects.config(one.zoneID, 'domain', 1), subjects.tick(two.zoneID), 'doc.zone.1'],
    ...[subjects.command(other, 'renew'), subjects.command(third, 'renew'), 'cmd.renew'],
    ...[subjects.mark(third), subjects.delivery(third), subjects.said('beat', third), subjects.said('sync', third)],
    ...[subjects.log(third, 'access'), `${api}.STREAM.PURGE.CFG`, `${api}.CONSUMER.DURABLE.CREATE.CFG.x`, '$SYS.REQ.SERVER.PING'],
    ...['_INBOX.foe', '_R_.foe', 'beat', 'log'],
  ];
  const h = (pairs: Record<string, string>) => {
    const made = headers();
    for (const [name, value] of Object.entries(pairs)) made.set(name, value);
    return made;
  };
  const heads = [
    undefined,
    h({ 'Nats-Expected-Stream': streams.config }),
    h({ 'Nats-Expected-Last-Subject-Sequence': '0', 'Nats-Msg-Id': 'twin' }),
    h({ 'Nats-Rollup': 'all' }),
    h({ 'Nats-Subject': config, 'Nats-Stream': streams.config, 'Nats-Sequence': '1' }),
    h({ [signed.number]: '999', [signed.epoch]: 'x', [signed.signature]: 'AAAA' }),
    h({ Status: '100', Description: 'Idle Heartbeat' }),
  ];
  const body = JSON.stringify({ no_wait: true, batch: 1, config: { deliver_subject: subjects.command(third, 'renew') } });
  const before_ = await inventory();
  for (const node of [neighbour, stranger, homeless]) node.heard.length = 0;
  let sent = 0;
  for (const head of heads) {
    // NATS ends a connection whose publishes are refused by the hundred no sooner than one that is welcome; but it may be slow.
    for (const place of places)
      for (const reply of replies) {
        if (place === '>' || place === '*') continue; // the client itself refuses wildcards
        foe.nc.publish(place, body, { reply, headers: head });
        sent++;
      }
    await foe.nc.flush();
  }
  assert.ok(sent > 4000, `${sent} publishes`);
  await plane.rig.nc.flush();
  for (const node of [neighbour, stranger, homeless]) {
    await node.nc.flush();
    assert.deepEqual(
      node.heard.map(msg => msg.subject),
      [],
      'nobody else heard of it',
    );
  }
  assert.deepEqual(await inventory(), before_);
  assert.equal(foreignWrites().count, 0);

  // And the configuration of the other zone flows.
  const siteID = await plane.rig.site(two.productID, 'after');
  await until('a change arrives', () => stranger.heard.some(msg => msg.subject === `doc.site.${siteID}`));
});

test('subscriptions with queue groups take nothing away from anybody', async () => {
  const nc = await foe.open();
  const stolen: string[] = [];
  const names = ['server', 'ingest', '_sys_', ''];
  for (const subject of [
    'beat.*',
    'sync.*',
    'log.>',
    'cfg.>',
    'live.>',
    'cmd.*.>',
    '$JS.>',
    '$SYS.>',
    '_R_.>',
    '>',
    ...['doc.>', 'cmd.>', 'mark'],
  ])
    for (const queue of names)
      nc.subscribe(subject, { ...(queue && { queue }), callback: (error, msg) => void (!error && stolen.push(msg.subject)) });
  await nc.flush().catch(() => {});
  stranger.heard.length = neighbour.heard.length = 0;
  const siteID = await plane.rig.site(two.productID, 'queue');
  await until('the change arrives where it belongs', () => stranger.heard.some(msg => msg.subject === `doc.site.${siteID}`));
  const at = await lastBeat(stranger);
  await until('heartbeats still reach us', async () => (await lastBeat(stranger)) > at);
  assert.deepEqual(
    stolen.filter(subject => subject !== own.tick),
    [],
  );
  await nc.close();
});

test('payloads of any size and a hundred connections leave the others as they were', async () => {
  const jsm = await jetstreamManager(plane.rig.nc);
  // 70 kB are too much for a word, and no answer would wait for ever.
  const refusal = (await foe.nc.request('beat', 'x'.repeat(70_000), { timeout: 30_000 })).json<{ error?: unknown }>();
  assert.ok(refusal.error, 'the stream refuses it by itself');
  for (const size of [1_300_000, 9_000_000]) {
    const nc = await foe.open().catch(() => undefined);
    if (!nc) continue;
    try {
      nc.publish('log', new Uint8Array(size));
      await nc.flush();
    } catch {
      // the client or the bus ends it
    }
    await nc.close();
  }
  const { messages } = (await jsm.streams.info(streams.logs, { subjects_filter: subjects.log(foe.grant.nodeID, 'access') }))
    .state;
  // 64 of its ranges, and not one more.
  for (let i = 0; i < 100; i++) foe.nc.publish('log', 'x');
  await foe.nc.flush();
  const held = await jsm.streams.info(streams.logs, { subjects_filter: '>' });
  assert.ok(messages <= 64 && held.state.subjects![subjects.log(foe.grant.nodeID, 'access')]! <= 64);
  const taken = (await stranger.nc.request('log', 'line', { timeout: 30_000 })).json<{ seq?: number }>();
  assert.ok(taken.seq, "another node's log is taken");
  const more = await Promise.allSettled(Array.from({ length: 100 }, () => foe.open()));
  assert.ok(more.filter(result => result.status === 'fulfilled').length <= 2);
  for (const result of more) if (result.status === 'fulfilled') await result.value.close();
  const at = await lastBeat(stranger);
  await until('the others are online', async () => (await lastBeat(stranger)) > at);
});

test('a poisoned heartbeat is judged alone: neighbours in the same batch stay online', async t => {
  const offline: string[] = [];
  const hear = (id: number, status: string) => status === 'offline' && offline.push(String(id));
  busEvents.on('node', hear);
  t.after(() => busEvents.off('node', hear));
  const nul = 'a\u0000b\ud800';
  const poison: [string, string | object][] = [
    ['text PostgreSQL cannot take', { version: nul, problem: nul, startedAt: nul }],
    ['numbers out of range', { seq: 1e300, documents: -1 }],
    ['a time of another age', { startedAt: '+275760-09-13T00:00:00.000Z' }],
    ['wrong types', { seq: '1', epoch: {}, zoneID: [], problem: 5, nginx: 'up', logs: 7 }],
    ['no JSON', '{"seq":1e999,'],
    ['no object', '"\\u0000"'],
    ['junk', Buffer.alloc(64_000, 0xff).toString('latin1')],
    ['deep nesting', '['.repeat(30_000) + ']'.repeat(30_000)],
    ['a deep value inside', { problem: null, x: JSON.parse('['.repeat(500) + ']'.repeat(500)) }],
    ['a list too long', { refused: Array.from({ length: 200 }, () => ({ subject: 'cfg.1.site.1', seq: 1, why: nul })) }],
    ['a subject with a quote', { refused: [{ subject: `'; drop table node; --`, seq: 1, why: '' }] }],
  ];
  for (const [what, body] of poison) {
    const at = await lastBeat(stranger);
    if (typeof body === 'string') foe.nc.publish('beat', body);
    else beat(foe, body);
    beat(stranger);
    await until(`heartbeats after ${what}`, async () => (await lastBeat(stranger)) > at);
  }
  // What only the database notices: the batch fails, and is then given in halves.
  await plane.rig.pool.query(`create function picky() returns trigger language plpgsql as $$ begin
      if new.version = 'poison' then raise exception 'no' using errcode = '22023'; end if; return new; end $$;
    create trigger picky before update on node for each row execute function picky()`);
  const refused = async () => {
    const { values } = await registry.getSingleMetric('breakwater_node_messages_total')!.get();
    return (
      values.find(
        ({ labels: { node, word, outcome } }) =>
          String(node) === String(foe.grant.nodeID) && word === 'beat' && outcome === 'refused',
      )?.value ?? 0
    );
  };
  const before_ = await refused();
  await until('refused alone', () => {
    beat(foe, { version: 'poison' });
    beat(stranger);
    beat(neighbour);
    return refused().then(count => count > before_);
  });
  const [a, b] = [await lastBeat(stranger), await lastBeat(neighbour)];
  await until('both neighbours', async () => {
    beat(foe, { version: 'poison' });
    return (await lastBeat(stranger)) > a && (await lastBeat(neighbour)) > b;
  });
  await plane.rig.pool.query('drop trigger picky on node');
  assert.deepEqual(
    offline.filter(id => id !== String(foe.grant.nodeID)),
    [],
  );
  assert.deepEqual([await statusOf(neighbour), await statusOf(stranger)], ['normal', 'normal']);
  assert.ok(
    logged.some(text => text.startsWith(`node ${foe.grant.nodeID} says what it should not (beat): `)),
    logged.join('\n'),
  );
});

test('what somebody else writes into our stream is not believed, is overwritten or removed, and is counted', async t => {
  const { rig } = plane;
  const siteID = await rig.site(one.productID, 'a');
  const domainID = await rig.domain(siteID, 'foreign.test', '127.0.0.1', await origin(t, 'ours'));
  const node = await plane.node(t, one.zoneID, 'believer');
  await until('served', async () => (await node.visit('foreign.test')) === 'ours');
  const subject = subjects.config(one.zoneID, 'domain', domainID);
  const { document } = (await rig.stands())[subject]!;
  const before_ = foreignWrites().count;
  const theirs = JSON.stringify({ ...document, upstreams: [], enabled: false });
  // With the server's own rights: without a signature, with one of another key, and beside every subject of ours.
  const head = headers();
  const n = (await rig.one('select n from "zoneHead" where "zoneID" = $1', [one.zoneID])) + 1;
  const epoch = await rig.one<string>('select epoch from "busStream"');
  head.set(signed.number, String(n));
  head.set(signed.epoch, epoch);
  const other = new Signer(Buffer.alloc(32, 7).toString('base64url'));
  head.set(signed.signature, other.document({ zoneID: one.zoneID, epoch, n, subject }, theirs));
  await rig.nc.request(subject, theirs, { headers: head, timeout: 30_000 });
  await rig.nc.request('cfg.1.nonsense', 'x');
  await until('counted', () => foreignWrites().count >= before_ + 2);
  await until('as it was', async () => (await rig.stands())[subject]!.document?.enabled === true);
  await until('removed', async () => !Object.keys(await rig.stands()).includes('cfg.1.nonsense'));
  assert.equal(await node.visit('foreign.test'), 'ours');
  await rig.setOrigin(domainID, await origin(t, 'next'));
  await until('and goes on', async () => (await node.visit('foreign.test')) === 'next');
  await until('acknowledged', async () =>
    (await siteApplied(rig.pool, siteID))!.perNode.some(one_ => one_.name === 'believer' && one_.ms !== null),
  );
});

test('a command is obeyed once: replayed, late, meant for another or signed by another it does nothing', async t => {
  const { rig } = plane;
  const node = await plane.node(t, one.zoneID, 'obedient');
  const nodeID = await until('joined', () => rig.one(`select id from node where name = 'obedient'`));
  await until('online', async () => (await rig.one<string>('select status from node where id = $1', [nodeID])) === 'normal');
  const answers: number[] = [];
  const hear = (id: number, answer: { count: number }) => id === nodeID && answers.push(answer.count);
  busEvents.on('answer', hear);
  t.after(() => busEvents.off('answer', hear));
  const sent: Msg[] = [];
  const copy = rig.nc.subscribe(subjects.commandsOf(nodeID), { callback: (_, msg) => void sent.push(msg) });
  const { signer } = rig;
  const first = await command({ db: rig.pool, nats: rig.nc, signer }, nodeID, 'renew');
  await until('obeyed', () => answers.includes(first));
  const [original] = sent;
  const what = { node: nodeID, verb: 'renew', expires: Date.now() + 60_000, count: first + 1000, body: '' };
  const say = (changed: Partial<typeof what>, by = signer) => {
    const whole = { ...what, ...changed };
    rig.nc.publish(subjects.command(nodeID, 'renew'), JSON.stringify({ ...whole, signature: by.command(whole) }));
  };
  rig.nc.publish(original!.subject, original!.data);
  rig.nc.publish(subjects.command(nodeID, 'other'), original!.data);
  say({ expires: Date.now() - 1 });
  say({ node: nodeID + 1 });
  say({ verb: 'other' });
  say({}, new Signer(Buffer.alloc(32, 7).toString('base64url')));
  await node.kill('SIGKILL');
  node.start();
  await until('back', async () => /agent_connected 1/.test((await node.get('/metrics', node.healthPort)).body));
  rig.nc.publish(original!.subject, original!.data);
  const second = await until('the next one is obeyed', async () => {
    const count = await command({ db: rig.pool, nats: rig.nc, signer }, nodeID, 'renew');
    return answers.length > 1 && count;
  });
  assert.ok(second > first);
  assert.equal(answers.filter(count => count <= first + 1000).length, 1, 'only the first, and that once');
  copy.unsubscribe();
});

test('a node that moves hears its old zone no more; one that is removed, or whose token is over, is out', async () => {
  const { rig } = plane;
  let serial = 0;
  await rig.pool.query('update node set "zoneID" = $2 where id = $1', [homeless.grant.nodeID, two.zoneID]);
  await until('hears its zone', async () => {
    await rig.site(two.productID, `s${++serial}`);
    return homeless.heard.some(msg => msg.subject.startsWith('doc.site.'));
  });
  await rig.pool.query('update node set "zoneID" = null where id = $1', [homeless.grant.nodeID]);
  await until('its account follows', async () => {
    homeless.heard.length = stranger.heard.length = 0;
    const siteID = await rig.site(two.productID, `s${++serial}`);
    await until('others hear it', () => stranger.heard.some(msg => msg.subject === `doc.site.${siteID}`));
    await homeless.nc.flush();
    return homeless.heard.length === 0;
  });
  const over = mintNode(rig.engine.keys, { nodeID: homeless.grant.nodeID, user: homeless.user, seconds: 2 });
  await (await connectNode(rig.engine, over.creds)).closed();
  // A token ends with its second, and the bus may have closed the connection early in it.
  await until('a token that is over is refused', () =>
    connectNode(rig.engine, over.creds).then(
      async nc => {
        await nc.close();
        return false;
      },
      () => true,
    ),
  );
  await rig.pool.query('update node set "deletedAt" = now() where id = $1', [homeless.grant.nodeID]);
  await homeless.nc.closed();
  await assert.rejects(homeless.open());
});

test('a flood is named and cut off, shown on the node, and let in again later; meanwhile others are served', async t => {
  const { rig } = plane;
  const system = await openSystem(rig.engine.keys, rig.engine.url, undefined, () => {});
  const watchdog = startWatchdog({ db: rig.pool, keys: rig.engine.keys, system: () => system, log: text => t.diagnostic(text) });
  t.after(async () => {
    await watchdog.stop();
    await system.close();
  });
  let going = true;
  // On a connection that is taken away, a flush may wait for ever: nobody waits for this.
  void (async () => {
    while (going && !foe.nc.isClosed()) {
      for (let i = 0; i < 500; i++) foe.nc.publish('beat', 'x'.repeat(100), { reply: createInbox() });
      await foe.nc.flush();
    }
  })().catch(() => {});
  t.after(() => (going = false));
  await foe.nc.closed();
  const row = (
    await rig.pool.query('select status, "busProblem", floods, "cutUntil" > now() as cut from node where id = $1', [
      foe.grant.nodeID,
    ])
  ).rows[0];
  assert.deepEqual([row.status, row.floods, row.cut], ['natsError', 1, true]);
  assert.match(row.busProblem, /flooded the bus: \d+ messages/);
  // silent since, it is not said to be merely offline, as one is whose time is over
  await rig.pool.query(`update node set "lastBeat" = now() - interval '1 hour' where id = $1`, [foe.grant.nodeID]);
  await rig.pool.query(
    `update node set "deletedAt" = null, status = 'natsError', "lastBeat" = now() - interval '1 hour', "cutUntil" = now() - interval '1 s' where id = $1`,
    [homeless.grant.nodeID],
  );
  const statusOf = async (id: number) => (await rig.pool.query('select status from node where id = $1', [id])).rows[0].status;
  await until('the silent are looked for', async () => (await statusOf(homeless.grant.nodeID)) === 'offline');
  assert.equal(await statusOf(foe.grant.nodeID), 'natsError');
  await rig.pool.query('update node set "deletedAt" = now() where id = $1', [homeless.grant.nodeID]);
  await assert.rejects(foe.open());
  const at = await lastBeat(stranger);
  await until('others are heard', async () => (await lastBeat(stranger)) > at);
  assert.equal(await rig.one('select count(*)::int from node where floods > 0'), 1, 'nobody else is blamed');
  await rig.pool.query(`update node set "cutUntil" = now() + interval '100 ms' where id = $1`, [foe.grant.nodeID]);
  await until('let in again', () => foe.open());
});
