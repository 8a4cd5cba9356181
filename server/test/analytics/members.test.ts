/** When a line of a node counts for a site: while both stood in one zone, with the graces on their two sides and no more. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isAllowed, type MemberRow, Members } from '#server/ingest/members.ts';

const minute = 60_000;
const day = 86_400_000;
const t0 = 1_700_000_000_000;
const stood = (kind: 'node' | 'site', of: number, start: number, end = 0): MemberRow => ({
  kind,
  id: 7,
  of,
  start,
  end,
  host: '',
});
const domain: MemberRow = { kind: 'domain', id: 7, of: 7, start: 0, end: 0, host: 'a.test' };

function counts(node: MemberRow[], site: MemberRow[]): (time: number) => boolean {
  const members = new Members();
  members.apply([...node, ...site, domain]);
  const key = Buffer.from('7\t7\ta.test');
  return time => isAllowed(members.verdict(7, key, 0, key.length), time);
}

describe('a line counts from the later begin to the earlier end', () => {
  test('the site left the zone, the node stayed: after a day of grace nothing counts', () => {
    const does = counts([stood('node', 1, t0)], [stood('site', 1, t0, t0 + day)]);
    assert.ok(does(t0 + 2 * day - minute));
    assert.ok(!does(t0 + 2 * day + minute));
  });
  test('the node left, the site stayed', () => {
    const does = counts([stood('node', 1, t0, t0 + day)], [stood('site', 1, t0)]);
    assert.ok(does(t0 + 2 * day - minute));
    assert.ok(!does(t0 + 2 * day + minute));
  });
  test('the site came later than the node, or the node later than the site: before the grace nothing counts', () => {
    for (const does of [
      counts([stood('node', 1, t0)], [stood('site', 1, t0 + 9 * day)]),
      counts([stood('node', 1, t0 + 9 * day)], [stood('site', 1, t0)]),
    ]) {
      assert.ok(!does(t0 + 9 * day - 16 * minute));
      assert.ok(does(t0 + 9 * day - 14 * minute));
    }
  });
  test('both were in the zone, never at the same time: nothing counts in between', () => {
    const does = counts([stood('node', 1, t0, t0 + day)], [stood('site', 1, t0 + 20 * day)]);
    for (const time of [t0, t0 + day, t0 + 10 * day, t0 + 20 * day, t0 + 30 * day]) assert.ok(!does(time), String(time - t0));
  });
  test('what has ended does not begin again when an older answer comes late', () => {
    const members = new Members();
    members.apply([stood('node', 1, t0), stood('site', 1, t0, t0 + day), domain]);
    members.apply([stood('site', 1, t0)]);
    const key = Buffer.from('7\t7\ta.test');
    assert.ok(!isAllowed(members.verdict(7, key, 0, key.length), t0 + 5 * day));
  });
});
