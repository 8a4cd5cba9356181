import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Where } from './where.ts';

test('other addresses are told once they stay, not again at once, and never loopback alone', () => {
  let [now, tells] = [0, 0];
  let own = ['192.0.2.1', '2001:db8::1'];
  let told: string[] | undefined;
  const where = new Where({ told: () => told, own: () => own, now: () => now, tell: () => void tells++ });
  const pass = (seconds: number) => {
    for (const end = now + seconds * 1000; now < end; now += 5000) where.look();
    return tells;
  };
  assert.equal(pass(300), 0, 'there is nobody to tell');
  told = ['2001:db8::1', '192.0.2.1'];
  assert.equal(pass(300), 0, 'in another order they are the same');
  own = ['192.0.2.9'];
  assert.equal(pass(15), 0);
  own = ['192.0.2.1', '2001:db8::1'];
  assert.equal(pass(60), 0, 'they came and went');
  own = ['192.0.2.9'];
  assert.equal(pass(30), 1);
  assert.equal(pass(30), 1, 'the server was away');
  assert.equal(pass(60), 2);
  told = own;
  assert.equal(pass(600), 2);
  own = ['127.0.0.1'];
  assert.equal(pass(600), 2);
});
