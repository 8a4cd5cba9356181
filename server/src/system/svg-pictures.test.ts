import assert from 'node:assert/strict';
import { test } from 'node:test';
import { picturesIn } from './svg-pictures.ts';

const data = Buffer.from('a picture').toString('base64');

test('each picture is found, with line ends within it as programs write them', () => {
  const lines = `${data.slice(0, 4)}&#xA;${data.slice(4, 8)}\r\n &#10;&#13;${data.slice(8)}`;
  const svg = `<svg><image href="data:image/png;base64,${data}"/><image xlink:href = '\n data:image/JPEG;base64,${lines}'/><use href="#a"/></svg>`;
  assert.deepEqual(picturesIn(svg)?.map(String), ['a picture', 'a picture']);
  assert.deepEqual(picturesIn('<svg/>'), []);
});

test('what is written otherwise is not guessed at', () => {
  for (const value of [
    'data:image/png,%89PNG',
    `data:image/png;charset=utf-8;base64,${data}`,
    `data:image/svg+xml;base64,${data}`,
    `data:text/plain;base64,${data}`,
    `data:image/png;base64,${data.slice(0, 4)}&#x52;${data.slice(4)}`,
    `data:image/png;base64,${data.slice(0, 4)}%52${data.slice(4)}`,
    'data:image/png;base64,',
    'data:',
  ])
    assert.equal(
      picturesIn(`<svg><image href="data:image/png;base64,${data}"/><image href="${value}"/></svg>`),
      undefined,
      value,
    );
  assert.equal(picturesIn(`<svg><image href="data:image/png;base64,${data}`), undefined, 'it never ends');
});
