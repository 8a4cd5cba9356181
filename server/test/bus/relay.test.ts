import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { createUser } from '@nats-io/nkeys';
import { recordAck, startAcks } from '#server/bus/acks.ts';
import { chunkFor } from '#server/bus/answers.ts';
import { startRelay } from '#server/bus/relay.ts';
import { settle, siteApplied } from '#server/bus/settle.ts';
import { type Rig, Rig as Rigs, until } from './rig.ts';

function relay(rig: Rig) {
  const running = startRelay({ databaseUrl: rig.url, nats: rig.nc, signer: rig.signer });
  rig.onEnd(() => running.stop());
  return running;
}
const empty = (rig: Rig) => until('the outbox is empty', async () => (await rig.outbox()) === 0);

test('what is committed stands on the bus; equal documents are not published twice', async t => {
  const rig = await Rigs.start(t);
  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  relay(rig);
  const domainID = await rig.domain(siteID, 'a.test', '192.0.2.1');
  await empty(rig);
  const first = await rig.stands();
  assert.deepEqual(Object.keys(first), [
    `cfg.${zoneID}.domain.${domainID}`,
    `cfg.${zoneID}.site.${siteID}`,
    `cfg.${zoneID}.zone.${zoneID}`,
  ]);
  const domain = first[`cfg.${zoneID}.domain.${domainID}`]!;
  assert.equal(domain.document?.host, 'a.test');
  assert.equal((domain.document?.upstreams as { address: string }[] | undefined)?.[0]?.address, '192.0.2.1');

  // Tags are no part of the document: the revision counts as published, the sequence stays.
  await rig.change([`domain ${domainID}`], [`update domain set tags = '{x}' where id = $1`, [domainID]]);
  await empty(rig);
  assert.equal((await rig.stands())[`cfg.${zoneID}.domain.${domainID}`]!.seq, domain.seq);
  const publication = (await rig.pool.query('select revision, seq from publication where "siteID" = $1', [siteID])).rows[0];
  assert.equal(Number(publication.revision), await rig.one('select revision from site where id = $1', [siteID]));
  assert.equal(Number(publication.seq), domain.seq);

  await rig.setOrigin(domainID, 8080);
  await empty(rig);
  const after = (await rig.stands())[`cfg.${zoneID}.domain.${domainID}`]!;
  assert.equal((after.document?.upstreams as { port: number }[] | undefined)?.[0]?.port, 8080);
});

test('what was begun first and is committed while later changes are being published is published too', async t => {
  const rig = await Rigs.start(t);
  const { zoneID, productID } = await rig.zone('one');
  const [early, late] = [await rig.site(productID, 'a'), await rig.site(productID, 'b')];
  const [a, b] = [await rig.domain(early, 'a.test'), await rig.domain(late, 'b.test')];
  relay(rig);
  await empty(rig);

  const open = await rig.pool.connect();
  const gate = await rig.pool.connect();
  try {
    await open.query('begin');
    await open.query('update upstream set port = 81 where "domainID" = $1', [a]);
    await open.query(`update site set revision = nextval('revision') where id = $1`, [early]);
    const put = await open.query(
      `insert into outbox (kind, "entityID", "siteID", revision) values ('domain', $1, $2, (select last_value from revision)) returning id`,
      [a, early],
    );
    // The relay has read the outbox, and reads next what stands there: it is held there.
    await gate.query('begin');
    await gate.query('lock table published in access exclusive mode');
    await rig.setOrigin(b, 82);
    const above = await rig.one('select count(*)::int from outbox where id > $1', [put.rows[0].id]);
    assert.equal(above, 1, 'the later one has the higher number');
    await until('the relay is held', async () => {
      const held = `select count(*)::int from pg_stat_activity where datname = current_database() and application_name = 'breakwater-relay' and wait_event_type = 'Lock'`;
      return (await rig.one(held)) === 1;
    });
    await open.query('commit');
    await gate.query('commit');
  } finally {
    open.release(true);
    gate.release(true);
  }
  await empty(rig);
  const port = async (id: number) => {
    const { document } = (await rig.stands())[`cfg.${zoneID}.domain.${id}`]!;
    return (document?.upstreams as { port: number }[] | undefined)?.[0]?.port;
  };
  assert.deepEqual([await port(a), await port(b)], [81, 82]);
});

