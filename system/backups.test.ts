/** Backups by the clock: to a folder and to a store that checks each signature, kept by number, restored for a trial, and in earnest. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { backup } from '#bin/backup/backup.ts';
import { keep } from '#bin/backup/keeper.ts';
import { isDue } from '#bin/launch/backups.ts';
import { restore } from '#bin/backup/restore.ts';
import { S3 } from '#bin/backup/s3.ts';
import { readSettings, type Settings } from '#bin/launch/settings.ts';
import { mailPolicy } from '#server/kit/mail/send.ts';
import { row, rows } from '#server/store/db.ts';
import { checkInstallationKey } from '#server/store/key-check.ts';
import { startPostgres } from '#server/store/postgres-launcher.ts';
import { Api, password, type Tenant } from '../server/test/harness.ts';
import { testFolder } from './engines.ts';
import { S3Server } from './s3.ts';

const path = '/client/setting/system/DBBackup';
const passphrase = 'nine grey lighthouses';
let api: Api;
let a: Tenant;
let store: S3Server;
let settings: Settings;
const data = testFolder('backups');

before(async () => {
  store = await S3Server.start();
  api = await Api.start();
  a = await api.tenant('a');
  await checkInstallationKey(api.database.pool, api.key);
  chmodSync(data, 0o711); // PostgreSQL's own user passes through
  writeFileSync(join(data, 'secret.key'), api.key, { mode: 0o600 });
  settings = {
    ...readSettings([], { BREAKWATER_DATA: data }),
    databaseUrl: api.database.url,
    clickhouseUrl: 'http://127.0.0.1:9', // its logs are its own
  };
});
after(async () => {
  await api?.stop();
  store?.stop();
});

const read = async () => (await api.call('GET', path, { token: a.client.token })).body;
const fields = {
  enabled: true,
  every: 'day',
  hour: 3,
  weekday: 7,
  timezone: 'Asia/Taipei',
  target: 'folder',
  folder: '',
  endpoint: '',
  region: '',
  bucket: '',
  prefix: '',
  accessKeyID: '',
  logs: false,
  keep: 2,
  restoreTest: true,
};
const put = (body: object = {}) =>
  api.call('PUT', path, { token: a.client.token, body: { ...fields, ownPassword: password, ...body } });
const run = (kind: string) => api.call('POST', `${path}/run`, { token: a.client.token, body: { kind } });
/** As the clock asks: the time has come. */
const clock = async () => {
  await sql`update "databaseBackup" set "nextAt" = now() - interval '1 second'`.execute(api.database.db);
  await keep({ settings });
  return (await read()).runs as { kind: string; state: string; file: string; problem: string | null; rowCount: number }[];
};

test('the owner alone, a person alone; nothing to restore yet; who has said nothing has a plain start', async () => {
  const plain = await read();
  assert.deepEqual([plain.enabled, plain.target, plain.version, plain.runs], [false, 'folder', 0, []]);
  const b = await api.tenant('b');
  assert.equal((await api.call('GET', path, { token: b.client.token })).body.code, 101018);
  const tested = await run('restoreTest');
  assert.deepEqual([tested.status, tested.body.errorData[0]], [400, { path: 'kind', rule: 'backupNeeded' }]);
});

