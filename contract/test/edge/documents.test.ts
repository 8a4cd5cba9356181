/**
 * Documents of other releases. `first-release/` holds what the first one made, and is never written again; when a release is made, its
 * golden documents (server/test/compile/golden) are copied to a folder of their own here.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as z from 'zod/mini';
import { type DocumentKind, isKind, keyOf, kindNames, kinds, partKinds } from '#contract/edge/kinds/index.ts';
import { parseConfigSubject, subjects } from '#contract/edge/subjects.ts';

const folder = new URL('./first-release/', import.meta.url);
for (const name of readdirSync(folder))
  test(`${name} of the first release is read, and loses nothing`, () => {
    const { kind, document } = JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
    assert.ok(isKind(kind));
    const read = kinds[kind].schema.parse(document) as Record<string, unknown>;
    // what this release says beyond it has a default
    for (const [field, value] of Object.entries(document)) assert.deepEqual(read[field], value, field);
  });

/** What nobody can leave out. */
const identity: Partial<Record<DocumentKind, Record<string, unknown>>> = {
  domain: { site: 5, host: 'a.test' },
  // what a module is about its type alone says; of one that nobody knows it is taken as it is
  module: { site: 5, type: 'hologram' },
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
    const key = keyOf(name as DocumentKind, { id: 9, host: 'a.test' });
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
  for (const kind of [...partKinds, 'module'] as const) assert.ok(place(kind) < place('site') && place('site') < place('domain'));
});
