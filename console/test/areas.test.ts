/** The areas as data: every page's call exists in its area, and an administrator's browser never loads a customer's screens. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { groups } from '#contract/index.ts';
import { type Area, mounted } from '#contract/kit/call.ts';
import { screens as admin } from '../src/areas/admin.ts';
import { screens as client } from '../src/areas/client.ts';
import { screens as user } from '../src/areas/user.ts';
import { callsOf } from '../src/kit/needs.ts';
import { screensOf } from '../src/kit/screens.ts';
import { routerPath, type Source, sources, withoutComments } from '../../contract/test/guards/sources.ts';

const areas = { user, client, admin };
const calls = new Set([...mounted(groups)].map(call => `${call.area} ${call.key}`));

for (const [area, screens] of Object.entries(areas) as [Area, typeof user][]) {
  test(`${area}: paths are its own, calls are mounted there, hidden pages belong to one of the menu`, () => {
    assert.equal(screens.area, area);
    const pages = screensOf(screens);
    assert.equal(new Set(pages.map(page => page.path)).size, pages.length);
    for (const section of screens.sections)
      for (const page of section.screens)
        assert.ok(page.path === section.name || page.path.startsWith(`${section.name}/`), page.path);
    for (const { call, path } of pages)
      for (const one of call ? callsOf(call) : []) assert.ok(calls.has(`${area} ${one}`), `${path} asks for ${one}`);
    for (const { hidden, below } of pages) assert.ok(!hidden || pages.some(page => page.title === below && !page.hidden));
  });
}

const order = readFileSync(new URL('../../contract/test/routes.txt', import.meta.url), 'utf8')
  .split('\n')
  .map(line => routerPath(line.trim()));
for (const [area, screens] of Object.entries(areas) as [Area, typeof user][])
  test(`${area}: the menu stands in the order of the specification`, () => {
    const places = screensOf(screens).map(page => [order.indexOf(`/${area}/${page.path}`), page.path] as const);
    // a page beyond the specification stands where it belongs
    const known = places.filter(([place]) => place >= 0);
    assert.ok(known.length > 1);
    assert.deepEqual(
      known.map(([, path]) => path),
      [...known].sort((a, b) => a[0] - b[0]).map(([, path]) => path),
    );
  });

test('the admin area imports no screen of customers’ or operators’ things', () => {
  const source = readFileSync(new URL('../src/areas/admin.ts', import.meta.url), 'utf8');
  const folders = [...source.matchAll(/from '\.\.\/(\w+)\/screens\.ts'/g)].map(found => found[1]);
  assert.deepEqual([...new Set(folders)], ['account', 'licence']);
});

test('whoever may open one section of the system settings is led to their page', () => {
  const callsIn = (file: string) => {
    const text = withoutComments(readFileSync(new URL(`../src/${file}`, import.meta.url), 'utf8'));
    return [...text.matchAll(/'((?:GET|POST) [^']+)'/g)].map(([, call]) => call!);
  };
  const sections = [...callsIn('system/sections.ts'), ...callsIn('licence/sections.ts')];
  assert.ok(sections.length > 8, sections.join());
  const page = screensOf(client).find(({ path }) => path === 'systemManagement/systemSetting')!;
  assert.deepEqual(
    sections.filter(one => !callsOf(page.call!).some(call => call === one)),
    [],
  );
});

/** Where it is asked which area this is, in words. */
const asked = (files: readonly Source[]) =>
  files.flatMap(({ file, text }) =>
    [...withoutComments(text).matchAll(/\barea [!=]== '/g)].map(([found]) => `${file}: ${found}`),
  );
test('what differs by area is said of each area (`ofArea`), and no page asks which one it is in', () => {
  assert.equal(asked([{ file: 'a.tsx', text: "const one = area === 'user' ? 1 : 2; // area === 'client'" }]).length, 1);
  const files = sources('console/src/**/*.{ts,tsx}').filter(({ file }) => file !== 'console/src/kit/guard.ts');
  assert.deepEqual(asked(files), []);
});