test('by the clock into the folder, restored for a trial by itself; a next time in the zone that was said', async () => {
  assert.equal((await put({ passphrase })).status, 200);
  // as whoever was the owner before has left it
  const former = await api.account('client', 'former@test.test');
  const left = await row<{ id: number }>(
    api.database.db,
    sql`insert into "databaseBackup" ("clientID", enabled) values (${former.id}, true) returning id`,
  );
  const { nextAt, passphraseIsSet } = await read();
  assert.equal(passphraseIsSet, true);
  assert.equal(new Date(nextAt).toISOString().slice(11, 16), '19:00', 'three in the morning in Taipei');
  assert.ok(Date.parse(nextAt) > Date.now() && Date.parse(nextAt) <= Date.now() + 24 * 3_600_000);
  const [proof, made] = await clock();
  assert.deepEqual([made!.kind, made!.state, made!.problem], ['backup', 'done', null]);
  assert.deepEqual([proof!.kind, proof!.state, proof!.problem], ['restoreTest', 'done', null]);
  assert.equal(proof!.file, made!.file);
  // all but what a restore forgets by itself
  assert.ok(proof!.rowCount > 0 && proof!.rowCount <= made!.rowCount);
  assert.deepEqual(readdirSync(join(data, 'backups')), [made!.file]);
  assert.match(made!.file, /^breakwater-[\dT-]+-[0-9a-f]{6}\.tar\.zst\.age$/);
  assert.ok(!existsSync(join(data, 'restore-test')) && !existsSync(join(data, 'run/backup')));
  assert.ok(Date.parse((await read()).nextAt) > Date.now(), 'its turn has moved on');
  const theirs = () =>
    rows<{ state: string }>(api.database.db, sql`select state from "backupRun" where "backupID" = ${left!.id} order by id`);
  assert.deepEqual(await theirs(), [], 'nobody is sent it but the owner');
  // nor what was asked for while it was the owner
  assert.equal(await isDue(api.database.url), false);
  await sql`insert into "backupRun" ("backupID", kind, "askedBy") values (${left!.id}, 'backup', 'former@test.test')`.execute(
    api.database.db,
  );
  assert.equal(await isDue(api.database.url), false);
  await keep({ settings });
  assert.deepEqual(await theirs(), [{ state: 'asked' }]);
  await sql`delete from "backupRun" where "backupID" = ${left!.id}`.execute(api.database.db);
  await sql`delete from "databaseBackup" where "clientID" = ${former.id}`.execute(api.database.db);
});

test('overdue: its time is over and nobody began it, or none has succeeded for twice its rhythm; in time it is not', async () => {
  const { db } = api.database;
  const isOverdue = async () => (await read()).isOverdue as boolean;
  assert.equal(await isOverdue(), false);
  const { nextAt } = await read();
  await sql`update "databaseBackup" set "nextAt" = now() - interval '14 minutes'`.execute(db);
  assert.equal(await isOverdue(), false, 'it may wait for another to end');
  await sql`update "databaseBackup" set "nextAt" = now() - interval '16 minutes'`.execute(db);
  assert.equal(await isOverdue(), true);
  await sql`update "databaseBackup" set "nextAt" = ${nextAt}, "updatedAt" = now() - interval '9 days'`.execute(db);
  assert.equal(await isOverdue(), false, 'there is the one of just now');
  await sql`update "backupRun" set "endedAt" = "endedAt" - interval '49 hours'`.execute(db);
  assert.equal(await isOverdue(), true);
  await sql`update "databaseBackup" set enabled = false`.execute(db);
  assert.equal(await isOverdue(), false, 'nobody wants any');
  await sql`update "databaseBackup" set enabled = true, "updatedAt" = now()`.execute(db);
  await sql`update "backupRun" set "endedAt" = "endedAt" + interval '49 hours'`.execute(db);
});

