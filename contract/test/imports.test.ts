/** Imports go one way; each rule is first proven on a sample that breaks it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { circles, exceptions, importProblems, reached, unusedExceptions } from './guards/imports.ts';
import { sources } from './guards/sources.ts';

/** How many exceptions there are; it only shrinks. */
const exceptionsMost = 43;

const clean = (problems: string[]) => assert.deepEqual(problems, [], problems.slice(0, 40).join('\n'));
const file = (path: string, text: string) => [{ file: path, text }];
const isTest = (path: string) => /\.test\.tsx?$|\/test\//.test(path);
const shipped = sources('{contract,server,console,agent}/src/**/*.{ts,tsx}').filter(source => !isTest(source.file));
const above = sources('{system,host}/**/*.ts');

test('sample: imports against the stream', () => {
  const bad: [string, string][] = [
    ['contract/src/site/sites.ts', "import { x } from '#server/kit/store.ts';"],
    ['contract/src/site/sites.ts', "import { readFile } from 'node:fs';"],
    ['contract/src/site/sites.ts', "import pg from 'pg';"],
    ['contract/src/kit/crud.ts', "import type { Site } from '../site/sites.ts';"],
    ['server/src/kit/store.ts', "import {\n  x,\n} from '../site/sites.ts';"],
    ['server/src/kit/store.ts', "import '../site/tables.ts';"],
    ['server/src/kit/store.ts', "import { x } from '../bus/relay.ts';"],
    ['server/src/store/db.ts', "import '../site/tables.ts';"],
    ['server/src/store/db.ts', "import { x } from '../kit/store.ts';"],
    ['server/src/store/analytics/schema.ts', "import '../../analytics/info.ts';"],
    ['server/src/compile/load.ts', "import '../site/tables.ts';"],
    ['server/src/compile/kinds/site.ts', "import type { X } from '../../store/db.ts';"],
    ['server/src/bus/relay.ts', "import '../site/tables.ts';"],
    ['server/src/cache/cache.ts', "import '../domain/tables.ts';"],
    ['server/src/site/sites.ts', "import { x } from '#agent/join.ts';"],
    ['server/src/site/sites.ts', "import { Gauge } from 'prom-client';"],
    ['server/src/site/sites.ts', "import { x } from '../ingest/ingest.ts';"],
    ['server/src/dns/names.ts', "import { x } from '../site/tables.ts';"],
    ['console/src/kit/table.tsx', "import type { X } from '../site/sites.tsx';"],
    ['console/src/kit/table.tsx', "import '../node/fleet.css';"],
    ['console/src/site/sites.tsx', "const a = import('../areas/user.ts');"],
    ['console/src/cache/purge.tsx', "import { x } from '../site/sites.tsx';"],
    ['agent/src/sync.ts', "export { x } from '#server/bus/x.ts';"],
    ['agent/src/ship/ship.ts', "import { x } from '../agent.ts';"],
    ['host/files.ts', "import { x } from '#server/kit/crypto.ts';"],
    ['system/whole.ts', "import { x } from '#bin/launch/settings.ts';"],
    ['server/src/site/sites.ts', 'const { x } = await import(`../protect/x.ts`);'],
    ['server/src/site/sites.ts', 'const { x } = await import(`../protect/${name}.ts`);'],
    ['server/src/site/sites.ts', "const { x } = await import('../protect/' + name);"],
    ['server/src/site/sites.ts', "const { x } = require('../protect/x.ts');"],
    ['server/src/site/sites.ts', 'const file = require.resolve("../protect/x.ts");'],
  ];
  for (const [path, text] of bad) assert.equal(importProblems(file(path, text)).length, 1, `${path} ${text}`);
  const good: [string, string][] = [
    ['console/src/areas/user.ts', "import x from '../site/sites.tsx';\nimport * as z from '#contract/index.ts';"],
    ['server/src/site/sites.ts', "import pg from 'pg';\nimport { s } from '../kit/store.ts';"],
    ['server/src/store/db.ts', "import { s } from './statements.ts';\nimport { x } from '#contract/limits.ts';"],
    ['server/src/calls.ts', "import { s } from './site/index.ts';"],
    ['system/launcher.test.ts', "import { x } from '#bin/launch/settings.ts';"],
    ['system/whole.ts', "import { x } from '#server/kit/crypto.ts';"],
  ];
  for (const [path, text] of good) clean(importProblems(file(path, text)));
});

test('sample: an exception lets one pair through, and goes when nothing needs it', () => {
  const import_ = file('server/src/cache/cache.ts', "import '../domain/tables.ts';");
  clean(importProblems(import_, { 'server cache → domain': 'because' }));
  assert.equal(importProblems(import_, { 'server domain → cache': 'because' }).length, 1);
  assert.equal(unusedExceptions(import_, { 'server domain → cache': 'because' }).length, 1);
  clean(unusedExceptions(import_, { 'server cache → domain': 'because' }));
});

test('imports go one way', () => {
  assert.ok(shipped.length > 40 && above.length > 20);
  clean(importProblems([...shipped, ...above]));
});

test('what goes against it has a reason and only gets less', () => {
  clean(unusedExceptions(shipped));
  assert.equal(Object.keys(exceptions).length, exceptionsMost);
});

test('sample: files that lead back to themselves', () => {
  const chain = [
    ...file('server/src/kit/a.ts', "import { b } from './b.ts';"),
    ...file('server/src/kit/b.ts', "import type { C } from './c.ts';"),
    ...file('server/src/kit/c.ts', "import './missing.ts';"),
  ];
  clean(circles(chain));
  assert.deepEqual(circles([...chain.slice(0, 2), ...file('server/src/kit/c.ts', "import type { A } from './a.ts';")]), [
    'server/src/kit/a.ts ↔ server/src/kit/b.ts ↔ server/src/kit/c.ts',
  ]);
  assert.equal(circles(file('a.ts', "import './a.ts';")).length, 1);
});
test('no files lead back to themselves, by types either', () =>
  clean(circles([...shipped, ...above.filter(s => !isTest(s.file))])));

test('sample: what a program has in it', () => {
  const files = [
    ...file('console/src/main.tsx', "const page = import('./site/sites.tsx');"),
    ...file('console/src/site/sites.tsx', "import '../kit/table.tsx';"),
    ...file('console/src/kit/table.tsx', "import '../site/sites.tsx';"),
    ...file('console/src/kit/nobody.tsx', "import './table.tsx';"),
  ];
  assert.deepEqual(
    reached(files, 'console/src/main.tsx').map(one => one.file),
    files.slice(0, 3).map(one => one.file),
  );
});
