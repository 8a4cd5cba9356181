import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readJson, writeWhole } from './files.ts';

const folder = mkdtempSync(join(tmpdir(), 'breakwater-files-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('a file is written whole, with its mode, and nothing is left beside it', () => {
  const path = join(folder, 'state');
  writeWhole(path, 'one');
  writeWhole(path, 'two', { mode: 0o640 });
  assert.equal(readFileSync(path, 'utf8'), 'two');
  assert.equal(statSync(path).mode & 0o777, 0o640);
  assert.deepEqual(readdirSync(folder), ['state']);
});

test('what cannot be put in place leaves what was there, and nothing beside it', () => {
  const place = mkdtempSync(join(folder, 'place-'));
  assert.throws(() => writeWhole(place, 'a file where a folder is'), { code: 'EISDIR' });
  assert.throws(() => writeWhole(join(place, 'absent/state'), 'x'), { code: 'ENOENT' });
  assert.deepEqual(
    readdirSync(folder).filter(name => name.endsWith('.new')),
    [],
  );
});

test('a link that somebody put in its place is replaced, not followed', () => {
  const target = join(folder, 'target');
  writeFileSync(target, 'of somebody else');
  symlinkSync(target, join(folder, 'link'));
  writeWhole(join(folder, 'link'), 'ours');
  assert.equal(readFileSync(target, 'utf8'), 'of somebody else');
  assert.equal(readFileSync(join(folder, 'link'), 'utf8'), 'ours');
});

test('JSON that is missing, cut or of another shape is nothing', () => {
  const path = join(folder, 'json');
  const isList = (value: unknown): value is number[] => Array.isArray(value);
  assert.equal(readJson(path, isList), undefined);
  for (const text of ['', '[1,', '{"a":1}']) {
    writeFileSync(path, text);
    assert.equal(readJson(path, isList), undefined, text);
  }
  writeFileSync(path, '[1]');
  assert.deepEqual(readJson(path, isList), [1]);
});

/** Not state: what is built or printed, what is only ever appended to, archives (which take their place whole in their own way). */
const others = new Set([
  'bin/bootstrap.js',
  'bin/openapi.ts',
  'bin/backup/archive.ts',
  'bin/bundle/make.ts',
  // a wish to the kernel
  'server/src/resolution/geo/build.ts',
  'agent/src/upgrade/fetch.ts',
  'agent/src/upgrade/place.ts',
  'bin/launch/logs.ts',
  'bin/launch/lock.ts',
  'host/files.ts',
]);
const writes = (text: string) =>
  /(?<![.\w])(?:fs\.)?(?:writeFile|writeFileSync|appendFile|appendFileSync|createWriteStream)\(/.test(text);

test('no shipped code keeps state in another way', () => {
  for (const sample of ["await writeFile(path, 'x')", "fs.writeFileSync(path, 'x')", 'createWriteStream(path)'])
    assert.ok(writes(sample), sample);
  const root = fileURLToPath(new URL('..', import.meta.url));
  const files = globSync('{bin,host,server/src,agent/src}/**/*.{ts,js}', { cwd: root }).filter(
    file => !/\.test\.ts$|^bin\/(test|bench)/.test(file) && !others.has(file),
  );
  assert.ok(files.length > 100);
  assert.deepEqual(
    files.filter(file => writes(readFileSync(join(root, file), 'utf8'))),
    [],
    'these write a file that may be found cut: use writeWhole of host/files.ts',
  );
});