test('a moved site takes its domains along, a deleted domain leaves an empty body', async t => {
  const rig = await Rigs.start(t);
  const [one, two] = [await rig.zone('one'), await rig.zone('two')];
  const siteID = await rig.site(one.productID, 'a');
  const [a, b] = [await rig.domain(siteID, 'a.test'), await rig.domain(siteID, 'b.test')];
  relay(rig);
  await empty(rig);
  await rig.change([`domain ${b}`], ['update domain set "deletedAt" = now() where id = $1', [b]]);
  await empty(rig);
  let stands = await rig.stands();
  assert.equal(stands[`cfg.${one.zoneID}.domain.${b}`]!.document, null);
  await rig.change([`site ${siteID}`], ['update site set "productID" = $2 where id = $1', [siteID, two.productID]]);
  await empty(rig);
  stands = await rig.stands();
  assert.equal(stands[`cfg.${one.zoneID}.site.${siteID}`]!.document, null);
  assert.equal(stands[`cfg.${one.zoneID}.domain.${a}`]!.document, null);
  assert.equal(stands[`cfg.${two.zoneID}.site.${siteID}`]!.document?.id, siteID);
  assert.equal(stands[`cfg.${two.zoneID}.domain.${a}`]!.document?.host, 'a.test');
  assert.equal(stands[`cfg.${two.zoneID}.domain.${b}`], undefined);
  // And back again: the old subjects hold empty bodies, which are replaced.
  await rig.change([`site ${siteID}`], ['update site set "productID" = $2 where id = $1', [siteID, one.productID]]);
  await empty(rig);
  assert.equal((await rig.stands())[`cfg.${one.zoneID}.domain.${a}`]!.document?.host, 'a.test');
  await rig.change([`site ${siteID}`], ['update site set "deletedAt" = now() where id = $1', [siteID]]);
  await empty(rig);
  assert.equal((await rig.stands())[`cfg.${one.zoneID}.domain.${a}`]!.document, null, 'a deleted site takes its domains with it');
});

test('a document that cannot be made breaks that entity alone and is visible', async t => {
  const rig = await Rigs.start(t);
  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  const [bad, good] = [await rig.domain(siteID, 'bad.test'), await rig.domain(siteID, 'good.test')];
  relay(rig);
  await empty(rig);
  await rig.change(
    [`domain ${bad}`, `domain ${good}`],
    ['update upstream set weight = 101 where "domainID" = $1', [bad]],
    ['update upstream set weight = 7 where "domainID" = $1', [good]],
  );
  await empty(rig);
  const stands = await rig.stands();
  assert.equal(
    (stands[`cfg.${zoneID}.domain.${bad}`]!.document?.upstreams as { weight: number }[] | undefined)?.[0]?.weight,
    1,
    'the last good one stays',
  );
  assert.equal((stands[`cfg.${zoneID}.domain.${good}`]!.document?.upstreams as { weight: number }[] | undefined)?.[0]?.weight, 7);
  const applied = (await siteApplied(rig.pool, siteID))!;
  assert.equal(applied.errors.length, 1);
  assert.equal(applied.errors[0]!.id, bad);
  assert.match(applied.errors[0]!.message, /upstreams\.0\.weight/);
  await rig.change([`domain ${bad}`], ['update upstream set weight = 100 where "domainID" = $1', [bad]]);
  await empty(rig);
  assert.deepEqual((await siteApplied(rig.pool, siteID))!.errors, []);
});

