/**
 * Sync against a control socket that does what nginx cannot be brought to do at will: refuse one record, fall silent, come back with
 * another state. (With the real nginx: node.test.ts, faults.test.ts.)
 */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { testFolder } from '#system/engines.ts';
import { DocumentStore } from '../src/store.ts';
import type { Sync } from '../src/sync.ts';
import { until } from './node.ts';
import { domain, world, zone, zoneBody } from './sync-world.ts';

test('a record nginx refuses is refused alone; the last good one comes back, on disk too', async t => {
  const { nginx, sync, send, acked, acks, store, stop } = await world(t);
  await sync.moveTo(1);
  await sync.nginxUp();
  sync.restart('e');
  send('cfg.1.domain.1', domain(1, 'a.test', 'good'), true);
  send('cfg.1.domain.2', domain(2, 'b.test'), true);
  send(zone, zoneBody);
  await acked('all there');
  nginx.refuses = 'bad';
  // It takes another name at that: its old key must stay.
  send('cfg.1.domain.1', domain(1, 'moved.test', 'bad'), true);
  send('cfg.1.domain.2', domain(2, 'b.test', 'better'));
  await acked('the rest is taken in');
  assert.match(nginx.records.get('d:b.test')!, /better/);
  assert.match(nginx.records.get('d:a.test')!, /good/);
  assert.equal(nginx.records.has('d:moved.test'), false);
  assert.deepEqual(
    acks.at(-1)!.refused.map(one => one.subject),
    ['cfg.1.domain.1'],
  );
  assert.match(store.held.get('cfg.1.domain.1')!.body, /good/);
  send('cfg.1.domain.1', domain(1, 'moved.test', 'fine'));
  await acked('mended');
  assert.deepEqual(acks.at(-1)!.refused, []);
  assert.deepEqual([...nginx.records.keys()].sort(), ['d:b.test', 'd:moved.test', 'z:']);
  await stop();
});

test('an agent that ends while a record is refused leaves no mixture: the next one brings the rest', async t => {
  const first = await world(t);
  const { nginx, send } = first;
  await first.sync.moveTo(1);
  await first.sync.nginxUp();
  first.sync.restart('e');
  for (const [i, host] of ['a.test', 'b.test', 'c.test'].entries())
    send(`cfg.1.domain.${i + 1}`, domain(i + 1, host, 'old'), true);
  send(zone, zoneBody);
  await first.acked('all there');
  nginx.refuses = 'bad';
  nginx.falls = 'new';
  send('cfg.1.domain.1', domain(1, 'a.test', 'new'), true);
  send('cfg.1.domain.2', domain(2, 'b.test', 'bad'), true);
  send('cfg.1.domain.3', domain(3, 'c.test', 'new'));
  await until('silent after the first of them', () => nginx.silent);
  await first.stop();
  assert.match(nginx.records.get('d:a.test')!, /new/);
  assert.match(nginx.records.get('d:c.test')!, /old/);

  nginx.silent = false;
  nginx.falls = nginx.refuses = '\0';
  const second = await world(t, first.dir, nginx);
  await second.sync.nginxUp(true);
  assert.match(nginx.records.get('d:c.test')!, /new/);
  await second.stop();
});

