/** The file of a backup: what is written is read, and whatever is cut, damaged or strange is one sentence and leaves nothing behind. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createWriteStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type About, ArchiveWriter, readArchive } from './archive.ts';
import { isEncrypted } from './cipher.ts';
import { restore } from './restore.ts';

const folder = mkdtempSync(join(tmpdir(), 'breakwater-archive-'));
after(() => rmSync(folder, { recursive: true }));
let serial = 0;
const fresh = () => join(folder, `${++serial}.tar.zst`);

const about: About = {
  product: 'breakwater',
  format: 1,
  version: '0.1.0',
  time: '2026-01-02T03:04:05.000Z',
  database: { migrations: [], tables: {}, sequences: {} },
  logs: true,
};
async function archive(members: Record<string, Buffer | string | { to: string }>, of: unknown = about): Promise<string> {
  const path = fresh();
  const writer = new ArchiveWriter(path);
  await writer.add('about.json', JSON.stringify(of));
  for (const [name, what] of Object.entries(members))
    if (typeof what === 'object' && 'to' in what) await writer.link(name, what.to);
    else await writer.add(name, what);
  await writer.finish();
  return path;
}
const long = `store/store/abc/${'0'.repeat(36)}/${'part'.repeat(10)}/${'column'.repeat(10)}.bin`;
const sample = {
  'files/secret.key': Buffer.from([0, 255, 10, 13]),
  'files/empty': '',
  [long]: Buffer.alloc(300_000, 'x'),
  'store/data/b/t': { to: `../../store/abc/${'0'.repeat(36)}` },
};
const nothing = async () => undefined;

test('what is written is read, for its owner alone, and never over a file', async () => {
  const path = await archive(sample);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.ok(!existsSync(`${path}.part`));
  const seen: Record<string, string> = {};
  const said = await readArchive(path, nothing, async ({ name, target, bytes }) => {
    const parts: Buffer[] = [];
    for await (const part of bytes) parts.push(part);
    seen[name] = target ?? Buffer.concat(parts).toString('latin1');
  });
  assert.deepEqual(said, about);
  assert.deepEqual(
    seen,
    Object.fromEntries(
      Object.entries(sample).map(([name, what]) => [
        name,
        typeof what === 'object' && 'to' in what ? what.to : Buffer.from(what).toString('latin1'),
      ]),
    ),
  );
  writeFileSync(`${path}.part`, 'of another');
  assert.throws(() => new ArchiveWriter(path), /another backup is being written/);
  assert.equal(readFileSync(`${path}.part`, 'utf8'), 'of another');
  const nowhere = join(folder, 'nowhere');
  assert.throws(() => new ArchiveWriter(join(nowhere, 'x.tar.zst')), {
    message: `There is no folder ${nowhere}: make it, or give another place.`,
  });
});

test('a file that is cut or changed anywhere is refused, and says so in one sentence', async () => {
  const bytes = readFileSync(await archive(sample));
  const path = fresh();
  const refused = async (broken: Buffer, what: string) => {
    writeFileSync(path, broken);
    await assert.rejects(
      restore(path, join(folder, 'into')),
      (error: Error) => /cannot be restored: [^\n]+\.$/.test(error.message) || assert.fail(`${what}: ${error.stack}`),
    );
    assert.ok(!existsSync(join(folder, 'into')), what);
  };
  for (let i = 0; i < 12; i++) {
    const at = Math.floor((bytes.length * i) / 12);
    await refused(bytes.subarray(0, at), `cut at ${at} of ${bytes.length}`);
    const changed = Buffer.from(bytes);
    changed[at]! ^= 0x10;
    await refused(changed, `changed at ${at}`);
  }
  // The compressor's end: Node adds an empty frame of 13 bytes, which holds nothing and may be missing as a whole.
  for (let n = 1; n <= 24; n++) if (n !== 13) await refused(bytes.subarray(0, bytes.length - n), `cut by ${n}`);
  await refused(Buffer.concat([bytes, Buffer.from('more')]), 'something after it');
  await refused(Buffer.from('no archive at all, but a text that somebody wrote'), 'a text');
});

test('what no backup of ours holds is refused', async () => {
  for (const name of [
    'files/../outside',
    'files/postgres/x',
    '/etc/x',
    'files//x',
    'store/../x',
    'other/x',
    'database/x.json',
    'files/.x',
  ]) {
    const into = join(folder, 'strange');
    await assert.rejects(restore(await archive({ [name]: 'x' }), into), /it holds .+, which no backup of ours does\.$/, name);
    assert.ok(!existsSync(into));
  }
  for (const to of ['/etc', '../../../etc', '../store/abc/x'])
    await assert.rejects(
      restore(await archive({ 'store/data/x': { to } }), join(folder, 'links')),
      /a link that leads elsewhere/,
    );
});

test('of a newer Breakwater, or something else: a sentence that says which', async () => {
  const into = join(folder, 'newer');
  const database = { ...about.database, migrations: ['0001_core.sql', '9999_future.sql'] };
  await assert.rejects(
    restore(await archive({}, { ...about, version: '9.0.0', database }), into),
    /newer Breakwater \(9\.0\.0\): its database has 9999_future\.sql.+ Restore it with that version\.$/,
  );
  await assert.rejects(restore(await archive({}, { ...about, format: 2 }), into), /newer Breakwater/);
  for (const other of [{ product: 'other' }, { ...about, time: '2026 \u001b[2J' }, { ...about, time: undefined }])
    await assert.rejects(restore(await archive({}, other), into), /no archive of a backup/);
  await assert.rejects(restore(join(folder, 'nowhere'), into), /There is no file/);
  writeFileSync(join(folder, 'taken'), '');
  await assert.rejects(restore(await archive({}), folder), /is not empty/);
  assert.ok(readdirSync(folder).includes('taken'));
});

test('one that is broken off leaves nothing', async () => {
  const path = fresh();
  const stop = new AbortController();
  const writer = new ArchiveWriter(path, stop.signal);
  await writer.add('about.json', '{}');
  stop.abort(new Error('broken off'));
  await assert.rejects(writer.add('files/x', 'x'), /broken off/);
  await writer.abandon();
  assert.ok(!existsSync(path) && !existsSync(`${path}.part`));
});

test('under a passphrase: read with it alone, whatever is cut or changed is refused, and the file tells nothing', async () => {
  const passphrase = 'twelve quiet herons';
  const path = fresh();
  const writer = new ArchiveWriter(path, undefined, passphrase);
  await writer.add('about.json', JSON.stringify(about));
  await writer.add('files/secret.key', Buffer.alloc(200_000, 'secret of the house '));
  await writer.finish();
  const bytes = readFileSync(path);
  assert.ok(await isEncrypted(path));
  assert.ok(!bytes.includes('breakwater') && !bytes.includes('secret of'));
  let seen = 0;
  await readArchive(
    path,
    nothing,
    async member => {
      for await (const part of member.bytes) seen += part.length;
    },
    undefined,
    passphrase,
  );
  assert.equal(seen, 200_000);
  const into = join(folder, 'hidden');
  await assert.rejects(restore(path, into), /it is encrypted, and no passphrase was given\.$/);
  await assert.rejects(restore(path, into, { passphrase: 'twelve loud herons' }), /the passphrase is another one/);
  for (const broken of [bytes.subarray(0, bytes.length - 20), Buffer.concat([bytes, Buffer.from('x')])]) {
    writeFileSync(path, broken);
    await assert.rejects(restore(path, into, { passphrase }), /its bytes are damaged, or it ends in its middle\.$/);
  }
  const changed = Buffer.from(bytes);
  changed[bytes.length - 40]! ^= 1;
  writeFileSync(path, changed);
  await assert.rejects(restore(path, into, { passphrase }), /its bytes are damaged/);
  assert.ok(!existsSync(into));
});

test('with a passphrase, what is not encrypted is refused before anything of it is read, also out of a pipe', async () => {
  const plain = await archive(sample);
  const into = join(folder, 'downgraded');
  let begun = false;
  const read = (path: string) =>
    readArchive(
      path,
      async () => void (begun = true),
      async () => undefined,
      undefined,
      'twelve quiet herons',
    );
  await assert.rejects(read(plain), /it is not encrypted: leave the passphrase away to take it anyway$/);
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const feed = createWriteStream(pipe);
  feed.on('error', () => {}); // nobody reads on
  feed.end(readFileSync(plain));
  await assert.rejects(read(pipe), /it is not encrypted/);
  assert.ok(!begun);
  await assert.rejects(restore(plain, into, { passphrase: 'twelve quiet herons' }), /cannot be restored: it is not encrypted/);
  assert.ok(!existsSync(into));
});
