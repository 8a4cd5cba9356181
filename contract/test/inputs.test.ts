/** Inputs and fields of §3 and §7, against the mounted calls. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as z from 'zod/mini';
import { calls as declare, mounted } from '#contract/kit/call.ts';
import { calls } from './guards/built.ts';
import { askedOf, callsOf, fieldsOf, lineProblems, missingOf, missingProblems } from './guards/inputs.ts';
import { dataLines } from './guards/sources.ts';
import { missing, missingMost } from './missing-inputs.ts';

const clean = (problems: string[]) => assert.deepEqual(problems, [], problems.slice(0, 60).join('\n'));
const asked = dataLines('contract/test/inputs.txt').map(askedOf);

describe('samples', () => {
  test('sample: a line in its parts', () => {
    assert.deepEqual(askedOf('GET /a/{b} ? x list | items{y up{z}} -> w').fields, [
      '? x',
      '? page',
      '? pageSize',
      '? sortBy',
      '? orderBy',
      '| items',
      '| items.y',
      '| items.up',
      '| items.up.z',
      '-> w',
    ]);
    assert.deepEqual(askedOf('PATCH /{area}'), { key: 'PATCH /{area}', fields: [] });
    assert.deepEqual(callsOf('GET {S}/x'), ['GET /user/site/{siteID}/x', 'GET /client/site/{siteID}/x']);
    assert.deepEqual(callsOf('PATCH /{area}'), ['PATCH /user', 'PATCH /client', 'PATCH /admin']);
    assert.throws(() => askedOf('get x'));
  });
  test('sample: a call without a line, a line without a call, a call twice', () =>
    assert.deepEqual(
      lineProblems(
        [askedOf('GET /{uc}/a'), askedOf('GET /user/a'), askedOf('GET /b')],
        ['GET /user/a', 'GET /client/a', 'GET /c'],
      ).map(problem => problem.split(':')[0]),
      ['GET /c', 'GET /b', 'GET /user/a'],
    ));
  const list = z.object({ data: z.array(z.object({ name: z.string() })), total: z.int() });
  const group = declare(
    { base: '/{area}', areas: ['user', 'client'], resource: 'samples' },
    {
      'GET /x': { query: z.strictObject({ page: z.optional(z.int()) }), answer: list },
      'POST /x': { body: z.strictObject({ items: z.array(z.strictObject({ a: z.nullable(z.int()) })) }) },
    },
  );
  const sample = [...mounted([group])];
  test('sample: what a call takes and answers', () => {
    assert.deepEqual([...fieldsOf(sample[0]!)], ['? page', '-> name']);
    assert.deepEqual([...fieldsOf(sample[2]!)], ['| items', '| items.a']);
  });
  test('sample: a parameter, a field of an item and a field of an answer that are not there', () => {
    const lines = ['GET /{uc}/x ? page sortBy -> name age', 'POST /{uc}/x | items{a b}', 'GET /{uc}/later ? z'].map(askedOf);
    assert.deepEqual(missingProblems(lines, sample, {}), [
      'GET /user/x lacks ? sortBy',
      'GET /user/x lacks -> age',
      'GET /client/x lacks ? sortBy',
      'GET /client/x lacks -> age',
      'POST /user/x lacks | items.b',
      'POST /client/x lacks | items.b',
    ]);
    clean(missingProblems(lines, sample, { 'GET /{uc}/x': { tls: '? sortBy -> age' }, 'POST /{uc}/x': { fleet: '| items.b' } }));
  });
  test('sample: a list that names what is built, what nobody asked for, what waits for nothing, what is not mounted', () => {
    const lines = ['GET /{uc}/x ? page', 'POST /{uc}/x | items{c}', 'GET /{uc}/later ? z'].map(askedOf);
    const bad = {
      'GET /{uc}/x': { tls: '? page pages' },
      'POST /{uc}/x': { later: '| items.c' },
      'GET /{uc}/later': { tls: '? z' },
    };
    assert.deepEqual(
      missingProblems(lines, sample, bad as never).map(problem => problem.split(': ')[1]),
      [
        'built, so take it off the list',
        'on the list, but nobody asked for it',
        'waits for later, which is no issue',
        'on the list, but not mounted',
      ],
    );
  });
});

test('every range of time that a call takes is bounded', () => {
  const at = (days: number) => new Date(Date.UTC(2026, 0, 1) + days * 86_400_000).toISOString();
  const ranged = calls.filter(call => [...fieldsOf(call)].some(field => field === '| startTime' || field === '? startTime'));
  assert.ok(ranged.length >= 8);
  for (const { method, path, def } of ranged) {
    const schema = (def.body ?? def.query)!;
    const fields = fieldsOf({ def });
    const ids = Object.fromEntries(
      ['id', 'userID', 'productID', 'bytes'].filter(name => fields.has(`| ${name}`)).map(name => [name, 1]),
    );
    const more = { ...(fields.has('| types') ? { types: [2] } : {}), ...ids };
    const takes = (start: number, end: number) =>
      z.safeParse(schema, { startTime: at(start), endTime: at(end), ...more }).success;
    assert.ok(takes(-1 / 24, 0), `${method} ${path} takes an hour`);
    assert.ok(!takes(-3660, 0), `${method} ${path} takes ten years`);
    assert.ok(!takes(0, -1), `${method} ${path} takes a range that ends before it begins`);
  }
});

test('every call of the specification has its line of inputs', () =>
  clean(lineProblems(asked, dataLines('contract/test/calls.txt'))));
test('every input and field of a mounted call is there, or on the list of what is missing', () =>
  clean(missingProblems(asked, calls, missing)));
test('the list of what is missing only shrinks', () =>
  assert.equal(missingOf(missing).length, missingMost, 'lower missingMost with the list; it never rises'));