test('a crash between publishing and recording publishes again and nothing is lost', async t => {
  const rig = await Rigs.start(t);
  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  const [a, b] = [await rig.domain(siteID, 'a.test'), await rig.domain(siteID, 'b.test')];
  let running = relay(rig);
  await empty(rig);
  // The statement that records the publication fails: as if the process had died right there.
  await rig.pool.query(`create function crash() returns trigger language plpgsql as $$ begin raise exception 'crash'; end $$;
    create trigger crash before delete on outbox for each row execute function crash()`);
  await rig.setOrigin(a, 81);
  await rig.setOrigin(b, 82);
  await until(
    'published, not recorded',
    async () =>
      ((await rig.stands())[`cfg.${zoneID}.domain.${b}`]!.document?.upstreams as { port: number }[] | undefined)?.[0]?.port ===
      82,
  );
  await running.stop();
  assert.notEqual(await rig.outbox(), 0);
  await rig.pool.query('drop trigger crash on outbox');
  running = relay(rig);
  await empty(rig);
  const stands = await rig.stands();
  assert.equal((stands[`cfg.${zoneID}.domain.${a}`]!.document?.upstreams as { port: number }[] | undefined)?.[0]?.port, 81);
  assert.equal(
    await rig.one('select "lastSeq" from "busStream"'),
    (await (await jetstreamManager(rig.nc)).streams.info('CFG')).state.last_seq,
  );
});

test('documents the database knows nothing of are compiled again: a restored backup wins', async t => {
  const rig = await Rigs.start(t);
  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  const a = await rig.domain(siteID, 'a.test');
  let running = relay(rig);
  await empty(rig);
  await running.stop();
  const subject = `cfg.${zoneID}.domain.${a}`;
  const newer = (await rig.stands())[subject]!.document!;
  await rig.nc.request(subject, JSON.stringify({ ...newer, host: 'newer.test' }));
  await rig.nc.request(`cfg.${zoneID}.domain.999`, JSON.stringify({ ...newer, id: 999 }));
  running = relay(rig);
  await until('as the rows say', async () => (await rig.stands())[subject]!.document?.host === 'a.test');
  await until('unknown ones are gone', async () => (await rig.stands())[`cfg.${zoneID}.domain.999`]!.document === null);
});

test('a site’s number that the bus has seen is not given again by a database that went back', async t => {
  const rig = await Rigs.start(t);
  const { zoneID, productID } = await rig.zone('one');
  const kept = await rig.site(productID, 'kept');
  const running = relay(rig);
  await empty(rig);
  await running.stop();
  // as of a site made after the backup
  await rig.publish(`cfg.${zoneID}.site.${kept + 1}`, JSON.stringify({ v: 1, rev: 1, id: kept + 1 }));
  relay(rig);
  await until('the lost one is gone', async () => (await rig.stands())[`cfg.${zoneID}.site.${kept + 1}`]?.document === null);
  assert.ok((await rig.site(productID, 'next')) > kept + 1);
});

test('a database that does not know what stands on the bus starts a new stream', async t => {
  const rig = await Rigs.start(t);
  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  const domainID = await rig.domain(siteID, 'a.test');
  relay(rig);
  await empty(rig);
  const epoch = await rig.one<string>('select epoch from "busStream"');
  await rig.pool.query('update published set seq = seq + 5');
  await rig.setOrigin(domainID, 81);
  await empty(rig);
  assert.notEqual(await rig.one<string>('select epoch from "busStream"'), epoch);
  const { document } = (await rig.stands())[`cfg.${zoneID}.domain.${domainID}`]!;
  assert.equal((document?.upstreams as { port: number }[] | undefined)?.[0]?.port, 81);
});

