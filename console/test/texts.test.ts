/** Texts by folder: no word stands twice, every right has a name, and what lacks a text does not compile. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { groups } from '#contract/index.ts';
import { areas, permissionKeys } from '#contract/kit/call.ts';
import { languages } from '#contract/kit/text.ts';
import { type BackupProblem, backupProblem, backupSaid } from '#contract/system/backup-problems.ts';
import { type Column, options, type Resource } from '../src/kit/resource.ts';

const src = new URL('../src/', import.meta.url).pathname;
/** Those of all folders as one file. */
const merged = ['text/tasks.*.ts'];
const load = async (pattern: string) =>
  Promise.all(
    globSync(pattern, { cwd: src, exclude: merged }).map(async file => ({
      file,
      keys: Object.keys(((await import(src + file)) as { default: object }).default),
    })),
  );

test('no key stands in two files: the one loaded later would win, for no reason that can be seen', async () => {
  const files = await load('{*/{text,late,tasks},text/{base,common,kit,messages}}.zh_TW.ts');
  assert.ok(files.length >= 14);
  const seen = new Map<string, string>();
  const twice: string[] = [];
  for (const { file, keys } of files)
    for (const key of keys) {
      if (seen.has(key)) twice.push(`${key}: ${seen.get(key)} and ${file}`);
      seen.set(key, file);
    }
  assert.deepEqual(twice, []);
});

test('every folder’s texts are loaded with the shell', async () => {
  const [app] = await load('text/app.zh_TW.ts');
  for (const { file, keys } of await load('*/text.zh_TW.ts'))
    for (const key of keys) assert.ok(app!.keys.includes(key), `${file} is missing in text/app.*.ts`);
});

test('every resource that a role can name has a name', async () => {
  const [late] = await load('account/late.zh_TW.ts');
  for (const area of areas)
    for (const key of permissionKeys(groups, area))
      assert.ok(late!.keys.includes(`resource.${key.split('.')[0]}`), `resource.${key.split('.')[0]}`);
});

test('every table whose rows the audit tells of has a word for one of them', async () => {
  const [tables] = await load('account/tables.zh_TW.ts');
  const server = new URL('../../server/src/', import.meta.url).pathname;
  const named = globSync('**/*.ts', { cwd: server, exclude: ['**/*.test.ts'] }).flatMap(file =>
    [...readFileSync(server + file, 'utf8').matchAll(/note\(\{\s*table: '(\w+)'|^ {2}table: '(\w+)',$/gm)].map(
      ([, noted, declared]) => (noted ?? declared)!,
    ),
  );
  assert.ok(new Set(named).size > 40, named.join());
  for (const table of named) assert.ok(tables!.keys.includes(`auditTable.${table}`), `auditTable.${table}`);
});

test('what the health of a node and the problems of backups speak of is called as the screens call it', async () => {
  for (const language of languages) {
    const texts = ((await import(`../src/system/late.${language}.ts`)) as { default: Record<string, string> }).default;
    const { texts: health } = (await import(`../../contract/src/system/health/${language}.ts`)) as {
      texts: Record<string, readonly string[]>;
    };
    const menu = ((await import(`../src/system/text.${language}.ts`)) as { default: Record<string, string> }).default;
    for (const reason of ['logsMore', 'logsTimeOver', 'logsDiskShort', 'logsFlood'])
      assert.ok(
        health[`configuration.${reason}`]![1]!.includes(`${menu['menu.systemSetting']} → ${texts['tab.nodeLog']}`),
        `${language} ${reason}`,
      );
  }
  const chinese = ['zh_TW', 'zh_CN'] as const;
  const names = { zh_TW: ['通行密語', '資料夾', '還原'], zh_CN: ['口令', '文件夹', '还原'] } as const;
  for (const language of chinese) {
    const [passphrase, folder, restore] = names[language];
    const texts = ((await import(`../src/system/late.${language}.ts`)) as { default: Record<string, string> }).default;
    assert.ok(texts['field.backupPassphrase']!.includes(passphrase));
    assert.equal(texts['backupTarget.folder'], folder);
    assert.ok(texts['backupKind.restoreTest']!.includes(restore));
    const said = (what: BackupProblem) => backupProblem(backupSaid(what, { folder: 'x', name: 'x', why: 'x' }), language);
    assert.ok(said('noPassphrase').includes(passphrase) && said('otherPassphrase').includes(passphrase));
    assert.ok(said('noFolder').includes(folder) && said('notFolder').includes(folder));
    assert.ok(said('unrestorable').includes(restore));
  }
});

test('sample: a value, a resource, a field or a column without its text is a type error', () => {
  // @ts-expect-error -- no text blockType.melt
  options(['deny', 'melt'], 'blockType');
  // @ts-expect-error -- the values of a column have no texts there
  const column: Column<{ id: number; blockType: 'deny' | 'drop' }> = { name: 'blockType', kind: 'option', texts: 'balance' };
  // @ts-expect-error -- no texts page.melted, noun.melted and empty.melted
  const name: Resource['name'] = 'melted';
  // @ts-expect-error -- no text field.melted
  const field: Column<{ melted: number }> = { name: 'melted' };
  assert.deepEqual([column.texts, name, field.name], ['balance', 'melted', 'melted']);
});

test('a word that goes by a number is written so that it is chosen, and no text counts "1 lines"', async () => {
  for (const file of globSync('{*/{text,late,tasks},text/*}.*.ts', { cwd: src })) {
    const texts = ((await import(src + file)) as { default?: Record<string, string> }).default ?? {};
    for (const [key, text] of Object.entries(texts)) {
      assert.doesNotMatch(text.replaceAll(/\{\w+, one: [^{},]+, other: [^{},]+\}/g, ''), /\{\w+[^\w}]/, `${file} ${key}`);
      assert.doesNotMatch(text, /\{(?:count|days|networks)\} [a-z]+s\b/, `${file} ${key}`);
      // the word is chosen by the number and does not say it
      for (const [, name] of text.matchAll(/\{(\w+), one:/g)) assert.ok(text.includes(`{${name}}`), `${file} ${key}`);
    }
  }
});

test('one thing has one name: its tab, its page and the part of a site that the edge could not take', async () => {
  for (const language of ['zh_TW', 'zh_CN', 'en_US']) {
    const texts = new Map<string, string>();
    for (const file of globSync(`{*/{text,late,tasks},text/{base,common,kit,messages}}.${language}.ts`, { cwd: src }))
      for (const [key, text] of Object.entries(((await import(src + file)) as { default: Record<string, string> }).default))
        texts.set(key, text);
    const same = (one: string, other: string) => {
      for (const [key, text] of texts) {
        const twin = key.startsWith(`${one}.`) ? texts.get(key.replace(one, other)) : undefined;
        if (twin !== undefined) assert.equal(text, twin, `${language}: ${key} and ${other}`);
      }
    };
    same('tab', 'page');
    same('menu', 'page');
    same('appliedKind', 'page');
  }
});
