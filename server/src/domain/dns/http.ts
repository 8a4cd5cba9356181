/** How the API of a DNS provider is asked: at its own address or another of the environment, by the address policy of the site. */
import { createHash, createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import type { AddressPolicy } from '#contract/rules/address-policy.ts';
import { outbound, type OutboundAnswer } from '../../kit/outbound.ts';
import { retryAfterOf } from '../../kit/retry-after.ts';
import type { Services } from '../../kit/services.ts';
import { DnsProblem, type DnsTrouble, limitSecondsMost } from './driver.ts';

export interface Api {
  /** without a slash at its end; undefined: the provider's own */
  base: string | undefined;
  fetch: (
    url: string,
    request: { method: 'GET' | 'POST' | 'DELETE'; headers: Record<string, string>; body?: string },
  ) => Promise<OutboundAnswer>;
  /** milliseconds since 1970 */
  now: () => number;
  /** how often a short limit is waited for; default never: somebody waits for the answer */
  patience?: number;
  /** milliseconds between the beginnings of two questions, at the least; default none */
  gapMs?: number;
}

const timeoutUsualMs = 8000;
const bytesMax = 2_000_000;
/** Of the zones of an account: nobody's are more. */
export const pagesMost = 200;
/** Of the records of one zone. */
export const recordPagesMost = 1000;
export const userAgent = 'Breakwater/1.0';

export interface ApiOptions extends Pick<Api, 'patience' | 'gapMs'> {
  /** of one answer */
  timeoutMs?: number;
}
export const apiOf = (
  { dns }: Pick<Services, 'dns'>,
  provider: string,
  policy: AddressPolicy,
  { timeoutMs = timeoutUsualMs, ...more }: ApiOptions = {},
): Api => ({
  base: dns?.apis[provider],
  fetch: (url, request) =>
    outbound(url, { ...request, headers: { 'user-agent': userAgent, ...request.headers }, policy, timeoutMs, bytesMax }),
  now: () => Date.now(),
  ...more,
});

/** Longer than this nobody waits in the middle of something. */
const waitSecondsMost = 5;
/** when the next question may begin */
const nextAt = new WeakMap<Api, number>();
/** Asked again after a limit that is over soon, so that a long list is not begun anew each time. */
export async function patiently<T>(api: Api, ask: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    if (api.gapMs) {
      // taken before it is waited for: those who ask side by side come one after the other
      const now = performance.now();
      const at = Math.max(now, nextAt.get(api) ?? now);
      nextAt.set(api, at + api.gapMs);
      if (at > now) await sleep(at - now);
    }
    try {
      return await ask();
    } catch (error) {
      const seconds = error instanceof DnsProblem && error.trouble === 'limited' ? (error.retrySeconds ?? 2 ** tries) : Infinity;
      if (seconds > waitSecondsMost || tries >= (api.patience ?? 0)) throw error;
      await sleep(seconds * 1000);
    }
  }
}

/** What a status says where the answer is one of the API, and its words do not say it. */
export const troubleOfStatus = (status: number): DnsTrouble =>
  status === 401 || status === 403 ? 'credentials' : status === 429 ? 'limited' : status >= 500 ? 'away' : 'refused';

export const retryAfter = ({ headers }: OutboundAnswer): number | undefined => retryAfterOf(headers, limitSecondsMost);

/**
 * An answer that is none of the API, whatever its status: of a proxy between, of a portal, cut off. Nobody said no to anything, neither to a
 * record nor to a key; nor is anything done, or not there.
 */
export const strange = (provider: string, answer: OutboundAnswer): DnsProblem =>
  new DnsProblem(
    answer.status === 429 ? 'limited' : 'away',
    `${provider} answered ${answer.status} (${kindOf(answer)}) and nothing that is known of its API: a proxy or a portal may stand between`,
    retryAfter(answer),
  );

const kindOf = ({ headers, body }: OutboundAnswer) =>
  (body.length ? (headers['content-type'] ?? 'of no type') : 'empty').slice(0, 60);
/** Undefined: it is nothing of the shape. */
export function jsonOf<T extends z.ZodMiniType>(shape: T, answer: OutboundAnswer): z.output<T> | undefined {
  let body: unknown;
  try {
    body = JSON.parse(answer.body.toString('utf8'));
  } catch {
    return undefined;
  }
  return z.safeParse(shape, body).data;
}
/** @throws DnsProblem where it is nothing of the shape */
export function readJson<T extends z.ZodMiniType>(provider: string, shape: T, answer: OutboundAnswer): z.output<T> {
  const said = jsonOf(shape, answer);
  if (said === undefined) throw strange(provider, answer);
  return said;
}

const secretLeast = 4;
/** What whoever is asked says, fit to be shown: it may repeat what it was sent, keys among it. */
export const without = (secret: string, words: string): string =>
  secret.length < secretLeast ? words : words.replaceAll(secret, '…').replaceAll(encodeURIComponent(secret), '…');

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
export const hmac256 = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
/** RFC 3986: what is not unreserved is written in hexadecimal. */
export const strictly = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, c => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
/** Parameters in the order in which they are signed. */
export const canonicalQuery = (query: Readonly<Record<string, string>>) =>
  Object.entries(query)
    .map(([name, value]) => `${strictly(name)}=${strictly(value)}`)
    .sort()
    .join('&');
