/** Code that is loaded later comes in one way (kit/later.tsx), which keeps the page when it does not come. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Source, sources, withoutComments } from '../../contract/test/guards/sources.ts';

/** Who may import later without a piece of the kit's, and why nothing is lost there. */
const others: Record<string, string> = {
  'console/src/main.tsx': 'before anything stands: index.html has the words',
  'console/src/router.tsx': 'the shell and its words, within a page of the router',
  'console/src/kit/confirm.ts': 'a question that cannot be drawn is asked by the browser',
  'console/src/kit/schema-of.ts': 'the form shows the error, and asks again',
};
// with its words or without
const ways =
  /\b(?:later|inPlace|tabContent|pageLater|withLater)\s*(?:<[^(]*>)?\(\s*(?:withTexts\(\s*'\w+',\s*)*(?:async )?\(\) =>\s*\(?(?:await )?$/;

/** What is loaded later in another way. */
function otherwise({ file, text }: Source): string[] {
  const code = withoutComments(text);
  const found = [
    ...code.matchAll(/\b(?:lazy|Suspense|lazyRouteComponent|use)\b(?=[^'"\n]*\}? from '(?:react|@tanstack\/react-router)')/g),
  ];
  const problems = found.map(([name]) => `${file}: ${name}`);
  if (/\bReact\.(?:lazy|Suspense)\b/.test(code)) problems.push(`${file}: React.lazy`);
  // addresses and loaders of an area are data: the router makes pages of them
  if (file in others || /\/screens\.ts$|\/areas\//.test(file)) return problems;
  for (const { index } of code.matchAll(/\bimport\(/g))
    if (!ways.test(code.slice(0, index))) problems.push(`${file}: ${code.slice(index).split('\n')[0]}`);
  return problems;
}

test('sample: lazy pieces of React and of the router, and a bare import, are told', () => {
  const told = (text: string) => otherwise({ file: 'console/src/kit/a.tsx', text }).length;
  assert.equal(told(`import { lazy, useState } from 'react';`), 1);
  assert.equal(told(`import { Suspense } from 'react';`), 1);
  assert.equal(told(`import { lazyRouteComponent, Outlet } from '@tanstack/react-router';`), 1);
  assert.equal(told(`const A = React.lazy(load);`), 1);
  assert.equal(told(`const { A } = await import('./a.tsx');`), 1);
  assert.equal(told(`onClick={() => void import('./a.tsx').then(use)}`), 1);
  assert.equal(told(`const A = later(async () => (await import('./a.tsx')).A);`), 0);
  assert.equal(told(`const A = tabContent(withTexts('site', async () => (await import('./a.tsx')).A));`), 0);
  assert.equal(told(`const A = withTexts('site', async () => (await import('./a.tsx')).A);`), 1);
  assert.equal(told(`const A = inPlace(\n  async () => (await import('./a.tsx')).A,\n);`), 0);
  assert.equal(told(`void withLater(\n  () => import('./a.tsx'),\n  ({ a }) => a(),\n);`), 0);
});

test('whatever is loaded later goes through the kit', () => {
  const all = sources('console/src/**/*.{ts,tsx}');
  assert.deepEqual(all.flatMap(otherwise), []);
  for (const file of Object.keys(others))
    assert.match(all.find(source => source.file === file)?.text ?? '', /\bimport\(/, `${file} needs no reason any more`);
});

test('a piece that comes with its words is taken from where it does: by itself it would say their keys', () => {
  const [pieces] = sources('console/src/kit/pieces.ts');
  const files = [...pieces!.text.matchAll(/import\('\.\/([\w-]+)\.tsx'\)/g)].map(found => found[1]!);
  assert.ok(files.includes('secret-once'));
  const straight = new RegExp(`^import (?!type).* from '[./]*/kit/(?:${files.join('|')})\\.tsx'`, 'm');
  assert.match(`import { SecretOnce } from '../kit/secret-once.tsx';`, straight);
  const found = sources('console/src/**/*.{ts,tsx}').filter(({ text }) => straight.test(text));
  assert.deepEqual(
    found.map(({ file }) => file),
    [],
  );
});
