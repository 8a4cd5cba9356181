/** Numbers for people. Units use base 1000 (§1, §9). */
import { display } from '#contract/limits.ts';

const counts = ['', 'K', 'M', 'G', 'T', 'P'];
const bits = ['bit/s', 'Kbit/s', 'Mbit/s', 'Gbit/s', 'Tbit/s', 'Pbit/s'];
const base = display.byteUnitBase;

/** Three significant digits, and never `1000 KB`: that is `1.00 MB`. */
function scaled(value: number, units: readonly string[]): string {
  if (!Number.isFinite(value)) return '–';
  const sign = value < 0 ? '−' : '';
  let rest = Math.abs(value);
  let unit = 0;
  while (unit < units.length - 1 && (rest >= base || (unit > 0 && Number(rest.toPrecision(3)) >= base))) {
    rest /= base;
    unit++;
  }
  const digits = unit === 0 ? (Number.isInteger(rest) ? 0 : 2) : rest >= 99.95 ? 0 : rest >= 9.995 ? 1 : 2;
  return `${sign}${rest.toFixed(digits)} ${units[unit]}`.trimEnd();
}

/** `1234567` → `1.23 MB`; below a thousand `512 Byte`. */
export const bytes = (value: number) => scaled(value, display.byteUnits);
export const bitRate = (value: number) => scaled(value, bits);
/** Short, for axes and cards: `1.23 M`. */
export const count = (value: number) => scaled(value, counts);
/** In full, with digit groups. */
export const number = (value: number) => value.toLocaleString('en-US');
export const percent = (value: number) => `${(value * 100).toFixed(value === 0 || value === 1 ? 0 : 1)}%`;
const signedMax = 9.99;
/** A share more or less: `+6.1%`, `−12.0%`, `+999%↑` for all beyond. More is neither good nor bad, so it has no colour. */
export function signed(value: number): string {
  const shown = Math.min(Math.abs(value), signedMax) * 100;
  return `${value < 0 ? '−' : '+'}${shown.toFixed(shown < 100 ? 1 : 0)}%${value > signedMax ? '↑' : ''}`;
}
/** Seconds as people say them: `140 ms`, `2.31 s`. */
export const duration = (seconds: number) => (seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(2)} s`);
export const milliseconds = (value: number) => duration(value / 1000);