test('to a store that checks signatures, past a moment in which it is busy; the oldest goes, what others put there stays', async () => {
  const s3 = {
    target: 's3',
    endpoint: store.url,
    region: 'eu-test-1',
    bucket: 'vault',
    prefix: 'a b/'.replace(' ', '_'),
    accessKeyID: store.accessKey,
    restoreTest: false,
  };
  assert.equal(
    (await put({ ...s3, endpoint: 'http://169.254.169.254', secretKey: store.secretKey })).body.errorData[0].rule,
    'addressNotAllowed',
  );
  assert.equal((await put(s3)).body.errorData[0].path, 'secretKey');
  assert.equal((await put({ ...s3, secretKey: store.secretKey, passphrase: '' })).body.errorData[0].path, 'passphrase');
  assert.equal((await put({ ...s3, secretKey: store.secretKey, passphrase: 'short' })).body.errorData[0].rule, 'passphraseShort');
  assert.equal((await put({ ...s3, bucket: '', secretKey: store.secretKey })).body.errorData[0].path, 'bucket');
  assert.equal((await put({ ...s3, secretKey: 'another' })).status, 200);
  assert.match((await clock())[0]!.problem!, /SignatureDoesNotMatch/);
  assert.ok(store.refused > 0 && store.objects.size === 0);
  assert.equal((await put({ ...s3, secretKey: store.secretKey })).status, 200);
  const strange = 'a_b/breakwater-2020-01-01T00-00-00-abcdef.tar.zst.age';
  store.objects.set(strange, Buffer.from('of another installation'));
  store.busy = 2;
  const made: string[] = [];
  await put({ ...s3, keep: 1 });
  for (let n = 0; n < 2; n++) made.push((await clock())[0]!.file);
  assert.equal(store.busy, 0);
  assert.deepEqual([...store.objects.keys()].sort(), [strange, ...made.slice(1).map(name => `a_b/${name}`)].sort());
  const shown = JSON.stringify(await read());
  assert.ok(!shown.includes(store.secretKey) && !shown.includes(passphrase));
});

test('a large file goes in parts and comes back; what was not put together is taken back, and a list of many pages is read to its end', async () => {
  const { accessKey, secretKey, url: endpoint } = store;
  const policy = await mailPolicy(api.database.db, a.client.id);
  const s3 = new S3({
    endpoint,
    region: 'r',
    bucket: 'vault',
    prefix: 'parts/',
    accessKey,
    secretKey,
    policy,
    partBytes: 10_000,
  });
  const file = join(data, 'large');
  const bytes = randomBytes(47_011);
  writeFileSync(file, bytes);
  const names = ['one', 'two & “three”', 'four', 'five', 'six'];
  for (const name of names) await s3.put(name, file);
  assert.deepEqual((await s3.list(new Set([...names, 'nine']))).sort(), [...names].sort());
  await s3.get('two & “three”', join(data, 'back'));
  assert.ok(readFileSync(join(data, 'back')).equals(bytes));
  store.breaks = true;
  await assert.rejects(s3.put('seven', file), /InvalidPart/);
  assert.deepEqual([store.uploads.size, store.objects.has('parts/seven')], [0, false]);
});

