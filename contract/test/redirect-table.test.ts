/** A table of redirects is judged with so much work and no more, whatever it holds, and an honest one has room in it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { locationMax, type Redirect, RedirectTable, stepsMax, TooMuchWork } from '#contract/module/redirect-table.ts';
import { redirects } from '#contract/module/url-redirects.ts';
import { within } from './within.ts';

const rowOf = (row: Partial<Redirect>): Redirect => ({
  matchType: 'exact',
  source: '/',
  target: '/',
  statusCode: 301,
  keepQuery: true,
  ...row,
});
const urlOf = (path: string) => ({ scheme: 'https', authority: 'here', path, args: '' });

test('redirects that lead to one another over long addresses come to an end', () => {
  const said = within(`
    import { RedirectTable, TooMuchWork } from '#contract/module/redirect-table.ts';
    const row = (matchType, source, target) => ({ matchType, source, target, statusCode: 301, keepQuery: true });
    const many = (n, make) => Array.from({ length: n }, (_, i) => make(i));
    const deep = row('prefix', '/k' + '/a'.repeat(500), '/end');
    const tables = {
      chain: many(300, i => row('prefix', '/k' + i, '/k' + (i + 1) + '/a'.repeat(80))),
      deep: [deep, ...many(2900, i => row('prefix', '/k' + i, '/k' + (i + 1) + '/a'.repeat(600)))],
      growing: [row('advanced', '(.*)', '/' + '$1'.repeat(50))],
      query: many(2900, i => row('exact', '/q' + i, '/q' + (i + 1) + '?' + 'a'.repeat(2000))),
    };
    const said = {};
    for (const [name, rows] of Object.entries(tables)) {
      const table = new RedirectTable(rows);
      try {
        said[name] = rows.filter(one => table.loopOf(one) !== undefined).length;
      } catch (error) {
        said[name] = error instanceof TooMuchWork;
      }
    }
    console.log(JSON.stringify(said));`) as Record<string, unknown>;
  assert.equal(said['growing'], 1, 'it would never end');
  assert.equal(said['deep'], true);
  assert.equal(said['query'], true);
  // but for the last, from which fewer steps are left
  assert.ok(Number(said['chain']) > 300 - 2 * stepsMax, String(said['chain']));
});

test('3,000 honest redirects have room, and a chain as long as is followed', () => {
  const rows = Array.from({ length: 3000 }, (_, i) => {
    const matchType = (['exact', 'prefix', 'exact'] as const)[i % 3]!;
    // a third leads on to the next
    return rowOf({
      matchType,
      source: `/old/${i}/${'x'.repeat(60)}`,
      target: i % 3 ? `/new/${i}` : `/old/${i + 1}/${'x'.repeat(60)}`,
    });
  });
  const table = new RedirectTable(rows);
  assert.deepEqual(
    rows.filter(row => table.loopOf(row) !== undefined),
    [],
  );
});

test('the largest honest table has room, whether its expressions are run or not', () => {
  const expressions = Array.from({ length: 100 }, (_, i) =>
    rowOf({ matchType: 'advanced', source: `^/e${i}/(\\d+)$`, target: `/f${i}/$1` }),
  );
  const exact = Array.from({ length: 2900 }, (_, i) =>
    rowOf({ source: `/old/${i}/${'x'.repeat(90)}`, target: `/new/${i}/${'y'.repeat(80)}` }),
  );
  const rows = [...expressions, ...exact];
  for (const exec of [() => null, () => undefined]) {
    const table = new RedirectTable(rows, exec);
    assert.deepEqual(
      rows.filter(row => table.loopOf(row) !== undefined),
      [],
    );
  }
});

test('the work of a table is counted over all that is asked of it', () => {
  const rows = [rowOf({ matchType: 'prefix', source: '/a', target: `/b/${'x'.repeat(2000)}`, keepQuery: false })];
  const table = new RedirectTable(rows);
  let asked = 0;
  assert.throws(() => {
    for (; asked < 1_000_000; asked++) table.find(urlOf('/a'));
  }, TooMuchWork);
  assert.ok(asked > 1000, String(asked));
});

test('nobody is sent to an address that is too long', () => {
  const table = new RedirectTable([
    rowOf({ matchType: 'advanced', source: '^/out/(.*)', target: 'https://o.test/$1' }),
    rowOf({ matchType: 'advanced', source: '^/twice/(.*)', target: '/twice/$1$1' }),
  ]);
  const at = (path: string) => table.find(urlOf(path))!;
  assert.equal(at(`/out/${'a'.repeat(100)}`).location?.length, 115);
  assert.deepEqual(
    [at(`/out/${'a'.repeat(locationMax)}`).location, at(`/out/${'a'.repeat(locationMax)}`).isLoop],
    [undefined, true],
  );
  assert.ok(at('/twice/abc').isLoop);
  const said = (target: string) => redirects.item.safeParse(rowOf({ target })).error?.issues.map(({ message }) => message);
  assert.equal(said(`/${'é'.repeat(1300)}`), undefined);
  assert.deepEqual(said(`/${'é'.repeat(1500)}`), ['tooLarge']);
});
