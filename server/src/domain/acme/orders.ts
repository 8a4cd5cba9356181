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
  /** seconds, about, before it is asked again */
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
  /** answers in a row that said nothing of the order: the authority, or the way to it, was out of order */
  troubles?: number;
  /** how often what was proven before was taken back: it is proven anew */
  anew?: number;
  /** the certificate that this one takes the place of, as its authority knows it */
  replaces?: string;
}
/** How long it wants no order: of this name and those below it, or of our account. */
export interface Limit {
  /** undefined: it did not say */
  seconds: number | undefined;
  name: string | null;
}

export type Said =
  | { domainID: number; next: Partial<Ordering>; proof?: { token: string; answer: string } }
  | { domainID: number; pem: string }
  /** `unproven`: another way may prove the name. `other`: not the name's fault, another authority may do it. `detail`: what the operator reads of it, where it is none of the customer's business */
  | { domainID: number; why: string; detail?: string; limit?: Limit; unproven?: true; other?: true }
  | { domainID: number; place: Place }
  | { domainID: number; later: { why: string; seconds: number } }
  | { domainID: number; gone: boolean; why?: string };

/** What is asked next. @param keyOf of the certificate that is ordered */
export async function ask(acme: Acme, one: Ordering, keyOf: (domainID: number) => Promise<KeyObject | undefined>): Promise<Said> {
  const { domainID } = one;
  try {
    return { domainID, ...(await next(acme, one, keyOf)) };
  } catch (error) {
    if (isLostAccount(error)) throw error;
    return problemOf(one, error);
  }
}

/** It no longer knows who we are. */
export const isLostAccount = (error: unknown) => error instanceof AcmeProblem && error.type === 'accountDoesNotExist';

/** Longer than this no order waits. */
const waitMostSeconds = 900;
/** @throws what is no problem of the authority or the way to it */
export function problemOf(one: Ordering, error: unknown): Said {
  const { domainID, host, phase, troubles = 0 } = one;
  if (!(error instanceof AcmeProblem) && !(error instanceof OutboundError)) throw error;
  const retrySeconds = error instanceof AcmeProblem ? error.retrySeconds : undefined;
  const isPassing = error instanceof OutboundError || error.isPassing;
  // there is an order, and perhaps a certificate: what says nothing against it does not end it
  if (phase !== 'order' && isPassing && troubles < acmeLimits.troubles && (retrySeconds ?? 0) <= waitMostSeconds) {
    const seconds = Math.max(retrySeconds ?? 0, Math.min(2 ** troubles, 60));
    return { domainID, next: { troubles: troubles + 1, skip: seconds } };
  }
  if (error instanceof OutboundError)
    return {
      domainID,
      why: `the authority could not be reached (${error.problem})`,
      detail: `${error.problem}: ${error.message}`,
      other: true,
    };
  const limit = error.type === 'rateLimited' ? limitOf(host, error) : undefined;
  const isOurs = phase === 'order' && ofAccount.has(error.type);
  // what is said of the operator's account is the operator's to read
  if (isOurs)
    return { domainID, why: `the authority does not take our account (${error.type})`, detail: error.message, other: true };
  const isOther = isPassing || error.type === 'caa';
  return { domainID, why: error.message, ...(limit ? { limit } : {}), ...(isOther ? { other: true } : {}) };
}
/** What says nothing of the name but of who orders (RFC 8555, 6.7): before there is an order. */
const ofAccount: ReadonlySet<string> = new Set(['unauthorized', 'externalAccountRequired', 'userActionRequired']);

/**
 * Most limits are of names: so many certificates of one, or of those below one domain. The account's is what it says of the account or of
 * orders at large, and where it is overloaded.
 */
function limitOf(host: string, { message, retrySeconds, status }: AcmeProblem): Limit {
  const named = [...message.matchAll(/["'“]([a-z0-9.-]+\.[a-z0-9-]+)["'”]/gi)].map(([, name]) => name!.toLowerCase());
  // names and links to what is written of limits have such words too
  const words = named.reduce((text, name) => text.replaceAll(name, ''), message.toLowerCase().replace(/https?:\S+/g, ''));
  const isOurs = status === 503 || /\b(?:orders|accounts?|registrations|ip|requests)\b/.test(words.replaceAll(host, ''));
  const above = named.find(name => host === name || host.endsWith(`.${name}`));
  return { seconds: retrySeconds, name: isOurs ? null : (above ?? host) };
}

/** It may remember several proofs of one name. */
const anewMost = 5;

type Unnamed<T> = T extends { domainID: number } ? Omit<T, 'domainID'> : never;

async function next(
  acme: Acme,
  one: Ordering,
  keyOf: (domainID: number) => Promise<KeyObject | undefined>,
): Promise<Unnamed<Said>> {
  switch (one.phase) {
    case 'order': {
      const order = await acme.order([one.host], one.replaces);
      const at = order.authorizations[0]!;
      const byDNS = one.way === 'dns';
      const { status, challenge } = await acme.authorization(at, byDNS ? 'dns-01' : 'http-01');
      const known = { order: order.url, finalize: order.finalize, authorization: at };
      // It remembers that the name was an account's of ours, who may be another customer by now. An authority that vouches for names by
      // itself says so again, however often it is asked.
      const { anew = 0 } = one;
      if (status === 'valid' && anew >= anewMost) return { next: { ...known, phase: 'finalize' } };
      if (status === 'valid') {
        await acme.deactivate(at);
        return { next: { phase: 'order', anew: anew + 1 } };
      }
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
        if (!(error instanceof AcmeProblem) || error.type !== 'malformed') throw error;
        // if it was told so before it looks already: what it finds says the rest
        const { status, challenge } = await acme.authorization(one.authorization!);
        if (status === 'pending' && challenge?.status !== 'processing') throw error;
      }
      return { next: { phase: 'validate' } };
    }
    case 'validate': {
      const { status, problem, problemType, retrySeconds } = await acme.authorization(one.authorization!);
      if (status === 'valid') return { next: { phase: 'finalize' } };
      // most authorities look at CAA as they look at the proof: another proof changes nothing, another authority may be named there
      if (status === 'invalid' && problemType === 'caa') return { why: problem!, other: true };
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
  if (order.status === 'valid' && order.certificate) {
    const pem = await acme.certificate(order.certificate);
    // whoever has the name next proves it; one that does not take it back is asked to by the next order
    await acme.deactivate(one.authorization!).catch(() => {});
    return { pem };
  }
  if (order.status === 'invalid')
    return { why: order.problem ?? 'the authority refused the order', ...(order.problemType === 'caa' ? { other: true } : {}) };
  const waits = again({ ...one, looks: one.phase === 'fetch' ? one.looks : 0 }, order.retrySeconds);
  return 'next' in waits ? { next: { ...waits.next, phase: 'fetch' } } : waits;
}

/** Later, unless it was looked at often enough. */
function again({ looks }: Ordering, retrySeconds = 0): Unnamed<Said> {
  if (looks >= acmeLimits.looks) return { why: 'the authority does not come to an end with it' };
  return { next: { looks: looks + 1, skip: Math.min(Math.max(1, retrySeconds), 60) } };
}
