/** A control plane of several processes on a bus of several servers: one is killed, or frozen. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { streams, subjects } from '#contract/edge/subjects.ts';
import { makeAuthority, newKey } from '#host/certificates.ts';
import { connectServer } from '#server/bus/bus.ts';
import { busName, outsideBus, outsideURL } from '#server/bus/outside.ts';
import { startRelay } from '#server/bus/relay.ts';
import { ensureLogStream, ensureUpStream } from '#server/bus/streams.ts';
import { Lease } from '#server/ingest/lease.ts';
import { freePort } from '#server/store/engine-process.ts';
import { freshDatabase, testFolder } from '#system/engines.ts';
import { Rig, until } from './rig.ts';

const empty = (rig: Rig, limitMs = 60_000) => until('the outbox is empty', async () => (await rig.outbox()) === 0, limitMs);

/** Three servers with TLS among them and to us, as `breakwater bus-config` writes them. */
async function cluster(t: TestContext, rig: Rig) {
  const folder = testFolder('cluster');
  const servers = [];
  for (let i = 0; i < 3; i++) servers.push({ host: '127.0.0.1', port: await freePort(), clusterPort: await freePort() });
  const key = createPrivateKey(newKey());
  const authority = { key, certificate: makeAuthority('bus', key) };
  const files = outsideBus({
    servers,
    keys: rig.engine.keys,
    password: 'of-the-test',
    authority,
    filesFolder: name => join(folder, name),
    storeFolder: name => join(folder, `${name}-store`),
  });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const running = new Map<string, ChildProcess>();
  t.after(() => running.forEach(child => child.kill('SIGKILL')));
  return {
    url: outsideURL({ servers, authority }),
    tls: { ca: authority.certificate, servername: busName },
    creds: files.get('server.creds')!,
    start(name: string) {
      const log = join(folder, `${name}.log`);
      running.set(name, spawn('nats-server', ['-c', join(folder, name, 'nats.conf'), '-l', log], { stdio: 'ignore' }));
    },
    kill: (name: string) => void running.get(name)?.kill('SIGKILL'),
  };
}

test('of three servers one is killed: no change and no range of a log is lost; a bus that grows gives its streams more copies', async t => {
  const rig = await Rig.start(t);
  const bus = await cluster(t, rig);
  bus.start('breakwater-1');
  bus.start('breakwater-2');
  await rig.nc.close();
  rig.nc = await connectServer(bus.url, bus.creds, bus.tls);
  const manager = () => jetstreamManager(rig.nc, { checkAPI: false });
  const copies = async (name: string) => (await (await manager()).streams.info(name)).config.num_replicas;
  await until('two servers have a leader', async () => (await manager()).getAccountInfo(), 60_000);

  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  const domainID = await rig.domain(siteID, 'a.test');
  const relay = startRelay({ databaseUrl: rig.url, nats: rig.nc, signer: rig.signer });
  rig.onEnd(() => relay.stop());
  await empty(rig);
  await ensureUpStream(rig.nc);
  await ensureLogStream(await manager(), 2 ** 26);
  const names = [streams.config, streams.up, streams.logs];
  for (const name of names) assert.equal(await copies(name), 2, name);
  bus.start('breakwater-3');
  await until('each stream has three copies', async () => (await Promise.all(names.map(copies))).every(n => n === 3), 60_000);

  const leader = async (name: string) => (await (await manager()).streams.info(name)).cluster?.leader;
  const killed = await until('CFG has a leader', () => leader(streams.config));
  const changes = 40;
  const changing = (async () => {
    for (let i = 1; i <= changes; i++) await rig.setOrigin(domainID, 1000 + i);
  })();
  const ranges = 200;
  const logging = (async () => {
    const js = jetstream(rig.nc);
    for (let i = 1; i <= ranges; i++) {
      if (i === 50) bus.kill(killed);
      const subject = subjects.logAll.replaceAll('*', String(i)).replace('>', String(i));
      await until(`range ${i} is taken`, () => js.publish(subject, 'x', { timeout: 2000 }), 60_000);
    }
  })();
  await Promise.all([changing, logging]);
  await empty(rig);
  const document = (await rig.stands())[`cfg.${zoneID}.domain.${domainID}`]!.document;
  assert.equal((document!.upstreams as { port: number }[])[0]!.port, 1000 + changes);
  const { state } = await (await manager()).streams.info(streams.logs, { subjects_filter: '>' });
  assert.equal(Object.keys(state.subjects ?? {}).length, ranges);
  assert.notEqual(await leader(streams.config), killed);

  bus.start(killed);
  await until(
    'the one that came back has all of it again',
    async () => {
      const { cluster: one } = await (await manager()).streams.info(streams.config);
      return one?.replicas?.length === 2 && one.replicas.every(({ current }) => current);
    },
    60_000,
  );
});

test('a relay that is frozen is taken over from within seconds, and what it does after it wakes overwrites nothing', async t => {
  const rig = await Rig.start(t);
  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  const domainID = await rig.domain(siteID, 'a.test');
  const child = spawn(process.execPath, [fileURLToPath(new URL('./relay-process.ts', import.meta.url))], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: rig.url,
      NATS_URL: rig.engine.url,
      NATS_CREDS: rig.engine.serverCredsFile,
      DOCUMENT_SEED: rig.engine.keys.documentSeed,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  await until('it works', () => said.includes('active'), 60_000);
  await empty(rig);
  const relay = startRelay({ databaseUrl: rig.url, nats: rig.nc, signer: rig.signer });
  rig.onEnd(() => relay.stop());
  await until('the second waits', () => relay.problem() === 'another process is the active relay');

  child.kill('SIGSTOP');
  await rig.setOrigin(domainID, 1001);
  await until('the second has taken over', () => relay.active(), 30_000);
  await empty(rig);
  child.kill('SIGCONT');
  for (let port = 1002; port <= 1020; port++) await rig.setOrigin(domainID, port);
  await empty(rig);
  assert.ok(relay.active());
  const document = (await rig.stands())[`cfg.${zoneID}.domain.${domainID}`]!.document;
  assert.equal((document!.upstreams as { port: number }[])[0]!.port, 1020);
});

test('of two ingests one works; the other follows when its place is free, and nobody waits while the database is away', async t => {
  const url = await freshDatabase();
  const [first, second] = [new Lease(url), new Lease(url)];
  t.after(() => Promise.all([first.stop(), second.stop()]));
  let isOver = false;
  await first.wait(() => isOver);
  assert.ok(first.isHeld);
  const waiting = second.wait(() => isOver);
  const third = new Lease(url);
  isOver = true;
  await Promise.all([third.wait(() => true), waiting]);
  assert.ok(!third.isHeld && !second.isHeld, 'who is told to give up has no place');
  isOver = false;
  const again = second.wait(() => isOver);
  await first.stop();
  await again;
  assert.ok(second.isHeld);
  const away = new Lease(`postgres://nobody@127.0.0.1:${await freePort()}/none`);
  await away.wait(() => false);
  assert.ok(!away.isHeld);
});
