/**
 * Golden files: `golden/<name>.json` holds `{kind, rows, document}`. `GOLDEN=write node --test …` rewrites the
 * documents; the diff then shows what a change of the compiler does to every node.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { documents } from '#contract/edge/document.ts';
import { compilers } from '#server/compile/compile.ts';

const folder = new URL('./golden/', import.meta.url);
for (const name of readdirSync(folder).filter(file => file.endsWith('.json'))) {
  test(`golden ${name}`, () => {
    const file = new URL(name, folder);
    const golden = JSON.parse(readFileSync(file, 'utf8'));
    const kind = golden.kind as 'domain' | 'site' | 'zone';
    const before = structuredClone(golden.rows);
    const document = compilers[kind](golden.rows as never);
    assert.deepEqual(golden.rows, before, 'the rows are left as they were');
    documents[kind].parse(document);
    if (process.env.GOLDEN === 'write') {
      writeFileSync(file, `${JSON.stringify({ ...golden, document }, null, 2)}\n`);
      return;
    }
    assert.deepEqual(document, golden.document);
  });
}

test('more purges than a node keeps raise the generation of the whole site', () => {
  const purges = Array.from({ length: 1050 }, (_, i) => ({
    id: i + 1,
    type: 1 as const,
    url: `http://a.test/${i}`,
    generation: 10 + i,
  }));
  const document = compilers.site({
    zoneID: 1,
    site: { id: 1, status: 'normal', expired: null, revision: 1, cacheGeneration: 3, forceBackup: false },
    cacheRules: [],
    purges,
    purgesBefore: 0,
    whitelists: [],
    blacklists: [],
    userAgents: [],
  });
  assert.equal(document.purges.length, 1000);
  assert.equal(document.gen, 59, 'the newest one left out');
  assert.equal(document.purges.at(-1)?.gen, 60);
  documents.site.parse(document);
});

test('a purge of the whole site, or one too old to be read, makes older purges silent', () => {
  const rows = {
    zoneID: 1,
    site: { id: 1, status: 'normal' as const, expired: null, revision: 1, cacheGeneration: 3, forceBackup: false },
    cacheRules: [],
    purges: [
      { id: 1, type: 1 as const, url: 'a.test/old', generation: 5 },
      { id: 2, type: 0 as const, url: '', generation: 6 },
      { id: 3, type: 1 as const, url: 'a.test/new', generation: 7 },
    ],
    whitelists: [],
    blacklists: [],
    userAgents: [],
  };
  const document = compilers.site({ ...rows, purgesBefore: 0 });
  assert.equal(document.gen, 6);
  assert.deepEqual(
    document.purges.map(purge => purge.uri),
    ['/new'],
  );
  assert.equal(compilers.site({ ...rows, purgesBefore: 9 }).gen, 9);
});