test('a wiped bus is filled again; a second relay takes over', async t => {
  const rig = await Rigs.start(t);
  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  const domains = [];
  for (let i = 0; i < 20; i++) domains.push(await rig.domain(siteID, `d${i}.test`));
  const first = relay(rig);
  await empty(rig);
  const second = relay(rig);
  assert.equal(first.active(), true);
  const jsm = await jetstreamManager(rig.nc);
  const epoch = (await jsm.streams.info('CFG')).created;
  await jsm.streams.delete('CFG');
  // A change finds no stream and makes the relay look.
  await rig.setOrigin(domains[0]!, 81);
  await empty(rig);
  assert.notEqual((await jsm.streams.info('CFG')).created, epoch);
  const stands = await rig.stands();
  assert.equal(Object.keys(stands).length, 22);
  const newest = Object.entries(stands).sort((x, y) => y[1].seq - x[1].seq);
  assert.ok(
    newest.slice(0, 2).some(([subject]) => subject === `cfg.${zoneID}.zone.${zoneID}`),
    'the zone comes last',
  );
  await first.stop();
  await until('the second took over', () => second.active());
  await rig.setOrigin(domains[1]!, 82);
  await empty(rig);
});

test('acknowledgements: a node serves a site when it has passed the publication', async t => {
  const rig = await Rigs.start(t);
  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  const domainID = await rig.domain(siteID, 'a.test');
  const other = await rig.site(productID, 'b');
  const insert = 'insert into node ("clientID", "zoneID", name) values (1, $1, $2) returning id';
  const nodes = [await rig.one(insert, [zoneID, 'n1']), await rig.one(insert, [zoneID, 'n2'])];
  relay(rig);
  await empty(rig);
  const epoch = await rig.one<string>('select epoch from "busStream"');
  const last = await rig.one('select n from "zoneHead"');
  const seq = await rig.one('select seq from publication where "siteID" = $1', [siteID]);
  assert.equal((await siteApplied(rig.pool, siteID))!.applied, 0);
  await recordAck(rig.pool, nodes[0]!, { seq, epoch, zoneID });
  await recordAck(rig.pool, nodes[1]!, { seq: seq - 1, epoch, zoneID });
  let applied = (await siteApplied(rig.pool, siteID))!;
  assert.deepEqual([applied.nodes, applied.applied, applied.ms], [2, 1, null]);
  await recordAck(rig.pool, nodes[1]!, { seq: last, epoch, zoneID });
  applied = (await siteApplied(rig.pool, siteID))!;
  assert.deepEqual([applied.nodes, applied.applied], [2, 2]);
  assert.ok(applied.ms! > 0);
  assert.equal(
    (await siteApplied(rig.pool, other))!.applied,
    (await rig.one('select seq from publication where "siteID" = $1', [other])) <= seq ? 2 : 1,
  );

  // A change that leaves the document as it was is served at once by who serves the document.
  await rig.change([`domain ${domainID}`], [`update domain set tags = '{x}' where id = $1`, [domainID]]);
  await until('both serve it', async () => (await siteApplied(rig.pool, siteID))!.applied === 2);

  // An acknowledgement that overtakes the record of its publication waits for it, and keeps its time.
  const acks = startAcks({ db: rig.pool, hearingSince: () => Infinity });
  rig.onEnd(() => acks.stop());
  acks.ack(nodes[0]!, { seq: last + 1, epoch, zoneID });
  await rig.setOrigin(domainID, 81);
  await until('settled', async () => (await siteApplied(rig.pool, siteID))!.applied === 1);

  // A node that refused the document does not serve the site, whatever its sequence.
  await recordAck(rig.pool, nodes[1]!, {
    seq: last + 1,
    epoch,
    zoneID,
    refused: [{ subject: `cfg.${zoneID}.domain.${domainID}`, seq: last + 1, why: 'x' }],
  });
  assert.equal((await siteApplied(rig.pool, siteID))!.applied, 1);
  await recordAck(rig.pool, nodes[1]!, { seq: last + 1, epoch, zoneID });
  assert.equal((await siteApplied(rig.pool, siteID))!.applied, 2);

  // Who says it serves what was never given serves nothing more than before, now and later, and is named.
  const liar = await rig.one(insert, [zoneID, 'liar']);
  const said: string[] = [];
  const log = (text: string) => void said.push(text);
  const other_ = startAcks({ db: rig.pool, hearingSince: () => Infinity, aheadMs: 50, log });
  rig.onEnd(() => other_.stop());
  await until('it is named', () => {
    other_.ack(liar, { seq: Number.MAX_SAFE_INTEGER, epoch, zoneID });
    return said.some(text => text.startsWith(`node ${liar} `) && text.includes('never given'));
  });
  assert.equal(await recordAck(rig.pool, liar, { seq: Number.MAX_SAFE_INTEGER, epoch: 'x', zoneID }), 'ahead');
  assert.equal(await rig.one('select "appliedSeq" from node where id = $1', [liar]), 0);
  assert.equal((await siteApplied(rig.pool, siteID))!.applied, 2);
  assert.equal(await recordAck(rig.pool, liar, { seq: last, epoch, zoneID }), 'recorded');

  // Another epoch counts nothing.
  await rig.pool.query('delete from ack');
  await rig.pool.query(`update node set "appliedEpoch" = 'x'`);
  assert.deepEqual(await settle(rig.pool, {}), []);
});

