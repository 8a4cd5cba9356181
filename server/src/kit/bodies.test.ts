import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Fail } from '#contract/errors.ts';
import { BodyBytes } from './bodies.ts';

const mega = 2 ** 20;
/** Customers of one operator, whose bodies are all let go in the end. */
function desk(t: TestContext, clientID: number) {
  const all: BodyBytes[] = [];
  const gone: string[] = [];
  t.after(() => all.forEach(one => one.letGo()));
  return {
    gone,
    begin(rootID: number, bytes: number, name = String(rootID), area: 'user' | 'client' = 'user') {
      // what partyOf reads of an actor
      const actor = { area, clientID, rootID } as ConstructorParameters<typeof BodyBytes>[0]['actor'];
      const body = new BodyBytes({ actor }, () => void gone.push(name));
      all.push(body);
      body.add(bytes);
      return body;
    },
  };
}
const refused = (status: number) => (error: unknown) => error instanceof Fail && error.status === status;

test('who meets its own bound is told so; who meets that of its operator’s customers is told of no account of its own', t => {
  const { begin } = desk(t, 1);
  begin(1, 16 * mega);
  assert.throws(() => begin(1, 1), refused(429));
  for (const root of [2, 3, 4]) begin(root, 16 * mega);
  assert.throws(() => begin(5, 5 * mega), refused(503));
});

test('where an operator’s customers hold all, who holds more than its share gives way to another’s share, the oldest body first', t => {
  const { begin, gone } = desk(t, 2);
  for (const root of [1, 2, 3, 4]) for (let n = 0; n < 4; n++) begin(root, 4 * mega, `${root}.${n}`);
  const body = begin(5, mega);
  assert.deepEqual(gone, ['1.0']);
  body.add(3 * mega);
  assert.deepEqual(gone, ['1.0'], 'what gave way has room for it');
  assert.throws(() => body.add(1), refused(503), 'more than a share is nobody’s to take');
  begin(6, 4 * mega);
  assert.deepEqual(gone, ['1.0', '1.1']);
  // of another operator, and of the operator itself, all is as before
  desk(t, 3).begin(7, 4 * mega);
  begin(8, 16 * mega, '8', 'client');
  assert.deepEqual(gone, ['1.0', '1.1']);
});

test('who holds no more than its share keeps it for a minute', t => {
  const { begin, gone } = desk(t, 4);
  let ms = 0;
  t.mock.method(performance, 'now', () => ms);
  for (let root = 1; root <= 16; root++) begin(root, 4 * mega);
  assert.throws(() => begin(17, mega), refused(503));
  ms = 59_000;
  assert.throws(() => begin(17, mega), refused(503));
  assert.deepEqual(gone, []);
  ms = 61_000;
  begin(17, mega);
  assert.deepEqual(gone, ['1']);
});

test('what has arrived gives way to nobody', t => {
  const { begin, gone } = desk(t, 5);
  for (const root of [1, 2, 3, 4]) for (let n = 0; n < 4; n++) begin(root, 4 * mega).hasArrived();
  assert.throws(() => begin(5, mega), refused(503));
  assert.deepEqual(gone, []);
});

test('no other operator’s body gives way, nor one of the same root account', t => {
  const other = desk(t, 6);
  for (let n = 0; n < 4; n++) other.begin(601, 4 * mega);
  const { begin } = desk(t, 7);
  for (let root = 701; root <= 716; root++) begin(root, 4 * mega);
  assert.throws(() => begin(717, mega), refused(503));
  assert.deepEqual(other.gone, []);

  const own = desk(t, 8);
  let ms = 0;
  t.mock.method(performance, 'now', () => ms);
  own.begin(801, mega);
  for (let root = 802; root <= 816; root++) own.begin(root, 4 * mega).hasArrived();
  own.begin(817, 3 * mega).hasArrived();
  ms = 61_000;
  assert.throws(() => own.begin(801, mega), refused(503));
  assert.deepEqual(own.gone, []);
});

test('as many give way as it takes, and what gave way is counted no more', t => {
  const { begin, gone } = desk(t, 10);
  const [first] = [1001, 1002, 1003, 1004].flatMap(root => Array.from({ length: 16 }, () => begin(root, mega)));
  begin(1005, 4 * mega);
  assert.equal(gone.length, 4);
  // what still comes of it
  first!.add(mega);
  begin(1006, 4 * mega);
  assert.equal(gone.length, 8);
});
