/** Markdown as parts to draw: a tag stays text, a link leads to http or https alone, and no text keeps the reader waiting. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markdownOf, safeHref, type Span } from '../src/kit/markdown-parts.ts';

const paragraph = (text: string): Span[] => {
  const [block] = markdownOf(text);
  if (block?.kind !== 'paragraph') throw new Error(text);
  return block.lines[0]!;
};
const link = (href: string, label: string) => ({ kind: 'link', href, label: [label] });

test('blocks as they are written', () => {
  const text = '# One\n\ntext\nmore\n\n- a\n- **b**\n\n1. x\n2. y\n\n> said\n\n---\n\n```\n<b>\n```\nend';
  assert.deepEqual(markdownOf(text), [
    { kind: 'heading', level: 1, line: ['One'] },
    { kind: 'paragraph', lines: [['text'], ['more']] },
    { kind: 'list', isNumbered: false, items: [['a'], [{ kind: 'strong', label: ['b'] }]] },
    { kind: 'list', isNumbered: true, items: [['x'], ['y']] },
    { kind: 'quote', lines: [['said']] },
    { kind: 'rule' },
    { kind: 'code', text: '<b>' },
    { kind: 'paragraph', lines: [['end']] },
  ]);
  assert.deepEqual(markdownOf('```\nopen'), [{ kind: 'code', text: 'open' }]);
  assert.deepEqual(markdownOf(''), []);
});

test('what a line may hold', () => {
  assert.deepEqual(paragraph('a `b` *c* **d *e***'.replace('***', '** *')).slice(0, 4), [
    'a ',
    { kind: 'code', text: 'b' },
    ' ',
    { kind: 'em', label: ['c'] },
  ]);
  assert.deepEqual(paragraph('see [us](https://a.test/x?y=1), or https://b.test/.'), [
    'see ',
    link('https://a.test/x?y=1', 'us'),
    ', or ',
    link('https://b.test/', 'https://b.test/'),
    '.',
  ]);
  assert.deepEqual(paragraph('a_b_c 2*3*4'), ['a_b_c 2*3*4']);
});

test('a tag is text, and a link to anything but http and https is none', () => {
  for (const text of [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '[x](javascript:alert`1`)',
    '[x](JaVaScRiPt:alert`1`)',
    '[x](data:text/html,x)',
    '[x](/user/x)',
    '[x](//a.test)',
    '[x](https://user:pass@a.test/)',
  ])
    assert.deepEqual(
      paragraph(text).filter(span => typeof span !== 'string' && span.kind === 'link'),
      [],
      text,
    );
  assert.equal(safeHref('https://a.test/"onx'), 'https://a.test/%22onx');
});

// the runner ends what takes longer than a file may
test('a text made to be slow is read to its end, and nothing of it is lost', () => {
  for (const part of ['*', '_', '**a', '[', '[a](', '`', '> ', '- ', '#', 'http://', '*a_'])
    assert.ok(markdownOf(part.repeat(Math.ceil(10_000 / part.length))).length > 0, part);
});
