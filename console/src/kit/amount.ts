/** An amount and its unit, as people write them: `1.5 GB`, `300 KB/s`, `90 min`. Bytes count by 1000. Pure. */
import { display } from '#contract/limits.ts';

export interface Unit {
  /** Also the end of its text `amount.<name>`. */
  name: string;
  /** How many of the smallest. */
  size: number;
  /** What may be typed for it, lower case. */
  also: readonly string[];
}
const byThousands = (names: readonly string[], suffix: string): Unit[] =>
  names.map((name, index) => ({
    name: name + suffix,
    size: display.byteUnitBase ** index,
    also:
      index === 0
        ? ['b', 'byte', 'bytes']
        : [name[0]!.toLowerCase(), `${name[0]!.toLowerCase()}b`, `${name[0]!.toLowerCase()}/s`],
  }));
const sizes = ['B', 'KB', 'MB', 'GB', 'TB'];

export const units = {
  bytes: byThousands(sizes, ''),
  /** per second */
  rate: byThousands(sizes, '/s'),
  duration: [
    { name: 'ms', size: 1, also: ['msec', '毫秒'] },
    { name: 's', size: 1000, also: ['sec', 'second', 'seconds', '秒'] },
    { name: 'min', size: 60_000, also: ['m', 'minute', 'minutes', '分', '分鐘', '分钟'] },
    { name: 'h', size: 3_600_000, also: ['hour', 'hours', '時', '小時', '小时'] },
    { name: 'd', size: 86_400_000, also: ['day', 'days', '天', '日'] },
  ],
} as const satisfies Record<string, readonly Unit[]>;
export type AmountKind = keyof typeof units;

const decimals = 3;
const shortened = (value: number) => Number(value.toFixed(decimals));

/** In the unit that is counted in; what is counted comes whole. */
export const amountIn = (counted: Unit, amount: number, unit: Unit): number => Math.round((amount * unit.size) / counted.size);

/** The largest unit in which a value stands with three decimals and is still the same value. */
export function splitAmount(value: number, of: readonly Unit[], counted: Unit): { amount: number; unit: Unit } {
  const inUnit = (unit: Unit) => shortened((value * counted.size) / unit.size);
  // no more off than the fractions of a binary number are
  const isSame = (amount: number, unit: Unit) =>
    amountIn(counted, amount, unit) === value &&
    Math.abs((amount * unit.size) / counted.size - value) <= Math.max(1e-3, 1e-15 * Math.abs(value));
  const unit = of.findLast(one => Math.abs(inUnit(one)) >= 1 && isSame(inUnit(one), one)) ?? counted;
  return { amount: unit === counted ? value : inUnit(unit), unit };
}

/** What somebody typed: a number, or a number and a unit; undefined where it is neither. */
export function readAmount(typed: string, of: readonly Unit[], otherwise: Unit): { amount: number; unit: Unit } | undefined {
  const [, digits, word] = /^\s*([\d.,]*\d[\d.,]*)\s*([^\d\s.,]*)\s*$/.exec(typed) ?? [];
  if (digits === undefined) return undefined;
  // a comma groups thousands when three digits follow it, else it is the sign of the fraction
  const plain = /,\d{3}(?:\D|$)/.test(digits) ? digits.replaceAll(',', '') : digits.replace(',', '.');
  const amount = Number(plain);
  if (!Number.isFinite(amount)) return undefined;
  if (!word) return { amount, unit: otherwise };
  const name = word.toLowerCase();
  const unit = of.find(one => one.name.toLowerCase() === name || one.also.includes(name));
  return unit && { amount, unit };
}
