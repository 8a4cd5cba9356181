/** What a list of domains is asked for a state of their names, and the fields of a DS record. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStateKnown, nameStates, stateQuery } from '../src/domain/name-states.ts';
import { dsFields, dsToTakeOut } from '../src/resolution/ds-fields.ts';

test('inactive are all states in which a name does not lead here; each state is asked for by itself', () => {
  assert.deepEqual(stateQuery({ page: 2, cnameStatuses: 'inactive' }), { page: 2, cnameStatuses: ['unset', 'wrong'] });
  for (const one of nameStates.filter(state => state !== 'inactive'))
    assert.deepEqual(stateQuery({ cnameStatuses: one }), { cnameStatuses: one });
  assert.deepEqual(stateQuery({ page: 1 }), { page: 1 });
});

test('a DS record falls into the four fields that registrars ask for, its digest in one piece or in several', () => {
  const wanted = { keyTag: '5346', algorithm: '13', digestType: '2', digest: 'AB12CD34' };
  assert.deepEqual(dsFields('cdn.example.net. 3600 IN DS 5346 13 2 AB12CD34'), wanted);
  assert.deepEqual(dsFields('cdn.example.net. DS 5346 13 2 AB12 CD34'), wanted);
});

test('a state is known though nobody knows when it was seen; of a name that nobody has looked at none is', () => {
  assert.equal(isStateKnown({ cnameStatus: 'active', cnameCheckedAt: null }), true);
  assert.equal(isStateKnown({ cnameStatus: 'unset', cnameCheckedAt: '2026-11-01T00:00:00Z' }), true);
  assert.equal(isStateKnown({ cnameStatus: 'unset', cnameCheckedAt: null }), false);
});

test('what is to be taken out of the zone above is what it was seen to have; all that it may have where nobody has said', () => {
  const zone = { ds: ['new'], dsBefore: ['old'], dsAbove: [] as string[] };
  assert.deepEqual(dsToTakeOut({ ...zone, dsSeenAt: null }), ['new', 'old']);
  assert.deepEqual(dsToTakeOut({ ...zone, dsSeenAt: '2026-11-01T00:00:00Z' }), []);
  assert.deepEqual(dsToTakeOut({ ...zone, dsAbove: ['old'], dsSeenAt: '2026-11-01T00:00:00Z' }), ['old']);
});
