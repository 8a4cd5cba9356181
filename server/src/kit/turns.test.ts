import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fail } from '#contract/errors.ts';
import { Turns, type TurnsOptions } from './turns.ts';

const options: TurnsOptions = { most: 3, each: 2, waiting: 2, waitMs: 60_000 };
/** What was sent, in the order in which it began, each ended by hand. */
class Desk {
  readonly turns: Turns;
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();
  constructor(more: Partial<TurnsOptions> = {}) {
    this.turns = new Turns({ ...options, ...more });
  }
  send(name: string, share?: number): Promise<void> {
    return this.turns.run(
      name[0]!,
      () => {
        this.begun.push(name);
        return new Promise(done => this.#ends.set(name, done));
      },
      share,
    );
  }
  async end(name: string) {
    this.#ends.get(name)!();
    await settled();
  }
}
const settled = () => new Promise(done => setImmediate(done));
const refused = (error: unknown) => error instanceof Fail && error.name === 'database' && error.status === 503;

test('one key has no more than its own under way, another begins at once', async () => {
  const desk = new Desk();
  for (const name of ['a1', 'a2', 'a3', 'b1']) void desk.send(name);
  await settled();
  assert.deepEqual(desk.begun, ['a1', 'a2', 'b1']);
  await desk.end('a1');
  assert.deepEqual(desk.begun, ['a1', 'a2', 'b1', 'a3']);
});

test('it goes round by key, however many of one came first', async () => {
  const desk = new Desk({ most: 1, each: 1, waiting: 9 });
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) void desk.send(name);
  await settled();
  for (let i = 0; i < 6; i++) await desk.end(desk.begun.at(-1)!);
  assert.deepEqual(desk.begun, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
});

test('one more than may wait is refused, of that key alone', async () => {
  const desk = new Desk();
  for (const name of ['a1', 'a2', 'a3', 'a4']) void desk.send(name);
  await settled();
  await assert.rejects(desk.send('a5'), refused);
  void desk.send('b1');
  await settled();
  assert.equal(desk.begun.at(-1), 'b1');
});

test('who has waited for too long is refused, and leaves its place', async () => {
  const desk = new Desk({ most: 1, each: 1, waiting: 1, waitMs: 1 });
  void desk.send('a1');
  await settled();
  await assert.rejects(desk.send('a2'), refused);
  assert.equal(desk.turns.waiting, 0);
  await assert.rejects(desk.send('a3'), refused);
  await desk.end('a1');
  assert.deepEqual([desk.begun, desk.turns.running], [['a1'], 0]);
});

test('some begin only while there is room for others as well', async () => {
  const desk = new Desk({ most: 4, each: 4, waiting: 4 });
  for (const name of ['a1', 'b1', 'c1']) void desk.send(name, 0.5);
  await settled();
  assert.deepEqual(desk.begun, ['a1', 'b1']);
  for (const name of ['d1', 'e1']) void desk.send(name);
  await settled();
  assert.deepEqual(desk.begun, ['a1', 'b1', 'd1', 'e1']);
  await desk.end('a1');
  await desk.end('b1');
  assert.equal(desk.begun.length, 4);
  await desk.end('d1');
  assert.equal(desk.begun.at(-1), 'c1');
});

test('what fails gives its turn back', async () => {
  const { turns } = new Desk({ most: 1 });
  await assert.rejects(
    turns.run('a', () => Promise.reject(new Error('broken'))),
    /broken/,
  );
  assert.equal(await turns.run('b', () => Promise.resolve(7)), 7);
  assert.deepEqual([turns.running, turns.waiting], [0, 0]);
});
