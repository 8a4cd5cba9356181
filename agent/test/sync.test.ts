/**
 * Sync against a control socket that does what nginx cannot be brought to do at will: refuse one record, fall silent, come back with
 * another state. (With the real nginx: node.test.ts, faults.test.ts.)
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { testFolder } from '#system/engines.ts';
import { Control } from '../src/control.ts';
import { NameResolver } from '../src/resolve.ts';
import { DocumentStore, type Refused } from '../src/store.ts';
import { Sync } from '../src/sync.ts';
import { until } from './node.ts';

class Socket {
  records = new Map<string, string>();
  cursor = '';
  silent = false;
  /** refuses a push that holds this text */
  refuses = '\0';
  pushes = 0;
  readonly path = join(testFolder('ctl'), 'ctl.sock');

  async start(t: TestContext): Promise<this> {
    const server = http.createServer((request, answer) => {
      const url = new URL(request.url!, 'http://x');
      const parts: Buffer[] = [];
      request.on('data', part => parts.push(part));
      request.on('end', () => {
        if (this.silent) return request.destroy();
        if (url.pathname === '/apply') {
          this.pushes++;
          const body = Buffer.concat(parts);
          if (body.includes(this.refuses)) return answer.writeHead(400).end('{"error":"refused"}');
          this.#take(body);
          this.cursor = url.searchParams.get('cursor')!;
        }
        answer.end(JSON.stringify({ seq: 1, epoch: 'x', cursor: this.cursor, records: this.records.size }));
      });
    });
    server.listen(this.path);
    await once(server, 'listening');
    t.after(() => {
      server.close();
      server.closeAllConnections();
    });
    return this;
  }
  #take(body: Buffer): void {
    for (let at = 0; at < body.length;) {
      const end = body.indexOf(10, at);
      const [key, size] = body.toString('utf8', at, end).split(' ');
      at = end + 1;
      if (size === '-1') this.records.delete(key!);
      else {
        this.records.set(key!, body.toString('utf8', at, at + Number(size)));
        at += Number(size) + 1;
      }
    }
  }
}

const domain = (id: number, host: string, originHost = '') =>
  JSON.stringify({ v: 1, rev: 1, id, site: 1, host, enabled: true, balance: 'roundRobin', originHost, upstreams: [] });

async function world(t: TestContext, dir = testFolder('sync'), socket?: Socket) {
  const nginx = socket ?? (await new Socket().start(t));
  const store = await DocumentStore.open(dir);
  const resolver = new NameResolver({ servers: ['127.0.0.1:1'], hostsFile: '/nowhere', changed: () => {} });
  const acks: { seq: number; epoch: string; refused: Refused[] }[] = [];
  const restarts: string[] = [];
  const control = new Control(nginx.path);
  const sync = new Sync({
    store,
    resolver,
    control,
    acknowledge: (seq, epoch, refused) => acks.push({ seq, epoch, refused }),
    restartNginx: why => restarts.push(why),
    log: () => {},
  });
  const stop = async () => {
    await sync.stop();
    await store.close();
    control.close();
  };
  let seq = store.at.cursor;
  const send = (subject: string, body: string, pending = false) => sync.take([{ subject, seq: ++seq, body, pending }]);
  const acked = (what: string) => until(what, () => acks.at(-1)?.seq === seq);
  return { dir, nginx, store, sync, acks, restarts, send, acked, stop };
}
const zone = 'cfg.1.zone.1';
const zoneBody = JSON.stringify({ v: 1, rev: 1, id: 1 });

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
  await until('acknowledged', () => second.acks.at(-1)?.epoch === 'new');
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
