/**
 * What somebody uploads as a certificate → what nodes show: put in order, judged, and refused with the reason where browsers or nodes would
 * refuse it. Pure.
 */
import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { certificateBytesMax, issuersMax } from '#contract/edge/kinds/certificate.ts';
import { type FieldError, failFields } from '#contract/errors.ts';
import { certificateLimits, type keyTypes } from '#contract/limits.ts';
import { isDear, isWholeKey } from './key-numbers.ts';

export interface Pair {
  names: string[];
  issuer: string;
  serial: string;
  /** SHA-256, hex */
  fingerprint: string;
  keyType: (typeof keyTypes)[number];
  keyBits: number;
  notBefore: Date;
  notAfter: Date;
  /** it ends below an authority that browsers know, or one that was given along */
  isWhole: boolean;
  /** DER in base64 */
  leaf: string;
  issuers: { hash: string; der: string }[];
  /** DER in base64: SEC 1 or PKCS #1 */
  privateKey: string;
}

const wrong = (path: 'certificate' | 'privateKey', rule: FieldError['rule'], bounds?: FieldError['bounds']) =>
  failFields([{ path, rule, ...(bounds ? { bounds } : {}) }]);

const blocks = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]*-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

function readable<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw wrong('certificate', 'certificateUnreadable');
  }
}

function weak(path: 'certificate' | 'privateKey', { asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject) {
  const { rsaBitsMin: min, rsaBitsMax: max } = certificateLimits;
  const { namedCurve, modulusLength } = details;
  const key = type === 'ec' ? `EC ${namedCurve}` : [type?.toUpperCase(), modulusLength].filter(Boolean).join(' ');
  return wrong(path, 'keyWeak', { key, min, max });
}

/** Each certificate of a text once. @throws what is wrong with it */
function certificatesIn(text: string): X509Certificate[] {
  const found = new Map<string, X509Certificate>();
  for (const [block] of text.matchAll(blocks)) {
    if (found.size >= certificateLimits.chainMax) throw wrong('certificate', 'tooMany', { n: certificateLimits.chainMax });
    const one = readable(() => new X509Certificate(block));
    if (one.raw.length > certificateBytesMax) throw wrong('certificate', 'tooBig', { max: certificateBytesMax });
    // of a kind that OpenSSL knows; before anything is asked whether it signed something, which takes as long as its numbers are
    const of = readable(() => one.publicKey);
    if (isDear(of)) throw weak('certificate', of);
    found.set(one.fingerprint256, one);
  }
  if (!found.size) throw wrong('certificate', 'certificateUnreadable');
  return [...found.values()];
}

function keyIn(text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    // OpenSSL's words would be about the key itself
    const isLocked = /^-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/m.test(text);
    throw wrong('privateKey', isLocked ? 'keyLocked' : 'keyUnreadable');
  }
}

const curves: Record<string, number> = { prime256v1: 256, secp384r1: 384, secp521r1: 521 };

/** @throws where it is of a kind that browsers do not take, or that breaks too easily, or costs a node too much */
function judgeKey(key: KeyObject): Pick<Pair, 'keyType' | 'keyBits'> {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = key;
  const { rsaBitsMin, rsaBitsMax } = certificateLimits;
  const bits = type === 'ec' ? curves[details.namedCurve ?? ''] : details.modulusLength;
  if (type === 'ec' && bits !== undefined) return { keyType: 'ec', keyBits: bits };
  if (type === 'rsa' && bits !== undefined && bits >= rsaBitsMin && bits <= rsaBitsMax) return { keyType: 'rsa', keyBits: bits };
  throw weak('privateKey', key);
}

const isSelfSigned = (one: X509Certificate) => one.subject === one.issuer && one.verify(one.publicKey);
/** By subject: what this program's OpenSSL trusts is what browsers trust, near enough for a hint. */
let rootSubjects: Set<string> | undefined;
const isKnownRoot = (subject: string) =>
  (rootSubjects ??= new Set(rootCertificates.map(pem => new X509Certificate(pem).subject))).has(subject);

/** From the leaf upwards without the root; whoever is no part of it is left out. */
function chainOf(leaf: X509Certificate, others: readonly X509Certificate[]): { above: X509Certificate[]; isWhole: boolean } {
  const above: X509Certificate[] = [];
  const left = new Set(others.filter(one => one !== leaf));
  for (let last = leaf; ;) {
    if (isSelfSigned(last)) return { above: above.filter(one => one !== last), isWhole: true };
    const next = [...left].find(one => last.checkIssued(one) && last.verify(one.publicKey));
    // each is taken once, so those that signed each other end too
    if (!next || above.length > issuersMax) return { above: above.slice(0, issuersMax), isWhole: isKnownRoot(last.issuer) };
    left.delete(next);
    above.push(next);
    last = next;
  }
}

