/** What a list of domains is asked for a state of their names, and the fields of a DS record. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameStates, stateQuery } from '../src/domain/name-states.ts';
import { dsFields } from '../src/resolution/ds-fields.ts';

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
