/** How the API of a DNS provider is asked: at its own address or another of the environment, by the address policy of the site. */
import { createHash, createHmac } from 'node:crypto';
import * as z from 'zod/mini';
import type { AddressPolicy } from '#contract/rules/address-policy.ts';
import { outbound, type OutboundAnswer } from '../../kit/outbound.ts';
import type { Services } from '../../kit/services.ts';
import { DnsProblem, type DnsTrouble } from './driver.ts';

export interface Api {
  /** without a slash at its end; undefined: the provider's own */
  base: string | undefined;
  fetch: (
    url: string,
    request: { method: 'GET' | 'POST' | 'DELETE'; headers: Record<string, string>; body?: string },
  ) => Promise<OutboundAnswer>;
  /** milliseconds since 1970 */
  now: () => number;
}

const timeoutMs = 8000;
const bytesMax = 2_000_000;
/** Of one list of an account: nobody's zones are more. */
export const pagesMost = 50;
export const userAgent = 'Breakwater/1.0';

export const apiOf = ({ dns }: Services, provider: string, policy: AddressPolicy): Api => ({
  base: dns?.apis[provider],
  fetch: (url, request) =>
    outbound(url, { ...request, headers: { 'user-agent': userAgent, ...request.headers }, policy, timeoutMs, bytesMax }),
  now: () => Date.now(),
});

/** What a status says where the answer's words do not say it. */
export const troubleOfStatus = (status: number): DnsTrouble =>
  status === 401 || status === 403 ? 'credentials' : status === 429 ? 'limited' : status >= 500 ? 'away' : 'refused';

export function retryAfter({ headers }: OutboundAnswer): number | undefined {
  const value = headers['retry-after'];
  return value !== undefined && /^\d{1,6}$/.test(value) ? Number(value) : undefined;
}

/** @throws DnsProblem where it is nothing of the shape */
export function readJson<T extends z.ZodMiniType>(provider: string, shape: T, answer: OutboundAnswer): z.output<T> {
  let body: unknown;
  try {
    body = JSON.parse(answer.body.toString('utf8'));
  } catch {
    body = undefined;
  }
  const result = z.safeParse(shape, body);
  if (result.success) return result.data;
  const trouble = troubleOfStatus(answer.status);
  throw new DnsProblem(trouble, `${provider} answered ${answer.status} and nothing that is known of its API`, retryAfter(answer));
}

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
