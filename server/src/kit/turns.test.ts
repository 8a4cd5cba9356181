import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { Fail } from '#contract/errors.ts';
import { lanesOf, type Line, partyOf, Turns, type TurnsOptions } from './turns.ts';

const options: TurnsOptions = { name: 'desk', lanes: [4], each: 2, waiting: 2, waitingAll: 100, waitMs: 60_000 };
const tooManyCalls = [{ path: '', rule: 'tooManyCalls', bounds: { seconds: 5 } }];
/** What was sent, in the order in which it began, each ended by hand. `x/a1` is the first of party a in x. */
class Desk {
  readonly turns: Turns;
  readonly begun: string[] = [];
  readonly refused: string[] = [];
  /** who met its own limit */
  readonly own: string[] = [];
  readonly #ends = new Map<string, () => void>();
  constructor(more: Partial<TurnsOptions> = {}) {
    this.turns = new Turns({ ...options, ...more });
  }
  async send(names: string, lane = 0, line?: Line) {
    for (const name of names.split(' '))
      this.turns
        .run({ lane, path: name.replace(/\d+$/, '').split('/') }, () => this.#act(name), line)
        .catch((error: unknown) => {
          assert.ok(error instanceof Fail);
          if (error.status === 429) {
            assert.deepEqual([error.errorData, error.extra], [tooManyCalls, { retryAfter: 5 }]);
            this.own.push(name);
          } else assert.deepEqual([error.name, error.status], ['database', 503]);
          this.refused.push(name);
        });
    await settled();
  }
  #act(name: string): Promise<void> {
    this.begun.push(name);
    return new Promise(done => this.#ends.set(name, done));
  }
  async end(names: string) {
    for (const name of names.split(' ')) this.#ends.get(name)!();
    await settled();
  }
  /** Ends one after the other; in which order they began. */
  async drain(): Promise<string> {
    for (let i = 0; i < this.begun.length; i++) await this.end(this.begun[i]!);
    assert.deepEqual([this.turns.running, this.turns.waiting], [0, 0]);
    return this.begun.join(' ');
  }
}
const settled = () => new Promise(done => setImmediate(done));

test('one party has no more than its own under way, and leaves half of the lane to whoever comes', async () => {
  const desk = new Desk({ each: 3, waiting: 9 });
  await desk.send('a1 a2 a3 b1 b2 c1 d1');
  assert.deepEqual(desk.begun, ['a1', 'a2', 'b1', 'c1']);
  // others wait: no second one
  await desk.end('a1');
  assert.equal(desk.begun.at(-1), 'd1');
  await desk.end('a2 c1');
  assert.equal(desk.begun.at(-1), 'a3');
});

test('how much of the lane is left to whoever comes is a choice', async () => {
  const desk = new Desk({ each: 4, seconds: 0.75, waiting: 9 });
  await desk.send('a1 a2 a3 a4 b1');
  assert.deepEqual(desk.begun, ['a1', 'a2', 'a3', 'b1']);
});

test('a second one begins only where nobody else could', async () => {
  const desk = new Desk({ lanes: [2], each: 2, waiting: 9 });
  await desk.send('a1 b1 a2 c1');
  await desk.end('b1');
  await desk.end('c1');
  assert.deepEqual(desk.begun, ['a1', 'b1', 'c1']);
  await desk.end('a1');
  assert.equal(desk.begun.at(-1), 'a2');
});

test('it goes round by party, however many of one came first', async () => {
  const desk = new Desk({ lanes: [1], each: 1, waiting: 9 });
  await desk.send('a1 a2 a3 a4 b1 c1 b2');
  assert.equal(await desk.drain(), 'a1 b1 c1 a2 b2 a3 a4');
});

test('many parties in one hand are one', async () => {
  const desk = new Desk({ lanes: [1], each: 1, waiting: 9 });
  await desk.send('x/a1 x/b1 x/c1 x/d1 y/a1 z/a1 y/a2');
  assert.equal(await desk.drain(), 'x/a1 y/a1 z/a1 x/b1 y/a2 x/c1 x/d1');
});

test('who comes anew does not go before who waits since', async () => {
  const desk = new Desk({ lanes: [1], each: 1, waiting: 9 });
  await desk.send('a1 a2 b1');
  await desk.end('a1');
  await desk.send('c1 d1');
  assert.equal(await desk.drain(), 'a1 b1 a2 c1 d1');
});

test('a lane takes what is kept for it and for those before it, and never what is kept for those after it', async () => {
  const desk = new Desk({ lanes: [2, 3, 4], each: 9, waiting: 9 });
  await desk.send('a1 b1 c1 d1');
  await desk.send('e1 f1', 1);
  await desk.send('g1 h1', 2);
  assert.deepEqual(desk.begun, ['a1', 'b1', 'e1', 'g1']);
  // the lane with least under way is next, so that none has it all
  await desk.end('a1');
  assert.equal(desk.begun.at(-1), 'f1');
  await desk.end('b1');
  assert.equal(desk.begun.at(-1), 'c1');
});

test('one more than may wait is refused, of that party alone', async () => {
  const desk = new Desk({ lanes: [2] });
  await desk.send('a1 a2 a3 a4 b1');
  assert.deepEqual([desk.begun, desk.refused, desk.own], [['a1', 'b1'], ['a4'], ['a4']]);
});

test('where all have no more room to wait, the newest of whoever has most waiting gives way', async () => {
  const desk = new Desk({ lanes: [1], each: 1, waiting: 9, waitingAll: 5 });
  await desk.send('a1 x/a1 x/b1 x/b2 y/a1 y/b1');
  await desk.send('y/c1');
  // y would have as many as x: it is its own
  assert.deepEqual(desk.refused, ['y/c1']);
  await desk.send('z/a1 z/b1');
  assert.deepEqual(desk.refused, ['y/c1', 'x/b2', 'z/b1']);
  await desk.send('v/a1 w/a1 u/a1');
  assert.deepEqual(desk.refused.length, 6);
  assert.deepEqual(desk.own, [], 'nobody met a limit of its own');
  // nobody who is alone was put out for another
  assert.match(await desk.drain(), /^a1 x\/a1 y\/a1 z\/a1 v\/a1 w\/a1$/);
});

test('another lane finds room to wait, however full one lane is', async () => {
  const desk = new Desk({ lanes: [1, 1], waiting: 9, waitingAll: 4 });
  await desk.send('a1 b1 c1 d1 e1');
  await desk.send('f1 g1', 1);
  assert.deepEqual(desk.refused.toSorted(), ['d1', 'e1'].toSorted());
  assert.equal(await desk.drain(), 'a1 f1 b1 g1 c1');
});

test('who has waited for too long is refused, and leaves its place', async () => {
  const { turns } = new Desk({ lanes: [1], each: 1, waiting: 1, waitMs: 1 });
  const party = { lane: 0, path: ['a'] };
  let end!: () => void;
  const first = turns.run(party, () => new Promise<void>(done => (end = done)));
  for (let round = 0; round < 2; round++) {
    await assert.rejects(
      turns.run(party, () => Promise.resolve()),
      Fail,
    );
    assert.deepEqual([turns.running, turns.waiting], [1, 0]);
  }
  end();
  await first;
  assert.equal(turns.running, 0);
});

test('who hangs up leaves its place, and nothing of it is done', async () => {
  const desk = new Desk({ lanes: [1], each: 1 });
  const lines = Array.from({ length: 3 }, () => Object.assign(new EventEmitter(), { destroyed: false }));
  await desk.send('a1', 0, lines[0]);
  await desk.send('a2', 0, lines[1]);
  await desk.send('b1', 0, lines[2]);
  for (const line of lines) line.emit('close');
  lines[0]!.destroyed = true;
  await desk.send('a3', 0, lines[0]);
  assert.deepEqual([desk.refused, desk.turns.waiting], [['a2', 'b1', 'a3'], 0]);
  assert.equal(await desk.drain(), 'a1');
  assert.deepEqual(
    lines.map(line => line.listenerCount('close')),
    [0, 0, 0],
  );
});

test('what fails gives its turn back', async () => {
  const { turns } = new Desk({ lanes: [1] });
  await assert.rejects(
    turns.run({ lane: 0, path: ['a'] }, () => Promise.reject(new Error('broken'))),
    /broken/,
  );
  assert.equal(await turns.run({ lane: 0, path: ['b'] }, () => Promise.resolve(7)), 7);
  assert.deepEqual([turns.running, turns.waiting], [0, 0]);
});

test('customers stand under their operator, and have less than operators, who have less than admins', () => {
  assert.deepEqual(partyOf({ area: 'user', clientID: 7, rootID: 9 }), { lane: 0, path: ['operator 7', 'root 9'] });
  assert.deepEqual(partyOf({ area: 'client', clientID: 7, rootID: 7 }), { lane: 1, path: ['root 7'] });
  assert.deepEqual(partyOf({ area: 'admin', clientID: null, rootID: 1 }), { lane: 2, path: ['root 1'] });
  assert.deepEqual(
    [lanesOf(10), lanesOf(1)],
    [
      [6, 8, 10],
      [1, 1, 1],
    ],
  );
});

test('who has had its turn, or was refused, is forgotten: it comes back as anybody who comes anew', async () => {
  const desk = new Desk({ lanes: [1], each: 1, waiting: 1 });
  await desk.send('x/c1');
  await desk.end('x/c1');
  await desk.send('a1 y/b1 x/c2');
  assert.equal(desk.turns.parties, 3);
  assert.equal(await desk.drain(), 'x/c1 a1 y/b1 x/c2');
  assert.equal(desk.turns.parties, 0);
  const line = Object.assign(new EventEmitter(), { destroyed: true });
  await desk.send('a2');
  for (let i = 0; i < 100; i++) await desk.send(`z${'z'.repeat(i)}/y1`, 0, line);
  assert.deepEqual([desk.refused.length, desk.turns.parties], [100, 1]);
});
