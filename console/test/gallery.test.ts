/** The gallery shows the kit: every component the kit exports has a page there, or a reason why not. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { pieces, without } from '../gallery/pieces.ts';

const console = new URL('../', import.meta.url).pathname;

/** Components that a source exports: a name with a capital that is a function, or is made by `later`, `piece` or `createContext`. */
export const exported = (code: string): string[] =>
  [...code.matchAll(/^export (?:default )?(?:function|const) ([A-Z]\w*[a-z]\w*)\b/gm)].map(([, name]) => name!);

/** What is missing, and what is named and not there. */
export function galleryProblems(
  kit: readonly string[],
  shown: readonly string[],
  reasons: Readonly<Record<string, string>>,
): string[] {
  return [
    ...kit
      .filter(name => !shown.includes(name) && !Object.hasOwn(reasons, name))
      .map(name => `${name}: no page of the gallery shows it (console/gallery/pieces.ts)`),
    ...shown.filter(name => !kit.includes(name)).map(name => `${name}: the gallery shows it, and the kit has none`),
    ...shown.filter((name, index) => shown.indexOf(name) !== index).map(name => `${name}: on two pages`),
    ...Object.keys(reasons)
      .filter(name => !kit.includes(name) || shown.includes(name))
      .map(name => `${name}: a reason not to show it, and it is shown or gone`),
  ];
}

test('sample: a component nobody shows, one that is gone, one shown twice', () => {
  assert.deepEqual(
    exported(
      `export function Piece() {}\nexport default function Plot() {}\nexport const Form = later(x);\nconst Inner = 1;\nexport function helper() {}\nexport const MAX = 3;`,
    ),
    ['Piece', 'Plot', 'Form'],
  );
  assert.equal(galleryProblems(['A'], [], {}).length, 1);
  assert.equal(galleryProblems([], ['A'], {}).length, 1);
  assert.equal(galleryProblems(['A'], ['A', 'A'], {}).length, 1);
  assert.equal(galleryProblems(['A'], ['A'], { A: 'why' }).length, 1);
  assert.deepEqual(galleryProblems(['A', 'B'], ['A'], { B: 'why' }), []);
});

test('every component of the kit has its page in the gallery, or a reason', () => {
  const kit = globSync('src/kit/*.tsx', { cwd: console }).flatMap(file => exported(readFileSync(console + file, 'utf8')));
  assert.ok(kit.length > 30);
  assert.deepEqual(
    galleryProblems(
      kit,
      pieces.flatMap(piece => piece.shows),
      without,
    ),
    [],
  );
  for (const { name } of pieces) assert.ok(existsSync(`${console}gallery/pages/${name}.tsx`), name);
});

test('the gallery is no part of the console: nothing of the console imports it', () => {
  for (const file of globSync('src/**/*.{ts,tsx}', { cwd: console }))
    assert.doesNotMatch(readFileSync(console + file, 'utf8'), /\/gallery\//, file);
});
