/**
 * What strangers are given to come back with. It says by itself until when it holds, that it is ours, and what was said when it was made, so
 * that a storm of them leaves no row and no memory. Which were used is for whoever takes one to write down, once somebody of ours came by it.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { fail } from '#contract/errors.ts';
import type { Sealing } from './sealed.ts';

/** Of one machine's clock before another's. */
const aheadMs = 60_000;
const randomBytesOf = 16;
const timeBytes = 6;
const headBytes = randomBytesOf + timeBytes;
const proofBytes = 16;

export interface Pass {
  /** for what, and in which area: none serves for another */
  about: string;
  keptMs: number;
}

/** By each key of the installation that is known. */
const proofsOf = (sealing: Sealing, about: string, said: Buffer) =>
  sealing.proofs(`${about} ${said.toString('hex')}`).map(proof => Buffer.from(proof, 'hex'));

/** `at`: when it is asked for, milliseconds since 1970. `says`: who holds it can read that. In base64url. */
export function newPass(sealing: Sealing, { about, keptMs }: Pass, says = '', at = Date.now()): string {
  const said = Buffer.concat([randomBytes(randomBytesOf), Buffer.alloc(timeBytes), Buffer.from(says)]);
  said.writeUIntBE(at + keptMs, randomBytesOf, timeBytes);
  return Buffer.concat([said, proofsOf(sealing, about, said)[0]!]).toString('base64url');
}

/**
 * What it says. @throws tokenExpired where it is not ours, for something else, too old, or of a machine whose clock is ahead of what
 * `usedUntil` allows for
 */
export function judgePass(sealing: Sealing, { about, keptMs }: Pass, pass: string): string {
  const bytes = Buffer.from(pass, 'base64url');
  const [said, proof] = [bytes.subarray(0, -proofBytes), bytes.subarray(-proofBytes)];
  const isOurs =
    bytes.length >= headBytes + proofBytes &&
    bytes.toString('base64url') === pass &&
    proofsOf(sealing, about, said).some(one => timingSafeEqual(one, proof));
  if (!isOurs) throw fail('tokenExpired');
  const left = endOf(said) - Date.now();
  if (left <= 0 || left > keptMs + aheadMs) throw fail('tokenExpired');
  return said.subarray(headBytes).toString();
}

/** Until when it holds, by the machine that made it, milliseconds since 1970. */
const endOf = (bytes: Buffer) => bytes.readUIntBE(randomBytesOf, timeBytes);

/**
 * Until when it is to be known that it was used, milliseconds since 1970: as long again as it holds. No machine, nor the database that
 * forgets, whose clock is behind takes it anew.
 */
export const usedUntil = ({ keptMs }: Pass, pass: string) => endOf(Buffer.from(pass, 'base64url')) + keptMs;
