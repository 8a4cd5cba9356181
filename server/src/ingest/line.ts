/**
 * One line of a node's log, judged before it is passed on: is it what nginx writes, can its figures be, and when was it. Nothing is
 * decoded or copied for that; every byte is looked at once.
 */
import { accessLogColumns } from '#contract/edge/log.ts';
import { logBounds } from '#contract/limits.ts';
import type { asideReasons } from '#contract/node/nodes.ts';

/** Why a line is set aside instead of being counted. `node`, `site`, `domain`: see members.ts; `flood`: positions.ts. */
export type AsideReason = (typeof asideReasons)[number];

/** A line's clock may be this wrong before it is corrected by the difference of the node's clock and the bus's. */
export const skewToleratedMs = 5000;
/** Spooled lines may be this old: one insert then touches at most nine daily partitions. */
export const oldestMs = 7 * 86_400_000;
/** A clock that was set back between writing and sending makes lines of the future; they count as of now, within this. */
const aheadMs = 86_400_000;

const columns = accessLogColumns.length;
const at = Object.fromEntries(accessLogColumns.map((column, i) => [column.name, i])) as Record<
  (typeof accessLogColumns)[number]['name'],
  number
>;
/** `site \t domain \t host` stand together and are the key of members.ts. */
const keyMax = 300;
const msecLength = '1700000000.123'.length;

/** More than any link carries in the time a request took. */
const bytesPerSecond = logBounds.linkBitsPerSecondMax / 8;
const secondsMax = 30 * 86_400;

/** Ends of the columns of the line looked at last; `ends[-1]` would be its begin. */
const ends = new Int32Array(columns);

/** What a line says about itself; one object, filled anew for each line. */
export const read = {
  /** epoch milliseconds, corrected by the skew and not after the bus took it */
  time: 0,
  /** to the visitor, or from the origins if that is more */
  bytes: 0,
  /** where the key stands */
  keyFrom: 0,
  keyTo: 0,
};

/** Judges `raw[from, to)`, a line without its mark and its newline. Undefined: it may be passed on, and `read` is filled. */
export function judgeLine(raw: Buffer, from: number, to: number, skewMs: number, receivedMs: number): AsideReason | undefined {
  let count = 0;
  for (let i = from; i < to; i++) {
    if (raw[i]! >= 32) continue;
    // nginx escapes control bytes; a backslash would join this column, or this line, with the next
    if (raw[i] !== 9 || raw[i - 1] === 0x5c || count === columns - 1) return 'form';
    ends[count++] = i;
  }
  if (count !== columns - 1 || raw[to - 1] === 0x5c) return 'form';
  ends[count] = to;

  const second = digits(raw, from, from + 10);
  const thousandth = digits(raw, from + 11, from + msecLength);
  if (ends[at.msec] !== from + msecLength || raw[from + 10] !== 0x2e || second < 0 || thousandth < 0) return 'form';
  if (ends[at.host]! - ends[at.msec]! > keyMax) return 'form';
  const status = ends[at.status - 1]! + 1;
  if (ends[at.status]! - status !== 3 || digits(raw, status, status + 3) < 0) return 'form';
  const bytes = digits(raw, ends[at.bytes - 1]! + 1, ends[at.bytes]!);
  const seconds = sum(raw, ends[at.rt - 1]! + 1, ends[at.rt]!);
  const upBytes = sum(raw, ends[at.up_bytes - 1]! + 1, ends[at.up_bytes]!);
  const upSeconds = sum(raw, ends[at.up_time - 1]! + 1, ends[at.up_time]!);
  if (bytes === -1 || seconds < 0 || upBytes < 0 || upSeconds < 0) return 'form';
  const possible = Math.min((seconds + 1) * bytesPerSecond, logBounds.responseMaxBytes);
  if (!(bytes <= possible && upBytes <= possible && seconds <= secondsMax && upSeconds <= secondsMax)) return 'number';

  const time = second * 1000 + thousandth + (Math.abs(skewMs) >= skewToleratedMs ? skewMs : 0);
  if (time > receivedMs + aheadMs) return 'future';
  if (time < receivedMs - oldestMs) return 'late';
  read.time = Math.min(time, receivedMs);
  read.bytes = Math.max(bytes, upBytes);
  read.keyFrom = ends[at.msec]! + 1;
  read.keyTo = ends[at.host]!;
  return undefined;
}

/** The number in these bytes; -1: there is something else, Infinity: too long to be one. */
function digits(raw: Buffer, from: number, to: number): number {
  if (to <= from) return -1;
  let value = 0;
  for (let i = from; i < to; i++) {
    const digit = raw[i]! - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return to - from > 15 ? Infinity : value;
}

/** Sum of a list as nginx writes it (`12, 34 : 56`, `0.010, -`); 0 for "-" and nothing, -1 for anything else. */
function sum(raw: Buffer, from: number, to: number): number {
  let total = 0;
  let value = 0;
  let scale = 0;
  for (let i = from; i < to; i++) {
    const c = raw[i]!;
    if (c >= 0x30 && c <= 0x39) {
      if (scale === 0) value = value * 10 + c - 0x30;
      else value += (c - 0x30) * (scale /= 10);
    } else if (c === 0x2e && scale === 0) scale = 1;
    else if (c === 0x2c || c === 0x20 || c === 0x3a || c === 0x2d) {
      total += value;
      value = scale = 0;
    } else return -1;
  }
  return total + value;
}
