/** What a driver is given, out of what is stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultLineID } from './choose.ts';
import { lineFor } from './line-places.ts';
import { groupAnswer } from './load.ts';

test('a network that stands on two lines counts for the first, however it is written', () => {
  const line = (lineID: number, cidrs: string[]) => ({ lineID, cidrs, a: ['192.0.2.1'], aaaa: [], cname: null, members: [] });
  const { lines } = groupAnswer({
    groupID: 1,
    clientID: 1,
    version: 1,
    lines: [
      line(defaultLineID, []),
      line(2, ['198.51.100.0/24', '2001:db8::/48', '192.0.2.9']),
      line(3, ['198.51.100.77/24', '2001:DB8:0:0::9/48', '192.0.2.9/32', '203.0.113.0/24', '198.51.100.0/25']),
    ],
  });
  assert.deepEqual(
    lines.map(one => one.cidrs),
    [
      ['198.51.100.0/24', '2001:db8::/48', '192.0.2.9'],
      ['203.0.113.0/24', '198.51.100.0/25'],
    ],
  );
});

test('a line that answers nothing takes nothing from the next one, here and in a preview', () => {
  const line = (lineID: number, a: string[]) => ({
    lineID,
    cidrs: ['198.51.100.0/24'],
    asns: [64_500],
    places: ['TW'],
    a,
    aaaa: [],
    cname: null,
    members: [],
  });
  const lines = [{ ...line(defaultLineID, ['192.0.2.1']), cidrs: [], asns: [], places: [] }, line(2, []), line(3, ['192.0.2.3'])];
  const made = groupAnswer({ groupID: 1, clientID: 1, version: 1, lines });
  assert.deepEqual(
    made.lines.map(({ cidrs, asns, places, answer }) => [cidrs.length, asns?.length, places?.length, answer.a]),
    [[1, 1, 1, ['192.0.2.3']]],
  );
  assert.equal(lineFor(lines, '198.51.100.1').line?.lineID, 3);
});
