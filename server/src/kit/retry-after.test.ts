import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryAfterOf } from './retry-after.ts';

const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
const after = (said: string, more = {}) => retryAfterOf({ 'retry-after': said, date, ...more }, 900);

test('seconds are bounded, however many; what is no number of them says nothing', () => {
  const said = ['0', '17', '900', '901', '999999', '99999999999999', '1.5', '-5', '1e3', '', 'soon', '٣'];
  const none = undefined;
  assert.deepEqual(
    said.map(one => after(one)),
    [0, 17, 900, 900, 900, 900, none, none, none, none, none, none],
  );
  assert.equal(retryAfterOf({}, 900), undefined);
});

test('a date in each of its three spellings is by the clock of whoever says it', () => {
  const in20 = ['Sun, 06 Nov 1994 08:49:57 GMT', 'Sunday, 06-Nov-94 08:49:57 GMT', 'Sun Nov  6 08:49:57 1994'];
  assert.deepEqual(
    in20.map(one => after(one)),
    [20, 20, 20],
  );
  assert.deepEqual([after('Sun, 06 Nov 1994 08:00:00 GMT'), after('Mon, 07 Nov 1994 08:49:37 GMT')], [0, 900]);
  assert.equal(after('Sun, 99 Nov 1994 08:00:00 GMT'), undefined);
  assert.equal(after('Sun, 06 Nov 1994 08:49:57 GMT', { date: undefined }), undefined);
});
