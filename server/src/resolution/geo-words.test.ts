import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { geoText, geoWords } from './geo-words.ts';

const dir = import.meta.dirname;
const files = [...globSync('geo/*.ts', { cwd: dir }), 'geo-data.ts'].filter(name => !name.endsWith('.test.ts'));
const sources = files.map(name => readFileSync(join(dir, name), 'utf8')).join('\n');

test('every sentence that what reads data of places says has a text in each language, and no text is left over', () => {
  const thrown = [...sources.matchAll(/(?:BadMmdb|GeoFileRefused|BuilderFailed|\brefused)\(\s*'([^']+)'/g)].map(
    found => found[1]!,
  );
  assert.ok(thrown.length > 15, String(thrown.length));
  assert.deepEqual(
    thrown.filter(one => !Object.hasOwn(geoWords, one)),
    [],
  );
  const unsaid = Object.keys(geoWords).filter(one => !sources.includes(one.replace('{why}', '')));
  assert.deepEqual(unsaid, []);
});

test('a sentence within another is told in the reader’s language, too; what has no text stays as it is', () => {
  const why = 'an uploaded file cannot be read any more: the archive was cut';
  assert.equal(geoText(why, 'en_US'), why);
  assert.equal(geoText(why, 'zh_TW'), '上傳過的檔案已無法讀取：壓縮檔不完整');
  assert.equal(geoText(why, 'zh_CN'), '上传过的文件已无法读取：压缩包不完整');
  assert.equal(geoText('ENOSPC: no space left on device', 'zh_TW'), 'ENOSPC: no space left on device');
  assert.equal(geoText('constructor', 'zh_TW'), 'constructor');
});
