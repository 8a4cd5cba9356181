/**
 * Golden files: `golden/<name>.json` holds `{kind, rows, document}`. `UPDATE_GOLDEN=1 node --test …` rewrites the
 * documents; the diff then shows what a change of the compiler does to every node.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { type DocumentKind, isEmpty, kinds } from '#contract/edge/kinds/index.ts';
import { type ModuleTypeName, moduleTypes } from '#contract/edge/modules/index.ts';
import { compile, type RowOf } from '#server/compile/compile.ts';
import type { Loaded } from '#server/compile/source.ts';
import { settings } from '../guards/rows/module.ts';
import { siteLists } from '../guards/site-lists.ts';

const folder = new URL('./golden/', import.meta.url);
// a new list begins with a row as its declaration has it, a new type of module with what the guards know of it
if (process.env.UPDATE_GOLDEN) {
  for (const { kind, row } of siteLists) {
    const file = new URL(`${kind}.json`, folder);
    const rows = { id: 5, zoneID: 7, siteID: 5, revision: 12, inherited: '', row: [{ id: 4, ...row() }] };
    if (!existsSync(file)) writeFileSync(file, JSON.stringify({ kind, rows }));
  }
  const known = new Set(
    readdirSync(folder).map(name => JSON.parse(readFileSync(new URL(name, folder), 'utf8')).rows.row?.type as string | undefined),
  );
  for (const [type, of] of Object.entries(settings('shop')).filter(([type]) => !known.has(type))) {
    const rows = { id: 9, zoneID: 7, siteID: 5, revision: 12, inherited: '', row: { siteID: 5, type, settings: of, rows: [] } };
    writeFileSync(new URL(`module-${type}.json`, folder), JSON.stringify({ kind: 'module', rows }));
  }
}
const seen = new Set<DocumentKind>();
for (const name of readdirSync(folder).filter(file => file.endsWith('.json'))) {
  test(`golden ${name}`, () => {
    const file = new URL(name, folder);
    const golden = JSON.parse(readFileSync(file, 'utf8'));
    const kind = golden.kind as DocumentKind;
    seen.add(kind);
    const before = structuredClone(golden.rows);
    const { document } = compile(kind, golden.rows as never);
    assert.deepEqual(golden.rows, before, 'the rows are left as they were');
    assert.deepEqual(kinds[kind].schema.parse(document), document, 'the schema knows every field');
    if (process.env.UPDATE_GOLDEN) {
      writeFileSync(file, `${JSON.stringify({ ...golden, document }, null, 2)}\n`);
      return;
    }
    assert.deepEqual(document, golden.document);
  });
}

test('settings stored before a field was there mean its default', () => {
  for (const name of readdirSync(folder).filter(file => file.startsWith('module-'))) {
    const { rows } = JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
    const { type, settings } = rows.row as { type: ModuleTypeName; settings: Record<string, unknown> };
    for (const field of Object.keys(settings).filter(one => !moduleTypes[type].keys.includes(one as never))) {
      const { [field]: _, ...rest } = settings;
      const { document } = compile('module', { ...rows, row: { ...rows.row, settings: rest } });
      assert.ok(field in document.content, `${type} without ${field}`);
    }
  }
});

test('every kind has a golden file', () => assert.deepEqual([...seen].sort(), Object.keys(kinds).sort()));

const compilePurges = (row: RowOf<'purges'>) => {
  const loaded: Loaded<RowOf<'purges'>> = { id: 1, zoneID: 1, siteID: 1, revision: 1, inherited: '', row };
  return compile('purges', loaded).document;
};

test('more purges than a node keeps raise the generation of the whole site', () => {
  const purges = Array.from({ length: 1050 }, (_, i) => ({
    id: i + 1,
    type: 1 as const,
    url: `http://a.test/${i}`,
    generation: 10 + i,
  }));
  const document = compilePurges({ cacheGeneration: 3, purges, before: 0 });
  assert.equal(document.purges.length, 1000);
  assert.equal(document.gen, 59, 'the newest one left out');
  assert.equal(document.purges.at(-1)?.gen, 60);
});

test('a purge of the whole site, or one too old to be read, makes older purges silent', () => {
  const row = {
    cacheGeneration: 3,
    purges: [
      { id: 1, type: 1 as const, url: 'a.test/old', generation: 5 },
      { id: 2, type: 0 as const, url: '', generation: 6 },
      { id: 3, type: 1 as const, url: 'a.test/new', generation: 7 },
    ],
  };
  const document = compilePurges({ ...row, before: 0 });
  assert.equal(document.gen, 6);
  assert.deepEqual(
    document.purges.map(purge => purge.uri),
    ['/new'],
  );
  assert.equal(compilePurges({ ...row, before: 9 }).gen, 9);
  assert.ok(
    isEmpty('purges', compilePurges({ cacheGeneration: 7, purges: [], before: 0 })),
    'nothing is newer than the site itself',
  );
});

test('edges are told of a relay at an address where they may knock, and of no other', () => {
  const { rows } = JSON.parse(readFileSync(new URL('zone.json', folder), 'utf8'));
  const told = (addresses: string[], port = 8447, origins: object = { operator: [], environment: [], own: [] }) => {
    const relays = { relays: [{ id: 3, addresses, port }], left: [] };
    return (
      compile('zone', { ...rows, row: { ...rows.row, origins, relays } }).document as { relays?: { address: string }[] }
    ).relays?.map(({ address }) => address);
  };
  for (const address of [
    '169.254.169.254',
    '::ffff:169.254.169.254',
    '127.0.0.1',
    '::1',
    '0.0.0.0',
    '224.0.0.1',
    'fe80::1',
    'fd00:ec2::254',
    'metadata',
  ])
    assert.equal(told([address]), undefined, address);
  assert.deepEqual(told(['169.254.169.254', '10.1.2.3']), ['10.1.2.3'], 'a private network is the zone’s own');
  assert.deepEqual(told(['10.1.2.3', '8.8.4.4']), ['8.8.4.4']);
  const own = { operator: [], environment: ['127.0.0.0/8'], own: ['8.8.4.4', '8.8.4.4:5432', '[::1]:22', '127.0.0.1:22'] };
  assert.deepEqual(told(['8.8.4.4'], 8447, own), ['8.8.4.4'], 'a relay may run on a machine of the installation');
  assert.equal(told(['8.8.4.4'], 5432, own), undefined, 'not at its ports');
  assert.deepEqual(told(['127.0.0.1'], 8447, own), ['127.0.0.1']);
  assert.equal(told(['127.0.0.1'], 22, own), undefined);
});

test('the mark of the compilers is one text for one release', async () => {
  const again = (await import(`${new URL('../../src/compile/mark.ts', import.meta.url).href}?again`)) as { compilerMark: string };
  assert.match(again.compilerMark, /^[0-9a-f]{32}$/);
  const { compilerMark } = await import('#server/compile/mark.ts');
  assert.equal(again.compilerMark, compilerMark);
});
