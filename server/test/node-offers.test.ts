/** Several machines of the control plane: what each has for nodes is known, nothing begins while they differ, and none gives one thing for another. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import Fastify from 'fastify';
import { sql } from 'kysely';
import { Offer } from '#server/bus/offer.ts';
import { Offers, differing } from '#server/node/offers.ts';
import { serveBundle } from '#server/services/bundle.ts';
import { mayGoOn } from '#server/system/tasks.ts';
import { taskWorks } from '#server/tasks.ts';
import { Tasks } from '#server/work/tasks.ts';
import { startWork } from '#server/work/work.ts';
import { freshDatabase, testFolder } from '#system/engines.ts';
import { by, is } from './expect.ts';
import { Api, type Tenant } from './harness.ts';
import { until } from './bus/rig.ts';

const seed = randomBytes(32).toString('base64url');
const folders = { one: testFolder('one'), two: testFolder('two') };
const one = new Offer(folders.one, seed);
const two = new Offer(folders.two, seed);
/** A bundle that is whole. */
function put(folder: string, version: string): void {
  const part = (name: string, text: string) => {
    const file = `${name}-0123456789ab.tar.gz`;
    writeFileSync(join(folder, file), text);
    return { file, sha256: Buffer.from(version.padEnd(32)).toString('hex'), bytes: text.length, tree: '' };
  };
  const bundle = {
    version,
    node: '24.0.0',
    packages: [],
    application: part('application', version),
    runtime: part('runtime', 'node'),
  };
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify(bundle));
}

let api: Api;
let tenant: Tenant;
let call: ReturnType<typeof by>;
let work: { stop(): Promise<void> };
const machines: Offers[] = [];
before(async () => {
  const url = await freshDatabase();
  put(folders.one, '0.1.0-a');
  put(folders.two, '0.1.0-a');
  api = await Api.start({ offer: one }, {}, url);
  tenant = await api.tenant('a');
  call = by(api, tenant.client);
  work = await startWork({ databaseUrl: url }, api.services, new Tasks(url, api.services, taskWorks, mayGoOn));
});
after(async () => {
  for (const machine of machines) await machine.stop();
  await work?.stop();
  await api?.stop();
});
const db = () => api.database.db;

test('while machines have different bundles no upgrade begins, one that is under way begins no further node, and each is named', async () => {
  for (const [name, offer] of [['one', one] as const, ['two', two] as const]) {
    const machine = new Offers(db(), offer, () => {}, name);
    machines.push(machine);
    await machine.start();
  }
  const latest = () => call.read('/client/node/latestVersion');
  assert.deepEqual([(await latest()).version, (await latest()).differing], ['0.1.0-a', []]);

  const ids = (
    await sql<{ id: number }>`insert into node ("clientID", "zoneID", name, "publicKey", status, version, beat, "lastBeat")
      select ${tenant.client.id}, ${tenant.zoneID}, 'm' || n, 'key' || n, 'normal', '0.1.0-old', '{"upgrade": {"able": true}, "nginx": {"up": true}}', now()
      from generate_series(1, 3) n returning id`.execute(db())
  ).rows.map(({ id }) => Number(id));

  // packed anew on one of both
  put(folders.two, '0.1.0-b');
  await until('it is known', async () => (await latest()).differing.length > 0);
  assert.deepEqual((await latest()).differing, [{ machine: 'two', version: '0.1.0-b' }]);
  is(await call.post('/client/node/upgrade', { ids }), 'nodeVersionMismatch');
  // a list without its archives is nothing
  rmSync(join(folders.two, 'application-0123456789ab.tar.gz'));
  await until('it is known', async () => (await latest()).differing[0]?.version === null);
  put(folders.two, '0.1.0-a');
  await until('they agree', async () => (await latest()).differing.length === 0);

  const { taskID } = (await call.post('/client/node/upgrade', { ids })).body;
  await until('the first is told', async () => (await sql`select 1 from "nodeCommand"`.execute(db())).rows.length === 1);
  put(folders.two, '0.1.0-b');
  await until('it is known', () => differing(db(), one.hash).then(all => all.length > 0));
  await sql`update node set version = '0.1.0-a' where name = 'm1'`.execute(db());
  await sql`update "nodeCommand" set ok = true, "endedAt" = now()`.execute(db());
  await until('it stops', async () => {
    await sql`update "nodeUpgrade" set "wellSince" = "wellSince" - interval '1 hour', "endedAt" = "endedAt" - interval '1 hour'`.execute(
      db(),
    );
    return (await call.read(`/client/task/${taskID}`)).task.endedAt !== null;
  });
  const { task, lines } = await call.read(`/client/task/${taskID}`);
  const said = lines.find(({ code }: { code: string }) => code === 'differing');
  assert.deepEqual([task.state, said?.values], ['failed', { machine: 'two', version: '0.1.0-b' }]);
  assert.equal((await sql`select 1 from "nodeCommand"`.execute(db())).rows.length, 1, 'nobody else was told');

  // a machine that is gone keeps nobody from anything
  await machines.pop()!.stop();
  assert.deepEqual(await differing(db(), one.hash), []);
});

test('a machine that has another bundle gives none of it: whoever asks again may come to one that has the right one', async t => {
  put(folders.one, '0.1.0-c');
  put(folders.two, '0.1.0-d');
  let log = '';
  const [right, wrong] = [Fastify(), Fastify()];
  for (const [app, offer] of [[right, one] as const, [wrong, two] as const]) {
    app.decorateReply('callNotFound', function () {
      return this.code(404).send() as never;
    });
    serveBundle(app, offer, api.database.pool, message => (log += message));
    await app.ready();
    t.after(() => app.close());
  }
  const ids = [1, 2].map(async i => {
    const made = sql<{ id: number }>`insert into node ("clientID", name) values (${tenant.client.id}, ${`n${i}`}) returning id`;
    return Number((await made.execute(db())).rows[0]!.id);
  });
  const [nodeID, other] = await Promise.all(ids);
  const { path } = one.command(nodeID!)!.body;
  const ask = async (app: typeof right, ticket = path) => {
    const { statusCode, body } = await app.inject({ url: `${ticket}/application` });
    return [statusCode, body];
  };
  assert.deepEqual(await ask(right), [200, '0.1.0-c']);
  assert.equal((await ask(wrong))[0], 503);
  assert.match(log, /not in .*two.*: run `npm run bundle` here/);
  put(folders.two, '0.1.0-c');
  assert.deepEqual(await ask(wrong), [200, '0.1.0-c']);
  // nobody else's ticket opens anything, nor one for another bundle
  const [, , hash] = path.split('.');
  assert.equal((await ask(right, path.replace(hash!, '0'.repeat(12))))[0], 404);
  assert.equal((await ask(right, path.replace(`/${nodeID}.`, `/${other}.`)))[0], 404);
});
