/** Casts that silence the compiler only grow fewer; what people look for is escaped in one place. Each guard is first proven on a sample. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patternProblems, plainCasts, silentCasts } from './guards/casts.ts';
import { sources } from './guards/sources.ts';

/** How many casts say nothing of why; it only shrinks. */
const silentMost = 41;
/** And how many plain ones; that shrinks, too: more than a few below it, and it is written anew. */
const plainMost = 428;
const fewerMost = 15;

const file = (text: string, path = 'server/src/site/sites.ts') => [{ file: path, text }];
const shipped = sources('{contract,server,console,agent}/src/**/*.{ts,tsx}', 'host/*.ts').filter(
  ({ file: path }) => !/\.test\.tsx?$/.test(path),
);

test('sample: a cast that any value passes, and no word why', () => {
  assert.deepEqual(silentCasts(file('const a = b as any;\nconst c = d as unknown as C;\ncall(e as never, f as never);')), [
    'server/src/site/sites.ts:1',
    'server/src/site/sites.ts:2',
    'server/src/site/sites.ts:3',
    'server/src/site/sites.ts:3',
  ]);
  assert.deepEqual(
    silentCasts(file('const a = b as any; // pg overloads it\n// kept by the schema\nconst c = d as unknown as C;')),
    [],
  );
  assert.deepEqual(silentCasts(file("const a = b as string; // x\n/* as any */ const text = '';\nconst c = d as const;")), []);
});
test('no more casts say nothing than did', () => {
  const found = silentCasts(shipped);
  assert.ok(found.length <= silentMost, `${found.length} casts instead of ${silentMost}:\n${found.join('\n')}`);
  assert.equal(found.length, silentMost, `${found.length} are left: write so in contract/test/casts.test.ts`);
});

test('sample: a plain cast, and no word why', () => {
  assert.deepEqual(plainCasts(file('const a = b as string;\nconst c = (d as C).e as { f: G };\nrow as R[];')), [
    'server/src/site/sites.ts:1',
    'server/src/site/sites.ts:2',
    'server/src/site/sites.ts:2',
    'server/src/site/sites.ts:3',
  ]);
  const none = [
    "import * as z from 'zod/mini';\nimport {\n  row as print,\n} from 'x';\nexport { a as b } from 'x';",
    "const a = [1] as const;\nconst text = 'as long as it lasts'; // as said",
    'const a = b as never;\nconst c = d as unknown as C;\n// the schema says so\nconst e = f as G;\nconst h = i as J; // checked above',
  ];
  for (const text of none) assert.deepEqual(plainCasts(file(text)), [], text);
});
test('nor more plain ones', () => {
  const found = plainCasts(shipped);
  assert.ok(found.length <= plainMost, `${found.length} plain casts instead of ${plainMost}: which are new? git diff shows them`);
  assert.ok(found.length >= plainMost - fewerMost, `${found.length} are left: write so in contract/test/casts.test.ts`);
});

test('sample: a pattern that is escaped by hand, or not at all', () => {
  assert.equal(patternProblems(file('sql`t.name ilike ${word}`')).length, 1);
  assert.equal(patternProblems(file('sql`t.name like ${`%${word}%`}`')).length, 1);
  assert.equal(patternProblems(file("sql`name LIKE 'frozen%'`; // ilike")).length, 0);
  assert.equal(patternProblems(file('sql`t.name ilike ${word}`', 'server/src/kit/table.ts')).length, 0);
});
test('what people look for is escaped in one place', () => assert.deepEqual(patternProblems(shipped), []));
