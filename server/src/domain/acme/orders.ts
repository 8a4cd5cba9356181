/**
 * One order as it goes from name to certificate: what is asked of the authority next, and what it said. Nothing here writes; each question
 * may be asked twice (RFC 8555 bears it), since whoever asked may have died before it wrote down the answer.
 */
import type { KeyObject } from 'node:crypto';
import { acmeLimits, type acmeWays } from '#contract/limits.ts';
import { OutboundError } from '../../kit/outbound.ts';
import type { Place } from '../dns/driver.ts';
import { type Acme, AcmeProblem, type Order } from './client.ts';
import { signingRequest } from './csr.ts';

export type Way = (typeof acmeWays)[number];
/**
 * `spread`: nodes take the answer; it is no question. By DNS instead: `place`, `put` and `look` at the record (records.ts), and `clean` takes
 * it away once it is said what became of the order.
 */
export type Phase = 'order' | 'spread' | 'place' | 'put' | 'look' | 'accept' | 'validate' | 'finalize' | 'fetch' | 'clean';
/** As the cursor of a task keeps it. */
export interface Ordering {
  domainID: number;
  host: string;
  phase: Phase;
  /** looks in this phase so far */
  looks: number;
  /** looks that are left out: the authority asked for time */
  skip: number;
  order?: string;
  authorization?: string;
  challenge?: string;
  finalize?: string;
  /** of the site, that carries the answer */
  revision?: number;
  /** orders of earlier releases have none: by HTTP */
  way?: Way;
  /** of its record, by DNS */
  value?: string;
  /** undefined: nowhere yet */
  place?: Place;
  /** of this question to a DNS provider, that came to nothing */
  tries?: number;
  /** why HTTP did not do; it is what is told where DNS does not either */
  httpWhy?: string;
}

export type Said =
  | { domainID: number; next: Partial<Ordering>; proof?: { token: string; answer: string } }
  | { domainID: number; pem: string }
  /** `unproven`: another way may prove the name */
  | { domainID: number; why: string; limitSeconds?: number; unproven?: true }
  | { domainID: number; place: Place }
  | { domainID: number; later: { why: string; seconds: number } }
  | { domainID: number; gone: boolean; why?: string };

/** What is asked next. @param keyOf of the certificate that is ordered */
export async function ask(acme: Acme, one: Ordering, keyOf: (domainID: number) => Promise<KeyObject | undefined>): Promise<Said> {
  const { domainID } = one;
  try {
    return { domainID, ...(await next(acme, one, keyOf)) };
  } catch (error) {
    return problemOf(domainID, error);
  }
}

/** @throws what is no problem of the authority or the way to it */
export function problemOf(domainID: number, error: unknown): Said {
  if (error instanceof AcmeProblem) {
    const limitSeconds = error.type === 'rateLimited' ? (error.retrySeconds ?? 60) : undefined;
    return { domainID, why: error.message, ...(limitSeconds === undefined ? {} : { limitSeconds }) };
  }
  if (error instanceof OutboundError) return { domainID, why: `${error.problem}: ${error.message}`.slice(0, 400) };
  throw error;
}

type Unnamed<T> = T extends { domainID: number } ? Omit<T, 'domainID'> : never;

async function next(
  acme: Acme,
  one: Ordering,
  keyOf: (domainID: number) => Promise<KeyObject | undefined>,
): Promise<Unnamed<Said>> {
  switch (one.phase) {
    case 'order': {
      const order = await acme.order([one.host]);
      const at = order.authorizations[0]!;
      const byDNS = one.way === 'dns';
      const { status, challenge } = await acme.authorization(at, byDNS ? 'dns-01' : 'http-01');
      const known = { order: order.url, finalize: order.finalize, authorization: at };
      // it remembers that the name is ours
      if (status === 'valid') return { next: { ...known, phase: 'finalize' } };
      if (!challenge) return { why: `the authority takes no proof by ${byDNS ? 'DNS' : 'HTTP'} for this name`, unproven: true };
      const { token } = challenge;
      if (byDNS) return { next: { ...known, phase: 'place', challenge: challenge.url, value: acme.recordValue(token) } };
      return {
        next: { ...known, phase: 'spread', challenge: challenge.url },
        proof: { token, answer: acme.keyAuthorization(token) },
      };
    }
    case 'accept': {
      try {
        await acme.accept(one.challenge!);
      } catch (error) {
        // it was told so before, and looks already: what it finds says the rest
        if (!(error instanceof AcmeProblem) || error.type !== 'malformed') throw error;
      }
      return { next: { phase: 'validate' } };
    }
    case 'validate': {
      const { status, problem, retrySeconds } = await acme.authorization(one.authorization!);
      if (status === 'valid') return { next: { phase: 'finalize' } };
      if (status !== 'pending') return { why: problem ?? `the authority says that this name is ${status}`, unproven: true };
      return again(one, retrySeconds);
    }
    case 'finalize': {
      const key = await keyOf(one.domainID);
      if (!key) return { why: 'the key of the certificate is gone' };
      let order = await acme.orderAt(one.order!);
      if (order.status === 'ready') order = await acme.finalize(one.finalize!, one.order!, signingRequest([one.host], key));
      return order.status === 'pending' ? again(one, order.retrySeconds) : ended(acme, one, order);
    }
    case 'fetch':
      return ended(acme, one, await acme.orderAt(one.order!));
    default:
      return { next: {} };
  }
}

async function ended(acme: Acme, one: Ordering, order: Order): Promise<Unnamed<Said>> {
  if (order.status === 'valid' && order.certificate) return { pem: await acme.certificate(order.certificate) };
  if (order.status === 'invalid') return { why: order.error?.detail.slice(0, 400) || 'the authority refused the order' };
  const waits = again({ ...one, looks: one.phase === 'fetch' ? one.looks : 0 }, order.retrySeconds);
  return 'next' in waits ? { next: { ...waits.next, phase: 'fetch' } } : waits;
}

/** Later, unless it was looked at often enough. */
function again({ looks }: Ordering, retrySeconds = 0): Unnamed<Said> {
  if (looks >= acmeLimits.looks) return { why: 'the authority does not come to an end with it' };
  return { next: { looks: looks + 1, skip: Math.min(retrySeconds, 60) } };
}
