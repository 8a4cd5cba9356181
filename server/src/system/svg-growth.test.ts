import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growthOf } from './svg-growth.ts';

const svg = (inner: string) => `<svg xmlns="http://www.w3.org/2000/svg">${inner}</svg>`;
const rect = '<rect id="a" width="1"/>';

test('a part counts as often as it is shown, and what is shown within it with it', () => {
  assert.equal(growthOf(svg(rect)), 0);
  assert.equal(growthOf(svg(`${rect}<use href="#a"/><use xlink:href='#a'/>`)), 2 * rect.length);
  const group = `<g id="b"><use href="#a"/><use href="#a"/></g>`;
  // by the two within, and by the one that shows these again
  assert.equal(growthOf(svg(`${rect}${group}<use href="#b"/>`)), 2 * rect.length + group.length + 2 * rect.length);
  assert.equal(growthOf(svg(`<clipPath id="c"><path/></clipPath><path clip-path="url('#c')"/>`)), 35);
  assert.equal(growthOf(svg('<use href="#nowhere"/>')), 0);
});

test('few references that multiply come to much, however they are written', () => {
  let levels = rect;
  for (let n = 0, was = 'a'; n < 10; n++, was = `l${n - 1}`)
    levels += `<g id="l${n}"><use href="#${was}"/><use href="#${was}"/></g>`;
  assert.ok(growthOf(svg(levels)) > 50_000);
  assert.ok(growthOf(svg(levels.replaceAll('#l', '#&#x6c;'))) > 50_000, 'by the number of a character');
  assert.ok(growthOf(svg(levels.replaceAll('<use', '<!-- </g></g> --><use'))) > 50_000, 'with ends in comments');
});

test('a part that shows itself has no end; neither has what is nested deeper than any picture', () => {
  assert.equal(growthOf(svg('<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>')), Infinity);
  assert.equal(growthOf('<g>'.repeat(1000)), Infinity);
  const chain = Array.from({ length: 2000 }, (_, n) => `<g id="n${n}"><use href="#n${n + 1}"/></g>`).join('');
  assert.equal(growthOf(svg(chain)), Infinity);
});

// what grows by the square of its input would take hours
test('a file that is none is gone over once', { timeout: 120_000 }, () => {
  for (const part of ['<!--', '<a "', "<a '", '<a <', '<a url( ', '<a href = ', '<![CDATA[', '<?', '<', '</a', '<a id=" ', '">'])
    for (const text of [part.repeat(3_900_000 / part.length), `<a b="${part.repeat(3_900_000 / part.length)}">`]) growthOf(text);
  growthOf(`<a b="url(${' '.repeat(3_900_000)}`);
  growthOf(`<a b="url(${' '.repeat(3_900_000)}x">`);
  growthOf(`<a ${'href '.repeat(700_000)}>`);
});

test('what only looks like a tag within a word is passed over', () => {
  assert.equal(growthOf(svg(`<text b="<g><use/>">1 < 2</text>${rect}<use x='>' href="#a"/>`)), rect.length);
  assert.equal(growthOf(svg(`<![CDATA[<use href="#a"/>]]><?p <use href="#a"/>?>${rect}<use href =\n "  #a"/>`)), rect.length);
});

test('the largest file there may be is counted', { timeout: 120_000 }, () => {
  const many = svg(`<g id="g">${rect.repeat(20)}${'<use href="#a"/>'.repeat(200_000)}</g>`.slice(0, 3_900_000));
  assert.ok(growthOf(many) > 4_000_000);
});
