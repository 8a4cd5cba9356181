import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { debianPackages, debianTestPackages } from '#bin/bootstrap.js';

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
  const debian = new Set([...debianPackages, ...debianTestPackages]);
  const listed = [...rows.keys()].filter(name => !['package', '---'].includes(name)).flatMap(name => name.split(', '));
  for (const name of listed) assert.ok(known.has(name) || debian.has(name), `${name} is not installed`);
  for (const name of debian) assert.ok(listed.includes(name), `${name} is not in the handbook`);
});

test('the lock file names no registry host', () => {
  const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, { resolved?: string }> };
  assert.deepEqual(
    Object.entries(lock.packages).filter(([, entry]) => entry.resolved !== undefined),
    [],
  );
});