test('leftovers go when the control plane said it was all, not before; a restart in between reads it again', async t => {
  const first = await world(t);
  await first.sync.moveTo(1);
  await first.sync.nginxUp();
  first.sync.restart('old');
  for (const [i, host] of ['a.test', 'b.test', 'c.test'].entries())
    first.send(`cfg.1.domain.${i + 1}`, domain(i + 1, host), true);
  first.send(zone, zoneBody);
  await first.acked('the old stream');
  await first.stop();

  const second = await world(t, first.dir, first.nginx);
  await second.sync.nginxUp();
  assert.equal(second.sync.position().epoch, 'old');
  second.sync.restart('new');
  second.sync.take([{ subject: 'cfg.1.domain.1', seq: 1, body: domain(1, 'a.test'), pending: true }]);
  await until('taken in', () => second.sync.position().epoch === 'new' && second.sync.position().cursor === 1);
  assert.equal(second.nginx.records.size, 4);
  await second.stop();

  const third = await world(t, first.dir, first.nginx);
  assert.equal(third.sync.position().epoch, 'old', 'half a stream is not taken for a whole one');
  await third.sync.nginxUp();
  third.sync.restart('new');
  third.sync.take([
    { subject: 'cfg.1.domain.1', seq: 1, body: domain(1, 'a.test'), pending: true },
    { subject: 'cfg.1.domain.9', seq: 2, body: domain(9, 'd.test'), pending: true },
    { subject: zone, seq: 3, body: zoneBody, pending: true },
    { subject: '', seq: 7, body: '', pending: false },
  ]);
  await until('swept', () => third.nginx.records.size === 3);
  assert.deepEqual([...third.nginx.records.keys()].sort(), ['d:a.test', 'd:d.test', 'z:']);
  assert.deepEqual(third.store.at, { epoch: 'new', cursor: 7, zoneID: 1 });
  await third.stop();
});

test('what was missed comes in chunks and is one change: no half of it is served, pushed or kept, also by a node that ends in between', async t => {
  const first = await world(t);
  const { nginx } = first;
  const site = (rev: number, state: string, parts: string[]) => JSON.stringify({ v: 1, rev, id: 5, state, parts });
  const list = (rev: number, ip: string) =>
    JSON.stringify({ v: 1, rev, id: 5, blacklists: [{ id: 1, ips: [ip], block: 'deny' }] });
  await first.sync.moveTo(1);
  await first.sync.nginxUp();
  first.sync.restart('e');
  first.send('cfg.1.blacklists.5', list(1, '192.0.2.1'), true);
  first.send('cfg.1.site.5', site(1, 'pause', ['blacklists']), true);
  first.send(zone, zoneBody);
  await first.acked('all there');
  const held = new Map(nginx.records);

  // The list changed, the site was opened, and the list changed again: its newest state comes in a later chunk than the site.
  const half = (sync: Sync) =>
    sync.take([{ subject: 'cfg.1.site.5', seq: 5, body: site(2, 'normal', ['blacklists']), pending: true }]);
  nginx.pushes = 0;
  half(first.sync);
  await until('set aside', () => first.sync.position().cursor === 5);
  await first.sync.settled();
  assert.deepEqual(nginx.records, held);
  assert.equal(nginx.pushes, 0);
  assert.match(Buffer.concat(first.sync.snapshot()).toString(), /"pause"/);
  assert.equal(first.acks.at(-1)!.seq, 3);
  await first.stop();

  const second = await world(t, first.dir, nginx);
  await second.sync.nginxUp();
  assert.deepEqual(second.sync.position(), { epoch: 'e', cursor: 3, whole: false }, 'asked for again');
  assert.deepEqual(nginx.records, held);
  half(second.sync);
  // a later chunk says more of what came before
  second.sync.take([
    { subject: 'cfg.1.blacklists.5', seq: 6, body: list(2, '192.0.2.2'), pending: true },
    { subject: 'cfg.1.site.5', seq: 7, body: site(3, 'normal', ['blacklists']), pending: true },
    { subject: '', seq: 9, body: '', pending: false },
  ]);
  await until('acknowledged', () => second.acks.at(-1)?.seq === 9);
  assert.match(nginx.records.get('p:blacklists:5')!, /192\.0\.2\.2/);
  assert.match(nginx.records.get('s:5')!, /"rev":3,.*"normal"/);
  assert.deepEqual(second.store.at, { epoch: 'e', cursor: 9, zoneID: 1 });

  // A list that goes: the site stops naming it before.
  second.sync.take([{ subject: 'cfg.1.blacklists.5', seq: 10, body: '', pending: true }]);
  await until('set aside', () => second.sync.position().cursor === 10);
  assert.ok(nginx.records.has('p:blacklists:5'));
  second.sync.take([{ subject: 'cfg.1.site.5', seq: 11, body: site(4, 'normal', []), pending: false }]);
  await until('gone', () => !nginx.records.has('p:blacklists:5'));
  assert.match(nginx.records.get('s:5')!, /"rev":4/);
  await second.stop();
});

