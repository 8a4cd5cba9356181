import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fail, Fail } from '#contract/errors.ts';
import { neighbourhoods } from '../kit/networks.ts';
import { Tries } from '../kit/tries.ts';
import { Door } from './door.ts';

/** A door with a clock of its own; `right`: what is looked up and found. */
class Street {
  now = 0;
  looked = 0;
  readonly expected = new Set<string>();
  readonly right = new Set<string>();
  readonly door = new Door(new Tries(1000, () => this.now));

  /** @returns the status */
  async knock(address: string, what: string): Promise<number> {
    try {
      await this.door.enter(
        address,
        what,
        async () => this.expected.has(what),
        async () => {
          this.looked++;
          if (!this.right.has(what)) throw fail('invalidToken');
        },
      );
      return 200;
    } catch (error) {
      assert.ok(error instanceof Fail);
      return error.status;
    }
  }
  /** One wrong try after another until the address is held up. */
  async holdUp(address: string): Promise<void> {
    for (let i = 0; (await this.knock(address, `wrong ${i}`)) !== 429; i++) assert.ok(i < 100);
  }
}

test('what is tried waits by itself: a spent token slows nobody else behind the address', async () => {
  const street = new Street();
  street.right.add('fresh');
  for (let i = 0; i < 1000; i++) {
    await street.knock('192.0.2.1', 'spent');
    street.now += 1000;
  }
  assert.ok(street.looked < 30, String(street.looked));
  assert.equal(await street.knock('192.0.2.1', 'fresh'), 200);
});

test('a thousand at once with one token are not looked at a thousand times', async () => {
  const street = new Street();
  await Promise.all(Array.from({ length: 1000 }, () => street.knock('192.0.2.1', 'spent')));
  assert.ok(street.looked <= 10, String(street.looked));
});

test('a thousand at once with a thousand tokens: those that wait when the address is known for them are not looked at', async () => {
  const street = new Street();
  await Promise.all(Array.from({ length: 1000 }, (_, i) => street.knock('192.0.2.1', `wrong ${i}`)));
  assert.ok(street.looked < 80, String(street.looked));
});

test('whom we expect passes an address that is held up, and whoever speaks in its name does not keep it out', async () => {
  const street = new Street();
  await street.holdUp('192.0.2.1');
  street.right.add('node 7').add('node 8');
  street.expected.add('node 7');
  assert.equal(await street.knock('192.0.2.1', 'node 8'), 429);
  assert.equal(await street.knock('192.0.2.1', 'node 7'), 200);
  assert.equal(await street.knock('192.0.2.1', 'node 8'), 200, 'and its neighbours are believed again');
  await street.holdUp('192.0.2.1');
  // somebody else speaks in its name
  street.expected.clear();
  for (let i = 0; i < 50; i++) await street.knock('192.0.2.1', 'node 7');
  street.expected.add('node 7');
  assert.equal(await street.knock('192.0.2.1', 'node 7'), 200);
});

test('whom we expect and is wrong all the same waits too', async () => {
  const street = new Street();
  await street.holdUp('192.0.2.1');
  street.expected.add('of a maker who may no more');
  const before = street.looked;
  for (let i = 0; i < 100; i++) await street.knock('192.0.2.1', 'of a maker who may no more');
  assert.ok(street.looked - before <= 10, String(street.looked - before));
});

test('only wrong tries count: a fleet that is right is never held up', async () => {
  const street = new Street();
  for (let i = 0; i < 1000; i++) street.right.add(`token ${i}`);
  const all = await Promise.all(Array.from({ length: 500 }, (_, i) => street.knock('192.0.2.1', `token ${i}`)));
  assert.deepEqual(new Set(all), new Set([200]));
  for (let i = 500; i < 1000; i++) assert.equal(await street.knock('192.0.2.1', `token ${i}`), 200);
});

test('an address falls back: half with time, half with each one that is right, although somebody goes on', async () => {
  const street = new Street();
  street.right.add('right');
  await street.holdUp('192.0.2.1');
  assert.equal(await street.knock('192.0.2.1', 'right'), 429);
  // deleted nodes go on, one every three seconds each under its own name
  for (let i = 0; i < 400; i++) {
    street.now += 3000;
    await street.knock('192.0.2.1', `deleted ${i % 100}`);
  }
  assert.equal(await street.knock('192.0.2.1', 'right'), 200);

  await street.holdUp('192.0.2.1');
  street.now += 60_000;
  for (let i = 0; i < 20; i++) assert.equal(await street.knock('192.0.2.1', `other ${i}`), 401);
});

/** At the door of its own with `most`, what is done lasts until it is ended. */
function slow(most: ConstructorParameters<typeof Door>[1] = {}) {
  const tries = new Tries();
  const door = new Door(tries, most);
  let underWay = 0;
  let ended = false;
  const ends: (() => void)[] = [];
  const knock = async (address: string, what: string, error?: Error) => {
    try {
      await door.enter(
        address,
        what,
        async () => false,
        async () => {
          underWay++;
          if (!ended) await new Promise<void>(next => ends.push(next));
          if (error) throw error;
        },
      );
      return 200;
    } catch (caught) {
      return caught instanceof Fail ? caught.status : 0;
    }
  };
  const end = () => {
    ended = true;
    for (const one of ends) one();
  };
  return { tries, knock, end, underWay: () => underWay };
}
const settled = () => new Promise(setImmediate);

test('eight are let in at once, four of one address', async () => {
  const { knock, end, underWay } = slow();
  const all = Array.from({ length: 20 }, (_, i) => knock('192.0.2.1', `a ${i}`));
  await settled();
  assert.equal(underWay(), 4);
  for (let address = 2; address < 20; address++) all.push(knock(`203.0.${address}.1`, 'b'));
  await settled();
  assert.equal(underWay(), 8);
  end();
  assert.deepEqual(new Set(await Promise.all(all)), new Set([200]));
});

test('a failure of ours is no wrong try, nor is one that found no room to wait', async () => {
  const { knock, end, tries } = slow({ each: 1, waiting: 1 });
  const all = Array.from({ length: 200 }, (_, i) => knock('192.0.2.1', `token ${i}`));
  await settled();
  assert.equal(tries.waits([{ key: neighbourhoods('192.0.2.1')[1], free: 0 }]), undefined);
  end();
  const found = await Promise.all(all);
  assert.deepEqual([found.filter(one => one === 200).length, found.filter(one => one === 429).length], [2, 198]);
  for (let i = 0; i < 200; i++) assert.equal(await knock('192.0.2.1', 'same', fail('database')), fail('database').status);
  assert.equal(await knock('192.0.2.1', 'same', new Error('broken')), 0);
  assert.equal(await knock('192.0.2.1', 'same'), 200);
  assert.ok(tries.size < 300);
});

test('whom we expect is counted apart from whoever was wrong in its name before', async () => {
  const street = new Street();
  for (let i = 0; i < 30; i++) await street.knock('192.0.2.1', 'node 7');
  assert.equal(await street.knock('192.0.2.1', 'node 7'), 429);
  street.expected.add('node 7');
  street.right.add('node 7');
  assert.equal(await street.knock('192.0.2.1', 'node 7'), 200);
});
