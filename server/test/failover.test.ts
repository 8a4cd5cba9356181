/** PostgreSQL fails over: all connections are cut in the midst of changes, and a database stands at the same address again. */
import assert from 'node:assert/strict';
import { appendFileSync, cpSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { startBus } from '#server/bus/bus.ts';
import { signalGroup } from '#server/store/engine-process.ts';
import { migrate } from '#server/store/migrate.ts';
import { type PostgresEngine, startPostgres } from '#server/store/postgres-launcher.ts';
import { mayGoOn } from '#server/system/tasks.ts';
import { taskWorks } from '#server/tasks.ts';
import { Expiry } from '#server/work/expiry.ts';
import { Tasks } from '#server/work/tasks.ts';
import { startWork } from '#server/work/work.ts';
import { testFolder } from '#system/engines.ts';
import { type BlackHole, blackHole } from './black-hole.ts';
import { Rig, until } from './bus/rig.ts';
import { by } from './expect.ts';
import { Api } from './harness.ts';

const writers = 6;

/** @param turns in each of them the database goes away, and stands at the same address again when `open` is called */
async function goesOn(t: TestContext, way: BlackHole, through: string, rig: Rig, turns: (() => Promise<void>)[]): Promise<void> {
  const { engine, nc: nats } = rig;
  const api = await Api.start({}, {}, through);
  rig.onEnd(() => api.stop());
  const bus = startBus({ databaseUrl: through, db: api.database.pool, nats, keys: engine.keys, natsUrl: engine.url });
  rig.onEnd(() => bus.stop());
  const work = await startWork({ databaseUrl: through }, api.services, new Tasks(through, api.services, taskWorks, mayGoOn));
  rig.onEnd(() => work.stop());
  const expiry = new Expiry(through, api.services);
  expiry.start();
  rig.onEnd(() => expiry.stop());
  const tenant = await api.tenant('a');
  const call = by(api, tenant.user);
  const upstreams = [{ address: '192.0.2.1', port: 80, protocol: 'http' }];
  const domains = Array.from({ length: writers }, (_, n) => ({ domainName: `d${n}.test`, upstreams }));
  await call.make(`/user/site/${tenant.siteID}/domains`, { domains });
  const rows = (await call.read(`/user/site/${tenant.siteID}/domains`)).data as { id: number; domainName: string }[];
  const stands = async (id: number) =>
    (await rig.stands())[`cfg.${tenant.zoneID}.domain.${id}`]?.document as { originHost?: string } | undefined;
  await until('all is published', async () => (await stands(rows[0]!.id)) && (await rig.outbox()) === 0, 30_000);

  // Each writes one number after the other, and remembers the last one it was told is written.
  const accepted = new Map<number, string>();
  const other = new Map<string, number>();
  let stopped = false;
  let [counted, refused] = [0, 0];
  const writing = rows.map(async ({ id }) => {
    for (let n = 1; !stopped; n++) {
      const host = `h${n}.test`;
      const reply = await call.patch(`/user/site/${tenant.siteID}/domain/setting/originHost`, {
        domainIDs: [id],
        originHost: host,
      });
      if (reply.status === 200) {
        accepted.set(id, host);
        counted++;
      } else {
        refused++;
        const what = `${reply.status} ${reply.body?.code}`;
        other.set(what, (other.get(what) ?? 0) + 1);
        // a change whose COMMIT was cut may stand or not
        await new Promise(next => setTimeout(next, 100));
      }
    }
  });
  const grown = async (by: number) => {
    const from = counted;
    await until(`${by} changes more`, () => counted >= from + by, 60_000);
  };
  await grown(20);
  for (const turn of turns) {
    way.cut();
    const told = refused;
    await until('everybody was refused', () => refused >= told + 2 * writers, 60_000);
    await turn();
    way.open();
    await grown(20);
  }
  stopped = true;
  await Promise.all(writing);
  assert.deepEqual([...other.keys()], ['503 101005'], 'what could not be done says so');
  for (const line of api.failures.splice(0)) assert.match(line, /"code":101005/);

  for (const { id } of rows) {
    const wanted = accepted.get(id)!;
    const { originHost } = await call.read(`/user/site/${tenant.siteID}/domain/${id}`);
    // one that was cut on its way may have been written after the last one that was answered
    assert.ok(Number(originHost.slice(1, -5)) >= Number(wanted.slice(1, -5)), `${originHost} after ${wanted}`);
    await until(`${originHost} is published`, async () => (await stands(id))?.originHost === originHost, 30_000);
  }
  await until('nothing waits', async () => (await rig.outbox()) === 0, 30_000);

  // whoever was the only one to do something does it again
  const purge = await call.del(`/user/site/${tenant.siteID}/setting/urlCache`, { type: 1, urls: ['http://d0.test/x'] });
  assert.equal(purge.status, 200, purge.text);
  await rig.pool.query(
    `insert into blacklist ("siteID", ips, "blockType", "expiredAt") values ($1, '{203.0.113.7}', 'deny', now() + interval '200 ms')`,
    [tenant.siteID],
  );
  await until(
    'what ends by itself has ended',
    async () => (await rig.one('select count(*)::int from blacklist where "deletedAt" is null')) === 0,
    60_000,
  );
}

const addressOf = (url: string) => ({ host: new URL(url).hostname, port: Number(new URL(url).port) });
const by127 = (url: string, port: number) => Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href;

test('changes, publications and what ends by itself go on where they were: nothing accepted is lost, and nobody is told 500', async t => {
  const rig = await Rig.start(t);
  const way = await blackHole(t);
  way.target = addressOf(rig.url);
  await goesOn(t, way, by127(rig.url, way.port), rig, [async () => {}, async () => {}]);
});

test('the first server is killed, and its standby takes its place: what was accepted stands there', async t => {
  const folder = join(testFolder('first'), 'pg');
  const first = await startPostgres({ dir: folder, ref: false });
  t.after(() => first.stop());
  await migrate(first.url);
  const second = await standbyOf(first, folder, join(testFolder('second'), 'pg'));
  t.after(() => second.stop());
  const way = await blackHole(t);
  way.target = addressOf(first.url);
  const through = by127(first.url, way.port);
  const rig = await Rig.start(t, Promise.resolve(through));
  await goesOn(t, way, through, rig, [
    async () => {
      signalGroup(first.pid, 'SIGKILL');
      await first.exited;
      await ask(second, 'select pg_promote()');
      way.target = addressOf(second.url);
    },
  ]);
});

async function ask(engine: PostgresEngine, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: engine.url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** A second server that has all that the first one has told anybody it has (synchronous replication, remote_apply). */
async function standbyOf(first: PostgresEngine, from: string, dir: string): Promise<PostgresEngine> {
  const client = new pg.Client({ connectionString: first.url });
  await client.connect();
  await client.query(`select pg_backup_start('second', true)`);
  cpSync(from, dir, { recursive: true, filter: path => !/^(?:postmaster\.pid|\.s\.PGSQL)/.test(basename(path)) });
  const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop()');
  await client.end();
  const { username, password, port } = new URL(first.url);
  writeFileSync(join(dir, 'backup_label'), rows[0]!.labelfile);
  writeFileSync(join(dir, 'standby.signal'), '');
  appendFileSync(
    join(dir, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=${username} password=${password} application_name=second'\n`,
  );
  cpSync(`${from}.password`, `${dir}.password`);
  const second = await startPostgres({ dir, ref: false });
  await ask(first, `alter system set synchronous_standby_names = 'second'`);
  await ask(first, `alter system set synchronous_commit = 'remote_apply'`);
  await ask(first, 'select pg_reload_conf()');
  await until(
    'it follows',
    async () => (await ask(first, `select 1 from pg_stat_replication where sync_state = 'sync'`)).length > 0,
  );
  return second;
}
