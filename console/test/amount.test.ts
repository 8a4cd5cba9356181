/** Amounts with units as people type them, and colours as people see them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amountIn, readAmount, splitAmount, units, type Unit } from '../src/kit/amount.ts';
import { contrast, hexOfRgb, rgbOf, verdict } from '../src/kit/contrast.ts';

const unit = (of: readonly Unit[], name: string) => of.find(one => one.name === name)!;

test('a value stands in the largest unit that does not change it', () => {
  const of = (value: number, kind: keyof typeof units, counts: string) => {
    const { amount, unit: in_ } = splitAmount(value, units[kind], unit(units[kind], counts));
    return `${amount} ${in_.name}`;
  };
  assert.equal(of(1_500_000_000, 'bytes', 'B'), '1.5 GB');
  assert.equal(of(1_500_000_001, 'bytes', 'B'), '1500000.001 KB');
  assert.equal(of(123_456_789_012_345, 'bytes', 'B'), '123456789012.345 KB');
  assert.equal(of(0, 'bytes', 'B'), '0 B');
  assert.equal(of(2500, 'rate', 'KB/s'), '2.5 MB/s');
  assert.equal(of(90, 'duration', 's'), '1.5 min');
  assert.equal(of(5400, 'duration', 's'), '1.5 h');
  assert.equal(of(86_401, 'duration', 's'), '86401 s');
});

test('what is shown is what is sent again', () => {
  for (const kind of ['bytes', 'rate', 'duration'] as const)
    for (let value = 1, step = 1; value < 1e15; value = value * 3 + step++) {
      const counted = units[kind][0];
      const { amount, unit: in_ } = splitAmount(value, units[kind], counted);
      assert.equal(amountIn(counted, amount, in_), value, `${kind} ${value}`);
    }
});

test('a unit may be typed with the number, in any case, by its short name or its own word', () => {
  const { bytes, rate, duration } = units;
  const read = (typed: string, of: readonly Unit[]) => {
    const found = readAmount(typed, of, of[1]!);
    return found && `${found.amount} ${found.unit.name}`;
  };
  assert.equal(read('1.5 GB', bytes), '1.5 GB');
  assert.equal(read(' 20m ', bytes), '20 MB');
  assert.equal(read('7', bytes), '7 KB', 'without one it is in the unit that stands there');
  assert.equal(read('1,500', bytes), '1500 KB');
  assert.equal(read('1,5 GB', bytes), '1.5 GB');
  assert.equal(read('300k/s', rate), '300 KB/s');
  assert.equal(read('90 分鐘', duration), '90 min');
  assert.equal(read('2H', duration), '2 h');
  for (const typed of ['', 'GB', '1.2.3', '5 parsecs', '-3', '1e9 GB', '.']) assert.equal(read(typed, bytes), undefined, typed);
});

test('contrast is that of WCAG', () => {
  const ratio = (one: string, other: string) => contrast(rgbOf(one)!, rgbOf(other)!);
  assert.equal(ratio('#000', '#fff'), 21);
  assert.equal(ratio('#777777', '#777'), 1);
  assert.equal(ratio('#767676', '#ffffff').toFixed(2), '4.54');
  assert.deepEqual([4.5, 4.49, 3, 2.9].map(verdict), ['good', 'large', 'large', 'bad']);
  assert.equal(hexOfRgb(rgbOf(' ABC ')!), '#aabbcc');
  for (const text of ['', '#12', '#12345', 'petrol', '#gggggg']) assert.equal(rgbOf(text), undefined, text);
});