test('asked for by hand: what lies in the store is fetched and restored; one that was changed there fails, and says why', async () => {
  const asked = await run('restoreTest');
  assert.equal(asked.status, 200);
  assert.equal((await run('backup')).body.id, asked.body.id, 'one at a time');
  await keep({ settings });
  const { lastRestoreTest, lastBackup } = await read();
  assert.deepEqual([lastRestoreTest.id, lastRestoreTest.file], [asked.body.id, lastBackup.file]);
  assert.equal(lastRestoreTest.askedBy, a.client.email);
  const key = `a_b/${lastBackup.file}`;
  const whole = store.objects.get(key)!;
  const changed = Buffer.from(whole);
  changed[changed.length - 100]! ^= 1;
  store.objects.set(key, changed);
  await run('restoreTest');
  await keep({ settings });
  const [failed] = (await read()).runs;
  assert.match(failed.problem, /^breakwater-\S+ cannot be restored: its bytes are damaged/);
  assert.equal((await read()).lastRestoreTest.id, lastRestoreTest.id, 'the latest that passed');
  // whoever keeps the store puts something else there: nothing of it is read, and our disk stays ours
  const others = [
    [Buffer.alloc(whole.length, 'x'), /is not encrypted, and was/],
    [Buffer.alloc(whole.length + 1, 'x'), /bytes now, and had/],
  ] as const;
  for (const [other, why] of others) {
    store.objects.set(key, other);
    await run('restoreTest');
    await keep({ settings });
    assert.match((await read()).runs[0].problem, why);
  }
  // an older archive of ours, whole and under the same passphrase, in the place of the latest; for a release before by its rows and its time
  const then = (await row<{ at: Date; rows: number }>(
    api.database.db,
    sql`select "archiveTime" as at, "rowCount"::int as rows from "backupRun" where id = ${lastBackup.id}`,
  ))!;
  const older = join(data, 'older.age');
  await backup({ settings, target: older, logs: false, passphrase });
  store.objects.set(key, readFileSync(older));
  for (const sum of [lastBackup.sha256, null]) {
    await sql`update "backupRun" set sha256 = ${sum}, bytes = 1e9 where id = ${lastBackup.id}`.execute(api.database.db);
    await run('restoreTest');
    await keep({ settings });
    const { problem } = (await read()).runs[0];
    assert.match(problem, new RegExp(`^What lies there as ${lastBackup.file} is another archive: of \\d{4}-.+ with \\d+ rows`));
    assert.ok(
      problem.includes(`is of ${new Date(then.at).toISOString()}, with ${then.rows} rows and the SHA-256 ${sum ?? '–'}.`),
      problem,
    );
  }
  store.objects.set(key, whole);
  await run('restoreTest');
  await keep({ settings });
  assert.deepEqual((await read()).runs[0].problem, null, 'one of a release before, which wrote no sum down, is known again');
  await sql`update "backupRun" set sha256 = ${lastBackup.sha256}, bytes = ${whole.length} where id = ${lastBackup.id}`.execute(
    api.database.db,
  );

  // in earnest, on an empty machine
  const file = join(data, 'fetched');
  writeFileSync(file, whole);
  const target = join(testFolder('restored'), 'data');
  await restore(file, target, { passphrase });
  const engine = await startPostgres({ dir: join(target, 'postgres') });
  let second: Api | undefined;
  try {
    second = await Api.start({}, {}, engine.url);
    for (const person of [a.client, a.user]) {
      const signedIn = await second.call('POST', `/${person.area}/verify`, { body: { email: person.email, password } });
      assert.equal(signedIn.status, 200, signedIn.text);
    }
    const found = await row<{ n: number }>(second.database.db, sql`select count(*)::int as n from site where id = ${a.siteID}`);
    assert.equal(found!.n, 1);
  } finally {
    await second?.stop();
    await engine.stop();
  }
});

test('a folder of everybody’s, a way around by a link, and the installation itself are refused; what was broken off is told', async () => {
  const open = testFolder('open');
  chmodSync(open, 0o777);
  symlinkSync(data, join(data, 'backups/link'));
  const problems: string[] = [];
  for (const folder of [join(data, 'nowhere'), open, data, join(data, 'backups/link')]) {
    assert.equal((await put({ folder })).status, 200);
    problems.push((await clock())[0]!.problem!);
  }
  assert.match(problems[0]!, /There is no folder/);
  assert.match(problems[1]!, /nobody else may write/);
  for (const problem of problems.slice(2)) assert.match(problem, /a part of the installation/);
  for (const folder of ['relative', '/srv/../etc']) assert.equal((await put({ folder })).body.errorData[0].rule, 'folderForm');
  await run('backup');
  await sql`update "backupRun" set state = 'running', "startedAt" = now(), "beatAt" = now() - interval '5 minutes' where state = 'asked'`.execute(
    api.database.db,
  );
  await keep({ settings });
  const { runs, lastBackup } = await read();
  assert.match(runs[0].problem, /broken off/);
  // a month in which each one failed: the one there is stays known
  await sql`insert into "backupRun" ("backupID", kind, state) select "backupID", 'backup', 'failed' from "backupRun", generate_series(1, 900)
    where id = ${lastBackup.id}`.execute(api.database.db);
  await run('backup');
  await keep({ settings });
  assert.deepEqual((await read()).lastBackup.id, lastBackup.id);
});
