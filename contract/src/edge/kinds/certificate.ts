import * as z from 'zod/mini';
import { head, id, kind, text } from './kind.ts';

/** bytes of one certificate of a chain, DER; 500 names of 60 characters fit */
export const certificateBytesMax = 48_000;
/** bytes of an answer of OCSP, DER */
export const ocspBytesMax = 16_000;
/** certificates above the leaf */
export const issuersMax = 5;

/** DER in base64 */
const der = (bytesMax: number) =>
  text(Math.ceil(bytesMax / 3) * 4).check(
    z.minLength(4),
    z.regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/),
  );
const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));

/**
 * `cfg.<zone>.certificate.<id>` → record `c:<id>`, and `i:<hash>` for each certificate above the leaf: many share those, and nginx holds each
 * once. Domains name a certificate by its id. The key is sealed: in the rows with the installation's key, on the bus with the zone's
 * (edge/zone-box.ts), in nginx's memory not at all.
 */
export const certificate = kind({
  name: 'certificate',
  on: 'certificate',
  schema: z.object({
    ...head,
    site: id,
    leaf: der(certificateBytesMax),
    /** from the leaf upwards, without the root; `hash`: SHA-256 of the DER, hex */
    issuers: z._default(z.array(z.object({ hash: sha256, der: der(certificateBytesMax) })).check(z.maxLength(issuersMax)), []),
    /** what kind of key it is: its DER is SEC 1's or PKCS #1's, which OpenSSL reads without looking for a decoder */
    type: z.enum(['ec', 'rsa']),
    key: text(12_000).check(z.minLength(1)),
    /** what its authority says of it (RFC 6960), shown in handshakes until then: seconds since 1970 */
    ocsp: z.optional(z.object({ answer: der(ocspBytesMax), until: z.int().check(z.minimum(0)) })),
  }),
  bytesMax: 432_000,
  keys: ['site', 'leaf', 'hash', 'der', 'type', 'key', 'ocsp', 'answer', 'until'],
  key: document => `c:${document.id}`,
  more: document => document.issuers.map(({ hash }) => `i:${hash}`),
});