test('what nginx missed while it was silent or started is brought to it, removals too', async t => {
  const { nginx, sync, send, acked, acks, restarts, stop } = await world(t);
  await sync.moveTo(1);
  await sync.nginxUp();
  sync.restart('e');
  send('cfg.1.domain.1', domain(1, 'a.test'), true);
  send('cfg.1.domain.2', domain(2, 'b.test'), true);
  send(zone, zoneBody);
  await acked('all there');
  nginx.silent = true;
  send('cfg.1.domain.1', '');
  send('cfg.1.domain.3', domain(3, 'c.test'));
  await until('both taken in', () => sync.position().cursor === 5 && sync.state.size === 3);
  assert.equal(acks.at(-1)!.seq, 3, 'not served, so not acknowledged');
  nginx.silent = false;
  await acked('caught up');
  assert.deepEqual([...nginx.records.keys()].sort(), ['d:b.test', 'd:c.test', 'z:']);

  // A start: the snapshot is of one moment, a change follows before nginx is up.
  sync.nginxDown();
  const bytes = Buffer.concat(sync.snapshot()).toString();
  nginx.cursor = /^BREAKWATER 1 (\S+)/.exec(bytes)![1]!;
  send('cfg.1.domain.2', '');
  await until('taken in', () => sync.state.size === 2);
  nginx.pushes = 0;
  await sync.nginxUp();
  await acked('after the start');
  assert.deepEqual([...nginx.records.keys()].sort(), ['d:c.test', 'z:']);
  assert.equal(nginx.pushes, 1, 'only what it missed');
  assert.deepEqual(restarts, []);

  // It holds something nobody can name: a new start is the only way to be rid of it.
  sync.nginxDown();
  nginx.cursor = 'other';
  nginx.records.set('d:ghost.test', '{}');
  await sync.nginxUp();
  assert.equal(restarts.length, 1);
  await stop();
});

/** An agent that served two sites, one of them in its second version, and has ended. */
async function served(t: TestContext) {
  const first = await world(t);
  await first.sync.moveTo(1);
  await first.sync.nginxUp();
  first.sync.restart('e');
  first.send('cfg.1.domain.1', domain(1, 'a.test', 'older'), true);
  first.send('cfg.1.domain.2', domain(2, 'b.test'), true);
  first.send(zone, zoneBody);
  await first.acked('all there');
  first.send('cfg.1.domain.1', domain(1, 'a.test', 'newer'));
  await first.acked('the newer one');
  await first.stop();
  const whole = new Map(first.nginx.records);
  /** What the bus tells who asks for everything. */
  const tell = (sync: Sync) => {
    sync.restart('e');
    const message = (subject: string, seq: number, body: string) => ({ subject, seq, body, pending: seq < 4 });
    sync.take([
      message('cfg.1.domain.2', 2, domain(2, 'b.test')),
      message(zone, 3, zoneBody),
      message('cfg.1.domain.1', 4, domain(1, 'a.test', 'newer')),
    ]);
  };
  return { dir: first.dir, nginx: first.nginx, whole, tell };
}
const losses: Record<string, (dir: string) => void> = {
  'the folder is gone': dir => rmSync(dir, { recursive: true }),
  'its newest line of a document is damaged': dir => {
    const bytes = readFileSync(join(dir, 'log.0'));
    bytes[bytes.lastIndexOf('newer')] = 0x7a;
    writeFileSync(join(dir, 'log.0'), bytes);
  },
  'its end is gone': dir => {
    const text = readFileSync(join(dir, 'log.0'), 'utf8').split('\n');
    writeFileSync(join(dir, 'log.0'), text.slice(0, -3).join('\n') + '\n');
  },
};
for (const [what, lose] of Object.entries(losses))
  test(`an agent whose store was lost leaves the nginx that runs as it is until it has read everything: ${what}`, async t => {
    const { dir, nginx, whole, tell } = await served(t);
    lose(dir);
    nginx.pushes = 0;
    const { sync, store, restarts, stop, acks } = await world(t, dir, nginx);
    assert.equal(store.damaged > 0, what.includes('damaged'));
    await sync.nginxUp(true);
    await sync.moveTo(1);
    assert.deepEqual(restarts, []);
    assert.equal(nginx.pushes, 0, 'nothing that may be older is pushed over what it holds');
    assert.deepEqual(nginx.records, whole);
    tell(sync);
    await until('acknowledged', () => acks.at(-1)?.seq === 4);
    assert.deepEqual(nginx.records, whole);
    assert.deepEqual(restarts, []);
    await until('the store is mended', () => store.damaged === 0);
    await stop();
    const later = await DocumentStore.open(dir);
    assert.deepEqual([later.damaged, later.held.size, later.at.cursor], [0, 3, 4]);
    await later.close();
  });