test('that a document is gone is forgotten after some days: nodes that were away are given everything', async t => {
  const rig = await Rigs.start(t);
  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  const [a, b, c] = [await rig.domain(siteID, 'a.test'), await rig.domain(siteID, 'b.test'), await rig.domain(siteID, 'c.test')];
  let running = relay(rig);
  await empty(rig);
  const remove = (id: number) => rig.change([`domain ${id}`], ['update domain set "deletedAt" = now() where id = $1', [id]]);
  await remove(a);
  await remove(b);
  await empty(rig);
  await running.stop();
  await rig.pool.query(
    `update published set "publishedAt" = now() - interval '31 days' where kind = 'domain' and "entityID" = any($1)`,
    [[a, c]],
  );
  const forgotten = await rig.one(`select n from published where kind = 'domain' and "entityID" = $1`, [a]);
  running = relay(rig);
  const rows = async () =>
    (await rig.pool.query(`select "entityID"::int as id from published where kind = 'domain' order by 1`)).rows.map(
      row => row.id,
    );
  await until('the old one is gone', async () => (await rows()).length === 2);
  // what stands stays however old it is, as does what went lately
  assert.deepEqual(await rows(), [b, c]);
  const stands = await rig.stands();
  assert.equal(stands[`cfg.${zoneID}.domain.${a}`], undefined);
  assert.equal(stands[`cfg.${zoneID}.domain.${b}`]!.document, null);
  assert.equal(await rig.one('select forgotten from "zoneHead" where "zoneID" = $1', [zoneID]), forgotten);

  const key = createUser().getPublicKey();
  const node = await rig.one(
    `insert into node ("clientID", "zoneID", name, "publicKey") select "clientID", id, 'n', $2 from zone where id = $1 returning id`,
    [zoneID, key],
  );
  const epoch = (await rig.pool.query(`select epoch from "busStream"`)).rows[0].epoch as string;
  const asked = (after: number) => chunkFor(rig.pool, node, { zoneID, epoch, after, whole: false } as never);
  assert.deepEqual([(await asked(forgotten))!.whole, (await asked(forgotten - 1))!.whole], [false, true]);

  // further than what is written down: a place of another day, perhaps
  const head = await rig.one('select n from "zoneHead" where "zoneID" = $1', [zoneID]);
  assert.equal((await asked(head + 500))!.whole, true);

  // the subject can be written again
  await rig.change([`domain ${a}`], ['update domain set "deletedAt" = null where id = $1', [a]]);
  await empty(rig);
  assert.equal((await rig.stands())[`cfg.${zoneID}.domain.${a}`]!.document?.host, 'a.test');
});