/** DNS names, lower case. Node quotes what could be read in two ways; such a name is none. */
function namesOf(one: X509Certificate): string[] {
  const names = (one.subjectAltName ?? '')
    .split(', ')
    .map(entry => /^DNS:((?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)$/i.exec(entry)?.[1]?.toLowerCase())
    .filter((name): name is string => name !== undefined && name.length <= 253);
  return [...new Set(names)];
}

/** `CN=…` of a subject, else the organisation, else all of it. */
function nameOf(subject: string): string {
  const named = (key: string) =>
    subject
      .split('\n')
      .find(line => line.startsWith(`${key}=`))
      ?.slice(key.length + 1);
  return (named('CN') ?? named('O') ?? subject.replaceAll('\n', ', ')).slice(0, 255);
}

const weakSignatures = /^(md[245]|sha-?1)|with(md[245]|sha-?1)\b|sha1$/i;

/**
 * @param privateKey PEM, or the DER in base64 that an earlier upload left
 * @param earlyMs how far ahead of our clock the day may lie on which it begins
 * @throws Fail parameter with the field and the reason; nothing of the key is in it
 */
export function readPair(certificate: string, privateKey: string | KeyObject, now = new Date(), earlyMs = 0): Pair {
  const all = certificatesIn(certificate);
  const key = typeof privateKey === 'string' ? keyIn(privateKey) : privateKey;
  const { keyType, keyBits } = judgeKey(key);
  const leaf = all.find(one => one.checkPrivateKey(key));
  if (!leaf) throw wrong('privateKey', 'keyMismatch');
  if (!isWholeKey(key)) throw wrong('privateKey', 'keyUnreadable');
  const [notBefore, notAfter] = [leaf.validFromDate, leaf.validToDate];
  if (Number.isNaN(notBefore.valueOf()) || Number.isNaN(notAfter.valueOf())) throw wrong('certificate', 'certificateUnreadable');
  if (!(notAfter > now)) throw wrong('certificate', 'certificateExpired', { date: dayOf(notAfter) });
  if (!(notBefore.valueOf() <= now.valueOf() + earlyMs))
    throw wrong('certificate', 'certificateEarly', { date: dayOf(notBefore) });
  if (weakSignatures.test(leaf.signatureAlgorithm ?? ''))
    throw wrong('certificate', 'signatureWeak', { name: leaf.signatureAlgorithm! });
  const names = namesOf(leaf);
  if (!names.length) throw wrong('certificate', 'certificateNameless');
  if (names.length > certificateLimits.namesMax) throw wrong('certificate', 'tooMany', { n: certificateLimits.namesMax });
  const { above, isWhole } = chainOf(leaf, all);
  return {
    names,
    issuer: nameOf(leaf.issuer),
    serial: leaf.serialNumber.slice(0, 100),
    fingerprint: leaf.fingerprint256.replaceAll(':', '').toLowerCase(),
    keyType,
    keyBits,
    notBefore,
    notAfter,
    isWhole,
    leaf: leaf.raw.toString('base64'),
    issuers: above.map(one => ({ hash: createHash('sha256').update(one.raw).digest('hex'), der: one.raw.toString('base64') })),
    privateKey: derOf(key, keyType).toString('base64'),
  };
}

const dayOf = (date: Date) => date.toISOString().slice(0, 10);
const derOf = (key: KeyObject, type: Pair['keyType']): Buffer =>
  type === 'rsa' ? key.export({ format: 'der', type: 'pkcs1' }) : key.export({ format: 'der', type: 'sec1' });
/** The key that an earlier upload left. */
export const keyOfDer = (base64: string, type: Pair['keyType']): KeyObject =>
  createPrivateKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: type === 'rsa' ? 'pkcs1' : 'sec1' });

/** Whether visitors of this host, or of `*.parent`, find themselves among the names (RFC 6125: a wildcard stands for one label). */
export function covers(names: readonly string[], host: string): boolean {
  if (names.includes(host)) return true;
  return !host.startsWith('*.') && names.includes(`*${host.slice(host.indexOf('.'))}`);
}