test('what an nginx holds that nobody names any more goes when everything was read; a node without a zone holds nothing', async t => {
  for (const zoneID of [1, null]) {
    const { dir, nginx, tell } = await served(t);
    rmSync(dir, { recursive: true });
    nginx.records.set('d:ghost.test', '{}');
    const { sync, restarts, stop } = await world(t, dir, nginx);
    await sync.nginxUp(true);
    assert.deepEqual(restarts, []);
    await sync.moveTo(zoneID);
    if (zoneID !== null) tell(sync);
    await until('started anew', () => restarts.length === 1);
    await stop();
  }
});

test('a full dictionary: what is gone makes room for what is new, in one push with it and after a start', async t => {
  const { nginx, sync, send, acked, stop, restarts } = await world(t);
  await sync.moveTo(1);
  await sync.nginxUp();
  sync.restart('e');
  const long = 'x'.repeat(200);
  for (let id = 1; id <= 20; id++) send(`cfg.1.domain.${id}`, domain(id, `d${id}.test`, long), true);
  send(zone, zoneBody);
  await acked('all there');
  nginx.room = 20 * 400;
  for (let id = 1; id <= 15; id++) send(`cfg.1.domain.${id}`, '', true);
  for (let id = 21; id <= 30; id++) send(`cfg.1.domain.${id}`, domain(id, `d${id}.test`, long), id < 30);
  await acked('taken');
  assert.equal(nginx.records.size, 16);
  assert.equal(sync.problem, null);
  // a start of nginx with another state: all is pushed, and what has gone since is no less gone
  nginx.cursor = 'other';
  sync.nginxDown();
  nginx.silent = true;
  for (let id = 21; id <= 25; id++) send(`cfg.1.domain.${id}`, '', id < 25);
  await until('noted', () => sync.state.size === 11);
  nginx.silent = false;
  nginx.room = 11 * 400 + 2500;
  await sync.nginxUp();
  await acked('taken again');
  assert.equal(nginx.records.size, 11);
  assert.deepEqual(restarts, []);
  await stop();
});

