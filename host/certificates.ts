/**
 * Certificates of our own (X.509 v3, P-256, ECDSA with SHA-256; RFC 5280): for names that no real certificate covers, and the authority
 * by which the machines of an installation know each other. Written here because Node makes keys and signatures but no certificates,
 * and two fixed shapes of DER are short.
 */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { alternativeNames, der, ecdsaWithSha256, oid, sequence } from './der.ts';

export interface Pair {
  /** PEM */
  certificate: string;
  /** PEM, PKCS #8: a secret */
  key: string;
}

/** Up to 2049 in two digits of the year, as RFC 5280 (4.1.2.5) wants it. */
function time(date: Date): Buffer {
  const text = `${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
  return date.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text));
}
const nameOf = (name: string) => sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));
const isTrue = der(0x01, Buffer.from([0xff]));
const extension = (id: string, value: Buffer, isCritical = false) =>
  sequence(oid(id), ...(isCritical ? [isTrue] : []), der(0x04, value));
const bits = (unused: number, byte: number) => der(0x03, Buffer.from([unused, byte]));
const spkiOf = (key: KeyObject) => key.export({ type: 'spki', format: 'der' });
/** Of the bits of the key, without what says of which kind it is (4.2.1.2): for P-256 the last 65 bytes. */
const keyIdentifier = (key: KeyObject) => createHash('sha1').update(spkiOf(key).subarray(-65)).digest();

interface Body {
  subject: string;
  publicKey: KeyObject;
  issuer: string;
  /** private */
  signer: KeyObject;
  from: Date;
  until: Date;
  extensions: readonly Buffer[];
}
function written({ subject, publicKey, issuer, signer, from, until, extensions }: Body): string {
  const serial = randomBytes(16);
  serial[0] = (serial[0]! & 0x7f) | 0x40; // positive, and no leading zero byte
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ecdsaWithSha256,
    nameOf(issuer),
    sequence(time(from), time(until)),
    nameOf(subject),
    spkiOf(publicKey),
    der(0xa3, sequence(...extensions)),
  );
  const certificate = sequence(body, ecdsaWithSha256, der(0x03, Buffer.from([0]), sign('sha256', body, signer)));
  const lines = certificate.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}
const keyPair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
function inYears(now: Date, years: number): Date {
  const until = new Date(now);
  until.setUTCFullYear(until.getUTCFullYear() + years);
  return until;
}
/** A machine whose clock is behind takes it too. */
const yesterday = (now: Date) => new Date(now.getTime() - 86_400_000);

/** PEM texts. `name` becomes common name and alternative name. */
export function selfSigned(name: string, years = 10, now = new Date()): Pair {
  const { publicKey, privateKey } = keyPair();
  const extensions = [alternativeNames([name])];
  const until = inYears(now, years);
  const certificate = written({
    subject: name,
    publicKey,
    issuer: name,
    signer: privateKey,
    from: now,
    until,
    extensions,
  });
  return { certificate, key: pem(privateKey) };
}

/** The certificate (PEM) of an authority that signs leaves and no further authority. @param key its private key */
export function makeAuthority(name: string, key: KeyObject, years = 30, now = new Date()): string {
  const publicKey = createPublicKey(key);
  const extensions = [
    extension('551d13', sequence(isTrue, der(0x02, Buffer.from([0]))), true), // basicConstraints: CA, no authority below
    extension('551d0f', bits(1, 0b0000_0110), true), // keyUsage: keyCertSign, cRLSign
    extension('551d0e', der(0x04, keyIdentifier(publicKey))),
  ];
  return written({
    subject: name,
    publicKey,
    issuer: name,
    signer: key,
    from: yesterday(now),
    until: inYears(now, years),
    extensions,
  });
}

/** What a certificate below an authority of ours may be used for. */
const serverAuth = oid('2b06010505070301');
const clientAuth = oid('2b06010505070302');

/** A certificate that signs nothing. @param authority whose subject has a common name alone, as `makeAuthority` writes it */
function leaf(
  authority: X509Certificate,
  names: readonly string[],
  uses: readonly Buffer[],
  { publicKey, ...body }: Omit<Body, 'issuer' | 'extensions'>,
): string {
  return written({
    ...body,
    publicKey,
    issuer: authority.subject.replace(/^CN=/, ''),
    extensions: [
      extension('551d13', sequence(), true),
      extension('551d0f', bits(7, 0b1000_0000), true), // digitalSignature
      extension('551d25', sequence(...uses)),
      extension('551d0e', der(0x04, keyIdentifier(publicKey))),
      extension('551d23', sequence(der(0x80, keyIdentifier(authority.publicKey)))),
      alternativeNames(names),
    ],
  });
}

/**
 * A server's certificate.
 * @param authority whose subject has a common name alone, as `makeAuthority` writes it
 * @param signer the authority's private key
 * @param publicKey of the server
 * @param names names and addresses of hosts
 * @param isClient servers of a cluster show it to each other as clients too
 */
export function issue(
  authority: X509Certificate,
  signer: KeyObject,
  publicKey: KeyObject,
  names: readonly string[],
  years = 10,
  now = new Date(),
  isClient = false,
): string {
  const uses = [serverAuth, ...(isClient ? [clientAuth] : [])];
  return leaf(authority, names, uses, {
    subject: 'Breakwater',
    publicKey,
    signer,
    from: yesterday(now),
    until: inYears(now, years),
  });
}

/** A certificate by which machines know each other, each as server and as client. @param name common name and alternative name */
export const issueMember = (
  authority: X509Certificate,
  signer: KeyObject,
  publicKey: KeyObject,
  name: string,
  until: Date,
  now = new Date(),
): string => leaf(authority, [name], [serverAuth, clientAuth], { subject: name, publicKey, signer, from: yesterday(now), until });

/** A new private key of P-256, PEM. */
export const newKey = (): string => pem(keyPair().privateKey);

/** What `curl --pinnedpubkey` takes: the hash of the public key of the first certificate in a PEM text. */
export function pinOf(certificate: string): string {
  const { publicKey } = new X509Certificate(certificate);
  return `sha256//${createHash('sha256').update(spkiOf(publicKey)).digest('base64')}`;
}
