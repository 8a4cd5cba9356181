/**
 * Certificates and keys in PEM, read in the browser: whose they are, until when, in which order, and whether the key belongs to them. No
 * signature is checked here; the server does that. Pure.
 */
import { children, type Der, hexOf, oidOf, take, textOf, timeOf } from './der.ts';

export interface Certificate {
  /** The common name, else the first name it holds for. */
  subject: string;
  issuer: string;
  /** DNS names and addresses it holds for. */
  names: string[];
  from: Date;
  until: Date;
  isSelfSigned: boolean;
  /** What kind of key it is for, and the part of it that a private key has too. */
  key: PublicPart;
  pem: string;
  /** Names as they stand, for the chain. */
  subjectDer: string;
  issuerDer: string;
}
export interface PublicPart {
  kind: 'RSA' | 'EC' | 'other';
  /** undefined: this key does not say it */
  id: string | undefined;
}
export interface PrivateKey extends PublicPart {
  isEncrypted: boolean;
  pem: string;
}
export interface Bundle {
  certificates: Certificate[];
  keys: PrivateKey[];
  /** Labels of blocks that could not be read. */
  broken: string[];
}

const oids = { commonName: '2.5.4.3', san: '2.5.29.17', rsa: '1.2.840.113549.1.1.1', ec: '1.2.840.10045.2.1' } as const;
const block = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----/g;

export function readPem(text: string): Bundle {
  const found: Bundle = { certificates: [], keys: [], broken: [] };
  for (const [pem, label, body] of text.matchAll(block))
    try {
      if (/ENCRYPTED/.test(`${label}${body}`)) {
        found.keys.push({ kind: 'other', id: undefined, isEncrypted: true, pem });
        continue;
      }
      const bytes = Uint8Array.from(atob(body!.replace(/\s/g, '')), one => one.charCodeAt(0));
      if (/^(X509 |TRUSTED )?CERTIFICATE$/.test(label!)) found.certificates.push(certificate(bytes, pem));
      else if (label!.endsWith('PRIVATE KEY')) found.keys.push({ ...privateKey(label!, bytes), isEncrypted: false, pem });
    } catch {
      found.broken.push(label!);
    }
  return found;
}

function certificate(bytes: Uint8Array, pem: string): Certificate {
  const [tbs] = children(take(bytes)[0]);
  const fields = children(tbs!);
  // the version stands in front, tagged, except in certificates of version 1
  if (fields[0]!.tag === 0xa0) fields.shift();
  const [, , issuer, validity, subject, spki, ...more] = fields;
  const [from, until] = children(validity!).map(timeOf);
  const names = more.filter(one => one.tag === 0xa3).flatMap(sanOf);
  const [subjectDer, issuerDer] = [hexOf(subject!.whole), hexOf(issuer!.whole)];
  return {
    subject: commonName(subject!) ?? names[0] ?? '–',
    issuer: commonName(issuer!) ?? '–',
    names,
    from: from!,
    until: until!,
    isSelfSigned: subjectDer === issuerDer,
    key: publicPart(spki!),
    pem,
    subjectDer,
    issuerDer,
  };
}

/** The last common name, else the organisation: a root may have nothing else. */
function commonName(name: Der): string | undefined {
  const parts = children(name).flatMap(set => children(set).map(children));
  const of = (oid: string) => parts.findLast(([type]) => oidOf(type!) === oid)?.[1];
  const found = of(oids.commonName) ?? of('2.5.4.11') ?? of('2.5.4.10');
  return found && textOf(found);
}

function sanOf(extensions: Der): string[] {
  const all = children(children(extensions)[0]!).map(children);
  const value = all.find(([oid]) => oidOf(oid!) === oids.san)?.at(-1);
  if (!value) return [];
  return children(take(value.body)[0]).flatMap(({ tag, body }) => {
    if (tag === 0x82) return [new TextDecoder().decode(body)];
    if (tag !== 0x87) return [];
    if (body.length === 4) return [[...body].join('.')];
    return [hexOfPairs(body)];
  });
}
const hexOfPairs = (body: Uint8Array) =>
  Array.from({ length: body.length / 2 }, (_, index) => (body[index * 2]! * 256 + body[index * 2 + 1]!).toString(16)).join(':');

function publicPart(spki: Der): PublicPart {
  const [algorithm, bits] = children(spki);
  const kind = oidOf(children(algorithm!)[0]!);
  // a bit string begins with the number of its unused bits
  const key = bits!.body.subarray(1);
  if (kind === oids.rsa) return { kind: 'RSA', id: hexOf(children(take(key)[0])[0]!.body) };
  if (kind === oids.ec) return { kind: 'EC', id: hexOf(key) };
  return { kind: 'other', id: undefined };
}

function privateKey(label: string, bytes: Uint8Array): PublicPart {
  const whole = take(bytes)[0];
  if (label === 'RSA PRIVATE KEY') return rsaKey(whole);
  if (label === 'EC PRIVATE KEY') return ecKey(whole);
  // PKCS #8: version, algorithm, the key as one of the two
  const [, algorithm, octets] = children(whole);
  const kind = oidOf(children(algorithm!)[0]!);
  if (kind === oids.rsa) return rsaKey(take(octets!.body)[0]);
  if (kind === oids.ec) return ecKey(take(octets!.body)[0]);
  return { kind: 'other', id: undefined };
}
const rsaKey = (key: Der): PublicPart => ({ kind: 'RSA', id: hexOf(children(key)[1]!.body) });
/** The public point may be left out: then this key does not say whose it is. */
function ecKey(key: Der): PublicPart {
  const point = children(key).find(one => one.tag === 0xa1);
  return { kind: 'EC', id: point && hexOf(children(point)[0]!.body.subarray(1)) };
}

export interface Chain {
  /** From the site's own certificate to the one nobody here has issued. */
  ordered: Certificate[];
  /** They stood in another order. */
  isMended: boolean;
  /** Certificates that belong to no other here. */
  strays: Certificate[];
}

/** The site's own is the first that issued no other; each next one is the issuer of the one before. */
export function chainOf(certificates: readonly Certificate[]): Chain {
  const own =
    certificates.find(one => !certificates.some(other => other !== one && other.issuerDer === one.subjectDer)) ?? certificates[0];
  const ordered: Certificate[] = [];
  for (let next = own; next && !ordered.includes(next);) {
    const current: Certificate = next;
    ordered.push(current);
    next = certificates.find(one => one !== current && one.subjectDer === current.issuerDer);
  }
  return {
    ordered,
    isMended: ordered.some((one, index) => one !== certificates[index]),
    strays: certificates.filter(one => !ordered.includes(one)),
  };
}

/** Whether the key is the certificate's; undefined: it cannot be told from what stands here. */
export function isKeyOf(certificate: Certificate, key: PrivateKey): boolean | undefined {
  if (key.isEncrypted) return undefined;
  if (certificate.key.kind !== key.kind) return false;
  if (certificate.key.id === undefined || key.id === undefined) return undefined;
  return certificate.key.id === key.id;
}
