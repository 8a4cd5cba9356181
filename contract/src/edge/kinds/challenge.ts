import * as z from 'zod/mini';
import { head, hostText, kind, text } from './kind.ts';

/** orders of one domain that wait for their answer; more than one where an authority was asked again */
export const challengesPerDomain = 10;
const token = () => text(200).check(z.regex(/^[A-Za-z0-9_-]{22,200}$/));

/**
 * `cfg.<zone>.challenge.<domain>` → record `a:<host>`: what an authority is answered that asks at
 * `/.well-known/acme-challenge/<token>` whether this host is ours (RFC 8555, 8.3). Gone once it has asked.
 */
export const challenge = kind({
  name: 'challenge',
  on: 'domain',
  schema: z.object({
    ...head,
    /** lower-case host name; no wildcard: those are proven by DNS alone */
    host: hostText.check(z.minLength(1)),
    tokens: z._default(
      z
        .array(z.object({ token: token(), answer: text(300).check(z.regex(/^[A-Za-z0-9_-]{22,200}\.[A-Za-z0-9_-]{43}$/)) }))
        .check(z.maxLength(challengesPerDomain)),
      [],
    ),
  }),
  bytesMax: 6000,
  keys: ['host', 'token', 'answer'],
  key: document => `a:${document.host}`,
  empty: document => document.tokens.length === 0,
});
