/**
 * Damage to what is kept: every small file of the data folder cut, emptied, altered or removed. A start heals it, or ends with one
 * sentence that says what to do; nothing that was promised is lost, and no stack trace is shown.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  readFileSync,
  readdirSync,
  type Dirent,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { projectFolder } from '#bin/launch/settings.ts';
import { accountOf } from '#server/store/accounts.ts';
import { poll } from '#server/store/engine-process.ts';
import { Whole } from './whole.ts';

let whole: Whole;
before(async () => {
  whole = await Whole.start(['--demo']);
  assert.ok(await poll(async () => (await nodes()).length === 1, 30_000));
  node = (await nodes())[0]!.id;
  await whole.stop();
});
after(async () => {
  await whole?.stop();
});
let node: string;

async function ask<T>(text: string): Promise<T[]> {
  const password = readFileSync(join(whole.folder, 'postgres.password'), 'utf8').trim();
  const { postgres } = JSON.parse(readFileSync(join(whole.folder, 'run/ports.json'), 'utf8')) as { postgres: number };
  const client = new pg.Client({ connectionString: `postgres://breakwater:${password}@127.0.0.1:${postgres}/breakwater` });
  await client.connect();
  try {
    return (await client.query(text)).rows as T[];
  } finally {
    await client.end();
  }
}
const nodes = () =>
  ask<{ id: string; fresh: boolean }>(
    `select id, "lastBeat" > now() - interval '10 seconds' as fresh from node where "deletedAt" is null and "publicKey" is not null`,
  );

/** What may be lost or broken without anybody noticing. Those of `logs/` and of nginx's cache are no state. */
const mended = () => [
  'postgres.password',
  'store.password',
  'local-node.json',
  'nats/nats.conf',
  'nats/server.creds',
  'nats/system.creds',
  ...['ports.json', 'owner', 'sessions'].map(name => `run/${name}`),
  ...['identity.json', 'nginx.conf', 'snapshot.bin', 'addresses.json'].map(name => `node/${name}`),
  ...['nginx.json', 'nginx.pid', 'default.crt', 'default.key'].map(name => `node/run/${name}`),
  ...below('node/config'),
  ...below('node/log').filter(name => name.endsWith('.json')),
];
const below = (folder: string) =>
  readdirSync(join(whole.folder, folder), { recursive: true, encoding: 'utf8' })
    .map(name => `${folder}/${name}`)
    .filter(name => lstatSync(join(whole.folder, name)).isFile());

const damages: [name: string, damage: (path: string) => void][] = [
  ['cut in the middle', path => truncateSync(path, Math.floor(statSync(path).size / 2))],
  ['empty', path => truncateSync(path, 0)],
  ['altered at the beginning', path => writeFileSync(path, Buffer.concat([Buffer.from('Q'), readFileSync(path).subarray(1)]))],
  ['gone', path => rmSync(path)],
];
for (const [name, damage] of damages) {
  test(`every file that can be made anew is ${name}: the start heals it, the node is the same one, its site is served`, async () => {
    const files = mended().filter(file => existsSync(join(whole.folder, file)));
    assert.ok(files.length > 12, files.join(' '));
    for (const file of files) damage(join(whole.folder, file));
    // a killed PostgreSQL leaves these
    for (const left of ['.s.PGSQL.5432', '.s.PGSQL.5432.lock', 'postmaster.pid'])
      writeFileSync(join(whole.folder, 'postgres', left), '');
    const { postgres } = readPorts();
    if (postgres) writeFileSync(join(whole.folder, `postgres/.s.PGSQL.${postgres}.lock`), '');
    await whole.up();
    assert.doesNotMatch(whole.output, /^\s+at /m);
    assert.ok(
      await poll(async () => (await nodes()).every(({ fresh }) => fresh), 30_000, 200),
      `the node is heard: ${JSON.stringify(await nodes())}\n${whole.output.slice(-3000)}`,
    );
    assert.deepEqual(
      (await nodes()).map(({ id }) => id),
      [node],
      'no ghost',
    );
    assert.equal((await whole.visit('demo.breakwater.test', '/')).status, 200);
    assert.equal(await whole.stop(), 0, whole.output);
  });
}
/** All that is in a folder; what goes while it is read (a running store merges its parts) is not there. */
function within(folder: string): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return [];
  }
  return entries.flatMap(one => [
    one.name,
    ...(one.isDirectory() ? within(join(folder, one.name)).map(name => join(one.name, name)) : []),
  ]);
}

