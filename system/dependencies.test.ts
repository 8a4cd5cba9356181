import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { debianBenchPackages, debianPackages, debianTestPackages } from '#bin/bootstrap.js';

const root = new URL('../', import.meta.url).pathname;
const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const page = read('docs/handbook/dependencies.md');
const rows = new Map(
  page
    .split('\n')
    .filter(line => line.startsWith('| '))
    .map(line => line.split('|').map(cell => cell.trim()))
    .map(([, name, version]) => [name!, version!]),
);

interface Manifest {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}
const manifest = JSON.parse(read('package.json')) as Manifest;
const wanted = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });

test('every npm package is pinned, and the handbook says why it is there', () => {
  for (const [name, version] of wanted) {
    assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, `${name} is not pinned`);
    assert.equal(rows.get(name), version, `docs/handbook/dependencies.md: ${name}`);
  }
});

test('the handbook names no package that is gone, and every Debian package', () => {
  const known = new Set(wanted.map(([name]) => name));
  const debian = new Set([...debianPackages, ...debianTestPackages, ...debianBenchPackages]);
  const listed = [...rows.keys()].filter(name => !['package', '---'].includes(name)).flatMap(name => name.split(', '));
  for (const name of listed) assert.ok(known.has(name) || debian.has(name), `${name} is not installed`);
  for (const name of debian) assert.ok(listed.includes(name), `${name} is not in the handbook`);
});

/** Packages a source names: imported, or reached by their path in node_modules or in a style sheet. */
const scripts = '{ts,tsx,js}';
const isTest = (file: string) => /\.test\.ts$|(^|\/)test\/|^system\//.test(file) || /^bin\/(test|bench)/.test(file);
function namedIn(text: string, names: readonly string[]): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
  return names.filter(name => {
    const escaped = name.replaceAll('/', '\\/').replaceAll('.', '\\.');
    return new RegExp(
      `(?:from\\s*|import\\s*\\(?\\s*|require\\(|resolve\\(|url\\()['"]${escaped}(?:['"]|\\/)|node_modules\\/${escaped}\\/|modules, '${escaped}\\/`,
    ).test(code);
  });
}
const files = (...patterns: string[]) =>
  globSync(patterns, { cwd: root }).filter(file => !/(^|\/)(node_modules|dist)\//.test(file));
test('tests install nothing that only a bench needs', () => {
  const tests = files('{contract,server,agent,console,edge,system,bin,host}/**/*.test.ts', 'bin/test.ts', 'system/*.ts').map(
    file => read(file),
  );
  const runs = (name: string) => tests.some(text => new RegExp(`(spawn|exec|execFile)\\w*\\([^)]*'${name}'`).test(text));
  for (const name of debianBenchPackages) {
    assert.ok(!debianPackages.includes(name) && !debianTestPackages.includes(name), name);
    assert.ok(!runs(name), `${name} is run by a test`);
  }
  const installs = read('bin/run.js')
    .split('\n')
    .filter(line => line.includes('ensureDebianPackages(['));
  assert.deepEqual(
    installs.filter(line => line.includes('debianBenchPackages')).map(line => /bin\/\w+\.ts/g.exec(line)?.[0]),
    ['bin/bench.ts'],
  );
});

const shipped = files(
  `{contract,server,agent,console,host}/{src,*.ts}/**/*.${scripts}`,
  'console/*.ts',
  'console/src/**/*.css',
  `bin/**/*.${scripts}`,
  `host/**/*.${scripts}`,
).filter(file => !isTest(file));
const tools = files(`{contract,server,agent,console,edge,system,bin,host}/**/*.ts`).filter(isTest);
const namesBy = (list: string[]) =>
  new Set(
    list.flatMap(file =>
      namedIn(
        read(file),
        wanted.map(([name]) => name),
      ),
    ),
  );

test('sample: how a package may be named', () => {
  for (const text of [
    "import x from 'pg';",
    "import type { X } from 'pg/lib';",
    "await import('pg')",
    "import 'pg/style.css';",
    "url('pg/files/a.woff2')",
    "new URL('../node_modules/pg/bin')",
  ])
    assert.deepEqual(namedIn(text, ['pg', 'p']), ['pg'], text);
  for (const text of ["// import x from 'pg'", "const a = 'pg';", "from 'pgx'"])
    assert.deepEqual(namedIn(text, ['pg']), [], text);
});

test('every dependency is used by what is shipped, every development dependency by tests or tools alone', () => {
  assert.ok(shipped.length > 200 && tools.length > 50);
  const [inShipped, inTools] = [namesBy(shipped), namesBy(tools)];
  const bins = Object.values(manifest.scripts).join(' ');
  // what a script of package.json runs: tsc is typescript's, tsgolint is run by oxlint
  const run = new Set(['typescript', 'oxlint', 'oxfmt'].filter(name => bins.includes(name === 'typescript' ? 'tsc' : name)));
  if (bins.includes('--type-aware')) run.add('oxlint-tsgolint');
  for (const name of Object.keys(manifest.dependencies))
    assert.ok(inShipped.has(name), `${name} is a dependency, and nothing that is shipped uses it`);
  for (const name of Object.keys(manifest.devDependencies)) {
    assert.ok(!inShipped.has(name), `${name} is a development dependency, and shipped code uses it`);
    const typed = /^@types\/(.+)$/.exec(name)?.[1];
    const isTyped = typed !== undefined && (typed === 'node' || typed in manifest.dependencies);
    assert.ok(inTools.has(name) || run.has(name) || isTyped, `${name} is a development dependency nobody uses`);
  }
});

test('the lock file names no registry host', () => {
  const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, { resolved?: string }> };
  assert.deepEqual(
    Object.entries(lock.packages).filter(([, entry]) => entry.resolved !== undefined),
    [],
  );
});
