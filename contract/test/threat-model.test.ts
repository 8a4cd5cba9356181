/** docs/threat-model.md: each row names a test that exists, so that a renamed one leaves no promise behind. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Rows of the tables of attacks: all but the heads, and the table of who sends us bytes. */
const rowsOf = (page: string) =>
  page
    .slice(page.indexOf('## A.'))
    .split('\n')
    .filter(line => line.startsWith('| ') && !/^\| (?:tried|fault|mistake) \|/.test(line));

/**
 * What of `server/test/x.test.ts: a title; another title; edge/test/y.test.ts (all)` names no file, or a title its file does not hold. Of a
 * title made in a loop the words that stand in the source are enough: `nats/keys.json cut, empty or gone`.
 */
function broken(row: string): string[] {
  const cell = row
    .slice(row.lastIndexOf(' | ') + 3)
    .replace(/ \|$/, '')
    .replaceAll(/`([\w./-]+\.test\.ts)`/g, '$1');
  let source: string | undefined;
  return cell.split('; ').filter(part => {
    const [, file, title] = /^([\w./-]+\.test\.ts)(?: \(all\)$|: (.*)|$)/.exec(part) ?? [undefined, undefined, part];
    if (file) source = existsSync(root + file) ? readFileSync(root + file, 'utf8').replaceAll("\\'", '’') : undefined;
    if (source === undefined) return true;
    return (
      title !== undefined && !title.split(/…|[:(,/]| N /).some(words => words.trim().length > 7 && source!.includes(words.trim()))
    );
  });
}

test('every row names a test that is there', () => {
  const rows = rowsOf(readFileSync(`${root}docs/threat-model.md`, 'utf8'));
  assert.ok(rows.length > 60, `${rows.length} rows`);
  assert.deepEqual(rows.flatMap(broken), []);
  assert.deepEqual(broken('| a | b | contract/test/gone.test.ts: a title |'), ['contract/test/gone.test.ts: a title']);
  assert.deepEqual(broken('| a | b | contract/test/threat-model.test.ts: a title nobody ' + 'gave |').length, 1);
});