const firstRelease = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../contract/test/edge/first-release/${name}.json`, import.meta.url), 'utf8')).document;

test('a node that is upgraded before its server goes on with the documents it holds, lists and all, until the parts come', async t => {
  const dir = testFolder('sync');
  const old = await DocumentStore.open(dir);
  const [siteDoc, domainDoc] = [firstRelease('site'), firstRelease('domain')];
  const held: [string, object][] = [
    ['cfg.7.site.5', siteDoc],
    ['cfg.7.domain.31', domainDoc],
    ['cfg.7.zone.7', firstRelease('zone')],
  ];
  await old.write(
    held.map(([subject, document], i) => ({ kind: 'set', subject, seq: i + 1, body: JSON.stringify(document) })),
    { epoch: 'e', cursor: 3, zoneID: 7 },
  );
  await old.close();

  const { nginx, sync, send, acked, acks, stop, store } = await world(t, dir);
  await sync.nginxUp();
  const site = () => JSON.parse(nginx.records.get('s:5')!);
  for (const list of ['whitelists', 'blacklists', 'userAgents', 'cacheRules', 'purges'])
    assert.deepEqual(site()[list], siteDoc[list], list);
  assert.equal(JSON.parse(nginx.records.get('d:www.example.test')!).enabled, true);
  assert.deepEqual(sync.position(), { epoch: 'e', cursor: 3, whole: false }, 'nothing is read again for that');
  // The upgraded server sends the parts, then the site that names them.
  const blacklists = JSON.stringify({ v: 1, rev: 20, id: 5, blacklists: siteDoc.blacklists });
  send('cfg.7.blacklists.5', blacklists, true);
  send('cfg.7.site.5', JSON.stringify({ v: 1, rev: 20, id: 5, state: 'normal', expires: 0, gen: 4, parts: ['blacklists'] }));
  await acked('the parts');
  assert.deepEqual(acks.at(-1)!.refused, []);
  assert.equal(nginx.records.get('p:blacklists:5'), blacklists);
  assert.deepEqual([site().parts, site().blacklists], [['blacklists'], undefined]);
  assert.equal(store.refused.size, 0);
  await stop();
});

test('a newer server: a kind nobody here knows is refused and the rest goes on; fields are left out and counted', async t => {
  const { dir, nginx, sync, send, acked, acks, stop } = await world(t);
  await sync.moveTo(1);
  await sync.nginxUp();
  sync.restart('e');
  send('cfg.1.holograms.5', '{"v":1,"rev":1,"id":5,"holograms":[]}', true);
  const module = (id: number, more = {}) => JSON.stringify({ v: 1, rev: 1, id, site: 1, type: 'hologram', content: {}, ...more });
  send('cfg.1.module.6', module(6), true);
  send('cfg.1.module.7', module(7, { ignorable: true }), true);
  const upstream = { address: '8.8.8.8', port: 80, depth: 3 };
  send('cfg.1.domain.1', JSON.stringify({ ...JSON.parse(domain(1, 'a.test')), colour: 'blue', upstreams: [upstream] }), true);
  send(zone, zoneBody);
  await acked('all but two');
  assert.deepEqual(
    acks.at(-1)!.refused.map(one => one.subject),
    ['cfg.1.holograms.5', 'cfg.1.module.6'],
  );
  assert.match(acks.at(-1)!.refused[1]!.why, /knows no modules of the type hologram: it is older/);
  assert.deepEqual(
    ['m:6', 'm:7'].map(key => nginx.records.has(key)),
    [false, true],
  );
  assert.match(acks.at(-1)!.refused[0]!.why, /knows no documents of the kind holograms: it is older/);
  assert.equal(sync.unknownFields, 2);
  const taken = JSON.parse(nginx.records.get('d:a.test')!);
  assert.deepEqual([taken.colour, taken.upstreams[0].depth, taken.upstreams[0].weight], [undefined, undefined, 1]);
  send('cfg.1.domain.1', domain(1, 'a.test'));
  await acked('one it knows');
  assert.equal(sync.unknownFields, 0);
  send('cfg.1.holograms.5', '', true);
  send('cfg.1.module.6', '');
  await acked('gone');
  assert.deepEqual(acks.at(-1)!.refused, []);
  await stop();

  // Held by another version of ours, and not to be read by this one: refused, everything else is served, and all is read again.
  const store = await DocumentStore.open(dir);
  await store.write([{ kind: 'set', subject: 'cfg.1.site.9', seq: 8, body: '{"v":9,"rev":1,"id":9}' }], store.at);
  await store.close();
  const later = await world(t, dir, nginx);
  await later.sync.nginxUp();
  assert.deepEqual(
    later.sync.served().refused.map(one => one.subject),
    ['cfg.1.site.9'],
  );
  assert.deepEqual([later.sync.position().epoch, later.sync.position().cursor], ['', 0]);
  assert.ok(nginx.records.has('d:a.test'));
  await later.stop();
});
