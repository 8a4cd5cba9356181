/** Root's part of an upgrade reads the folder of the node's user: whatever lies there, it neither waits nor is asked for ever. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type FolderLock, lockFile } from '#host/folder-lock.ts';
import { Signer } from '#server/bus/credentials.ts';
import { testFolder } from '#system/engines.ts';

const main = new URL('../src/main.ts', import.meta.url).pathname;
const signer = new Signer(randomBytes(32).toString('base64url'));
const packed = { file: 'application-aaaaaaaaaaaa.tar.gz', bytes: 10, sha256: 'a'.repeat(64), tree: '' };
const runtime = 'runtime-aaaaaaaaaaaa.tar.gz';
const list = JSON.stringify({
  version: '1-x',
  node: '24.0.0',
  packages: [],
  application: packed,
  runtime: { ...packed, file: runtime },
});

/** @param put what the node's user does to its folder of upgrades, in which all lies as it should. @returns what root says of it */
function placed(put: (folder: string) => void): { why: string; folder: string } {
  const home = testFolder('place');
  const [prefix, data] = [join(home, 'programs'), join(home, 'data')];
  const folder = join(data, 'upgrade');
  for (const one of ['versions', 'runtime']) mkdirSync(join(prefix, one), { recursive: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(prefix, 'document.key'), signer.publicKey);
  writeFileSync(join(folder, 'place'), '1-x 0-x 1');
  writeFileSync(join(folder, 'bundle.json'), list);
  writeFileSync(join(folder, 'bundle.sig'), signer.bundle(list));
  writeFileSync(join(folder, packed.file), 'x'.repeat(10));
  writeFileSync(join(folder, runtime), 'x'.repeat(10));
  put(folder);
  const args = [main, '--place', data, '--prefix', prefix, '--key', join(prefix, 'document.key')];
  const { status, signal, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 30_000 });
  assert.deepEqual([status, signal], [0, null], stderr);
  assert.ok(!existsSync(join(folder, 'place')), 'the question is taken away');
  return { ...(JSON.parse(readFileSync(join(prefix, 'placed.json'), 'utf8')) as { why: string }), folder };
}
const pipe = (name: string) => (folder: string) => {
  rmSync(join(folder, name));
  execFileSync('mkfifo', [join(folder, name)]);
};

test('it is read and judged', () => assert.match(placed(() => {}).why, /runtime-a+\.tar\.gz is not what was announced/));

test('a pipe in place of any file is no file, and nobody is waited for', () => {
  for (const name of ['place', 'bundle.json', 'bundle.sig']) assert.equal(placed(pipe(name)).why, `${name} is no file`);
  assert.match(placed(pipe(runtime)).why, /runtime-a+\.tar\.gz has not the announced length/);
});

test('a link in place of the folder is taken away, and what it leads to stays', () => {
  const elsewhere = testFolder('elsewhere');
  const { why, folder } = placed(path => {
    rmSync(path, { recursive: true });
    mkdirSync(elsewhere, { recursive: true });
    writeFileSync(join(elsewhere, 'place'), '1-x 0-x 1');
    symlinkSync(elsewhere, path);
  });
  assert.match(why, /upgrade is no folder/);
  assert.equal(lstatSync(folder, { throwIfNoEntry: false }), undefined);
  assert.ok(existsSync(join(elsewhere, 'place')));
});

test('a folder in place of the question goes with what is in it', () => {
  const { why } = placed(path => {
    rmSync(join(path, 'place'));
    mkdirSync(join(path, 'place/deep'), { recursive: true });
  });
  assert.equal(why, 'place is no file');
});

test('nothing is placed, and nothing taken away, while a join line works there', () => {
  let line: FolderLock | undefined;
  const { why, folder } = placed(path => {
    const prefix = join(path, '../../programs');
    mkdirSync(join(prefix, 'versions/2-y'));
    line = lockFile(join(prefix, '.join'));
  });
  line!.release();
  assert.match(why, /^a join line is at work in \S+: nothing was placed$/);
  assert.ok(existsSync(join(folder, '../../programs/versions/2-y')), 'what the line has unpacked');
});

test('what a placing left that was broken off is taken away by the next one', () => {
  const { folder } = placed(path => mkdirSync(join(path, '../../programs/versions/.new-aBcDeF/runtime'), { recursive: true }));
  assert.deepEqual(readdirSync(join(folder, '../../programs/versions')), []);
});
