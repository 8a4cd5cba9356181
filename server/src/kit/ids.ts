import { randomBytes } from 'node:crypto';

let pool = Buffer.alloc(0);
let at = 0;
/** A request's id: 16 hex digits, taken from a pool because asking the system for each costs more than the rest. */
export function newRequestID(): string {
  if (at + 8 > pool.length) {
    pool = randomBytes(4096);
    at = 0;
  }
  return pool.toString('hex', at, (at += 8));
}