test(
  'folders that belong to the users of an earlier version, or of another machine, are handed over',
  { skip: process.getuid?.() !== 0 },
  async () => {
    for (const [folder, owner] of [
      ['postgres', 65_534],
      ['nats/work', 65_534],
      ['store', 0],
      ['node', 0],
      ['node/cache', 65_534],
    ] as const)
      for (const path of [folder, ...within(join(whole.folder, folder)).map(name => join(folder, name))])
        lchownSync(join(whole.folder, path), owner, owner);
    await whole.up();
    assert.ok(await poll(async () => (await nodes()).every(({ fresh }) => fresh), 30_000, 200), whole.output.slice(-3000));
    assert.equal((await whole.visit('demo.breakwater.test', '/')).status, 200);
    for (const [folder, account] of [
      ['postgres', 'postgres'],
      ['nats/work', 'nats'],
      ['store', 'store'],
      ['node', 'node'],
    ] as const)
      for (const path of ['.', ...within(join(whole.folder, folder))])
        assert.equal(
          lstatSync(join(whole.folder, folder, path), { throwIfNoEntry: false })?.uid ?? accountOf(account)!.uid,
          accountOf(account)!.uid,
          `${folder}/${path}`,
        );
    assert.equal(await whole.stop(), 0);
  },
);

function readPorts(): Partial<Record<string, number>> {
  try {
    return JSON.parse(readFileSync(join(whole.folder, 'run/ports.json'), 'utf8')) as Record<string, number>;
  } catch {
    return {};
  }
}

/** Starts parts on the folder; answers how it ended, or undefined when it was ready (and was ended then). */
async function start(
  parts: string,
  whenReady = () => Promise.resolve<unknown>(undefined),
): Promise<{ code: number | null; output: string } | undefined> {
  const child = spawn(process.execPath, [join(projectFolder, 'bin/launch.ts'), `--only=${parts}`], {
    env: { ...whole.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = new Promise<number | null>(done => child.once('close', done));
  const isReady = () => /^ready /m.test(output);
  await poll(() => isReady() || child.exitCode !== null, 90_000);
  if (isReady()) await whenReady();
  child.kill('SIGTERM');
  const code = await ended;
  return isReady() ? undefined : { code, output };
}

const engines = 'postgres,nats';
const says: [file: string, parts: string, cut: RegExp, gone: RegExp | undefined][] = [
  ['secret.key', engines, /secret\.key must hold exactly 32 bytes, .* restore it/, /secret\.key is missing, .* restore it/],
  [
    'nats/keys.json',
    engines,
    /keys\.json is damaged: restore it .*, or remove the folder/,
    /keys\.json is missing: restore it .*, or remove/,
  ],
  [
    'postgres/PG_VERSION',
    engines,
    /PG_VERSION .* is missing or damaged: restore/,
    /PG_VERSION .* is missing or damaged: restore/,
  ],
  // its second half is filling
  ['postgres/global/pg_control', engines, /./, /^PostgreSQL did not start: /],
  ['postgres/postgresql.conf', engines, /./, undefined],
  ['postgres/pg_hba.conf', engines, /./, /^PostgreSQL did not start: /],
];
for (const [file, parts, cut, gone] of says)
  test(`${file} cut, empty or gone: a start that goes well, or one sentence and the data as it was`, async () => {
    const path = join(whole.folder, file);
    const { uid, gid } = statSync(path);
    const kept = readFileSync(path);
    try {
      for (const [how, damage, sentence] of [
        ['cut', () => truncateSync(path, Math.floor(kept.length / 2)), cut],
        ['empty', () => truncateSync(path, 0), cut],
        ['gone', () => rmSync(path), gone ?? /./],
      ] as const) {
        damage();
        const refusal = await start(parts);
        if (!existsSync(path)) writeFileSync(path, kept, { mode: 0o600 });
        writeFileSync(path, kept);
        if (process.getuid?.() === 0) chownSync(path, uid, gid);
        // only of what says nothing of its own a start may go well
        if (!refusal) {
          assert.equal(sentence.source, '.', `${how}: it started`);
          continue;
        }
        assert.equal(refusal.code, 1, how);
        const lines = refusal.output
          .trim()
          .split('\n')
          .filter(line => line && !/^(postgres|nats) +(starting|ending)$/.test(line));
        assert.equal(lines.length, 1, `${how}: ${refusal.output}`);
        assert.match(lines[0]!, sentence, how);
      }
    } finally {
      writeFileSync(path, kept);
    }
  });

test('another key than the database was made with is refused, and the right one still opens it', async () => {
  const path = join(whole.folder, 'secret.key');
  const kept = readFileSync(path);
  writeFileSync(path, Buffer.concat([kept.subarray(0, 31), Buffer.from([kept[31]! ^ 1])]));
  const refusal = await start('postgres,nats,store,server');
  writeFileSync(path, kept);
  assert.ok(refusal);
  assert.match(
    refusal.output
      .trim()
      .split('\n')
      .filter(line => !/ (starting|ending)$/.test(line))
      .at(-1)!,
    /^The key in secret\.key is not the one .* restore it/,
  );
  assert.doesNotMatch(refusal.output, /^\s+at /m);
});

test('a database of a newer version is refused with one sentence', async () => {
  assert.equal(await start('postgres', () => ask(`insert into migration (name) values ('9999_future.sql')`)), undefined);
  const refusal = await start('postgres,nats,store,server');
  assert.ok(refusal);
  assert.match(
    refusal.output,
    /^The database was written by a newer Breakwater \(it ran 9999_future\.sql, which this one does not know\): start that version, or restore a backup from before\.$/m,
  );
  assert.doesNotMatch(refusal.output, /^\s+at /m);
});
