/** The list of variables against the sources and the pages: nothing is read, handed on or described beside it. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { environmentFor, helpText, machine, table, variables } from './environment.ts';
import { projectFolder } from './settings.ts';

const known = new Set([...variables.map(({ name }) => name), ...machine]);
/** Read by others than the product, or only for itself: npm's own, a library's, what a child's home is, and what bin/test.ts tells a file. */
const foreign = new Set(['HOME', 'UV_THREADPOOL_SIZE', 'TEST_PORTS']);

/** Names a source reads from an environment: `env.X`, `env['X']`, and every word that begins as ours do. */
function namesIn(text: string): string[] {
  const reads = [...text.matchAll(/\benv(?:\.|\[['"])([A-Z][A-Z0-9_]*)\b/g)].map(match => match[1]!);
  const ours = [...text.matchAll(/\b(?:BREAKWATER|CLICKHOUSE|NATS|DATABASE|INGEST)_[A-Z][A-Z_]*[A-Z]\b/g)].map(match => match[0]);
  return [...new Set([...reads, ...ours])].map(name => (known.has(name) ? name : name.replace(/_FILE$/, '')));
}

test('a read of an unknown variable is seen', () => {
  for (const text of [
    'process.env.BREAKWATER_NEW',
    "env['BREAKWATER_NEW']",
    "text('x', 'BREAKWATER_NEW')",
    'const { BREAKWATER_NEW: a } = process.env',
  ])
    assert.deepEqual(
      namesIn(text).filter(name => !known.has(name)),
      ['BREAKWATER_NEW'],
      text,
    );
});

test('the shipped code reads no variable that is not in the list, and the list holds none that nobody reads', () => {
  const files = globSync('{bin,server/src,agent/src,contract/src,host}/**/*.{ts,js}', { cwd: projectFolder }).filter(
    file => !/\.test\.ts$|^bin\/(test|bench)|environment\.ts$/.test(file),
  );
  assert.ok(files.length > 100);
  const read = new Set<string>();
  for (const file of files)
    for (const name of namesIn(readFileSync(join(projectFolder, file), 'utf8'))) {
      read.add(name);
      assert.ok(known.has(name) || foreign.has(name), `${file} reads ${name}: add it to bin/launch/environment.ts`);
    }
  const promised = new Set(['BREAKWATER_ORIGIN_ALLOW', 'BREAKWATER_TRUSTED_PROXIES', 'BREAKWATER_METRICS_ALLOW']);
  for (const { name } of variables)
    assert.ok(read.has(name) || promised.has(name), `${name} is in the list, and nobody reads it`);
});

test('no name stands twice, and no page says otherwise than the list', () => {
  assert.equal(new Set(variables.map(({ name }) => name)).size, variables.length);
  const handbook = readFileSync(join(projectFolder, 'docs/handbook/running.md'), 'utf8');
  assert.ok(handbook.includes(table()), `docs/handbook/running.md: its table shall read\n${table()}`);
  for (const page of ['README.md', 'ARCHITECTURE.md', 'docs/handbook/running.md'])
    for (const name of namesIn(readFileSync(join(projectFolder, page), 'utf8')))
      assert.ok(known.has(name), `${page} names ${name}`);
  for (const { name, internal } of variables) assert.equal(helpText().includes(`  ${name} `), !internal, name);
});

test('a part gets what it is for: a node no secret of the control plane, the store its password alone', () => {
  const given = Object.fromEntries(variables.map(({ name }) => [name, `value of ${name}`]));
  const own = { PATH: '/bin', AWS_SECRET_ACCESS_KEY: 'somebody else’s' };
  assert.deepEqual(Object.keys(environmentFor('store', given, own)), ['PATH', 'CLICKHOUSE_PASSWORD']);
  const node = environmentFor('agent', given, own);
  for (const name of Object.keys(node)) assert.doesNotMatch(name, /DATABASE|CLICKHOUSE|NATS|SECRET|PASSWORD/);
  assert.equal(node.BREAKWATER_EDGE_HOST, 'value of BREAKWATER_EDGE_HOST');
  for (const receiver of ['server', 'ingest'] as const) {
    assert.ok(environmentFor(receiver, given, own).CLICKHOUSE_USER);
    assert.ok(environmentFor(receiver, given, own).CLICKHOUSE_DATABASE);
  }
  assert.ok(environmentFor('server', given, own).BREAKWATER_OFFLINE);
});
