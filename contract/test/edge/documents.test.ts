/**
 * Documents of other releases. `first-release/` and `second-release/` hold what these made, and are never written again; when a release
 * is made, its golden documents (server/test/compile/golden) are copied to a folder of their own here.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as z from 'zod/mini';
import { type DocumentKind, isKind, keyOf, kindNames, kinds, partKinds } from '#contract/edge/kinds/index.ts';
import { type ModuleTypeName, moduleTypes } from '#contract/edge/modules/index.ts';
import { parseConfigSubject, subjects } from '#contract/edge/subjects.ts';

type Document = Record<string, unknown>;
const stored = (folder: URL): { name: string; kind: DocumentKind; document: Document }[] =>
  readdirSync(folder)
    .filter(name => name.endsWith('.json'))
    .map(name => {
      const { kind, document } = JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
      assert.ok(isKind(kind), name);
      return { name, kind, document };
    });

/** What this release says beyond it has a default, on whatever level. */
function assertKept(read: unknown, said: unknown, place: string) {
  if (typeof said !== 'object' || said === null) return assert.deepEqual(read, said, place);
  assert.equal((read as unknown[]).length, (said as unknown[]).length, place);
  for (const [field, value] of Object.entries(said)) assertKept((read as Document)[field], value, `${place}.${field}`);
}
for (const release of ['first', 'second'])
  for (const { name, kind, document } of stored(new URL(`./${release}-release/`, import.meta.url)))
    test(`${name} of the ${release} release is read, and loses nothing`, () => {
      assertKept(kinds[kind].schema.parse(document), document, kind);
    });

const golden = stored(new URL('../../../server/test/compile/golden/', import.meta.url));

test('every kind and every type of module is among the documents that tests take apart', () => {
  assert.deepEqual([...new Set(golden.map(({ kind }) => kind))].sort(), kindNames.toSorted());
  const types = golden.filter(({ kind }) => kind === 'module').map(({ document }) => document['type']);
  assert.deepEqual([...new Set(types)].sort(), Object.keys(moduleTypes).sort());
});

/** Every object within, the whole itself the first. */
function* objects(value: unknown): Generator<Document> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Document;
  for (const one of Object.values(value)) yield* objects(one);
}
for (const { name, kind, document } of golden)
  test(`${name} is read without any one field that is no key of its kind`, () => {
    const keys = new Set(['v', 'rev', 'id', ...kinds[kind].keys]);
    if (kind === 'module') for (const key of moduleTypes[document['type'] as ModuleTypeName].keys) keys.add(key);
    for (const one of objects(document))
      for (const field of Object.keys(one)) {
        if (keys.has(field)) continue;
        const { [field]: value, ...rest } = one;
        delete one[field];
        const made = kinds[kind].schema.safeParse(document);
        assert.ok(made.success, `without ${field} of ${JSON.stringify(rest).slice(0, 100)}: ${made.error?.issues[0]?.message}`);
        one[field] = value;
      }
  });

test('a module of a type that nobody here knows is refused, unless its type says that domains may be without it', () => {
  const module = { v: 1, rev: 1, id: 7, site: 5, type: 'hologram', content: { depth: 3 } };
  assert.match(kinds.module.schema.safeParse(module).error!.issues[0]!.message, /no modules of the type hologram: it is older/);
  assert.deepEqual(kinds.module.schema.parse({ ...module, ignorable: true }), { ...module, ignorable: true });
});

/** What nobody can leave out. */
const identity: Partial<Record<DocumentKind, Record<string, unknown>>> = {
  domain: { site: 5, host: 'a.test' },
  // what a module is about its type alone says
  module: { site: 5, type: 'proxyRewrite' },
  challenge: { host: 'a.test' },
  port: { site: 5, port: 8443, scheme: 'https' },
  certificate: { site: 5, leaf: 'AAAA', type: 'ec', key: 'x' },
};

test('a document that says nothing beyond its identity is read, and opens nothing', () => {
  for (const kind of kindNames) {
    const made = kinds[kind].schema.safeParse({ v: 1, rev: 1, id: 7, ...identity[kind] });
    assert.ok(made.success, `${kind}: ${z.prettifyError(made.error ?? new z.core.$ZodError([]))}`);
  }
  assert.equal(kinds.domain.schema.parse({ v: 1, rev: 1, id: 7, ...identity.domain }).enabled, false);
  assert.notEqual(kinds.site.schema.parse({ v: 1, rev: 1, id: 7 }).state, 'normal');
});

test('a kind’s name is the same everywhere, fits a subject and a record key, and an unknown one is parsed as such', () => {
  const keys = new Set<string>();
  for (const [name, kind] of Object.entries(kinds)) {
    assert.equal(kind.name, name);
    assert.deepEqual(parseConfigSubject(subjects.config(3, name as DocumentKind, 9)), { zoneID: 3, kind: name, id: 9 });
    const key = keyOf(name as DocumentKind, { id: 9, host: 'a.test', site: 5, port: 8443 });
    assert.match(key, /^[a-z]:[!-~]*$/);
    keys.add(key);
  }
  assert.equal(keys.size, kindNames.length, 'no two kinds share a key');
  const future = parseConfigSubject('cfg.3.hologram.9')!;
  assert.deepEqual([future.kind, isKind(future.kind)], ['hologram', false]);
  for (const bad of ['cfg.3.site', 'cfg.3.site.x', 'cfg.x.site.1', 'cfg.3.si te.1', 'cfg.3.site.1.2', 'dfg.3.site.1'])
    assert.equal(parseConfigSubject(bad), null, bad);
  // What others need goes before them.
  const place = (kind: DocumentKind) => kindNames.indexOf(kind);
  for (const kind of [...partKinds, 'module', 'certificate', 'port'] as const)
    assert.ok(place(kind) < place('site') && place('site') < place('domain'));
});
