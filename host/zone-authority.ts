/**
 * The authority of a zone: below it every node of the zone has a certificate, by which edges and relays know each other. Its key follows
 * from the installation's, so it is kept nowhere, and a node of another zone has a certificate of another authority.
 */
import { createECDH, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, X509Certificate } from 'node:crypto';
import { issueMember, makeAuthority } from './certificates.ts';

export interface ZoneAuthority {
  /** PEM */
  certificate: string;
  parsed: X509Certificate;
  key: KeyObject;
}

/** Any 40 bytes, taken modulo the order of P-256, are a key as random as they are (FIPS 186-5, A.2.1). */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

function keyOf(secret: Uint8Array, zoneID: number): KeyObject {
  const bytes = Buffer.from(hkdfSync('sha256', secret, '', `breakwater:zone-authority:${zoneID}`, 40));
  const number = (BigInt(`0x${bytes.toString('hex')}`) % (order - 1n)) + 1n;
  const d = Buffer.from(number.toString(16).padStart(64, '0'), 'hex');
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(d);
  const point = curve.getPublicKey();
  const text = (part: Buffer) => part.toString('base64url');
  const jwk = { kty: 'EC', crv: 'P-256', d: text(d), x: text(point.subarray(1, 33)), y: text(point.subarray(33)) };
  return createPrivateKey({ key: jwk, format: 'jwk' });
}

/** The same key whenever it is made; the certificate is signed anew each time, and any of them vouches for what the key has signed. */
export function zoneAuthority(secret: Uint8Array, zoneID: number, now = new Date()): ZoneAuthority {
  const key = keyOf(secret, zoneID);
  const certificate = makeAuthority(`Breakwater zone ${zoneID}`, key, 10, now);
  return { certificate, parsed: new X509Certificate(certificate), key };
}

/** The name that a node's certificate has; edge/lua/core/relays.lua spells it too. */
export const memberName = (nodeID: number, zoneID: number): string => `node-${nodeID}.zone-${zoneID}`;

/** @param publicKey DER, SPKI. @throws where it is no key of P-256 */
export function memberCertificate(
  authority: ZoneAuthority,
  { nodeID, zoneID, publicKey, until }: { nodeID: number; zoneID: number; publicKey: Buffer; until: Date },
  now = new Date(),
): string {
  const key = createPublicKey({ key: publicKey, format: 'der', type: 'spki' });
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new TypeError('a key of P-256 is wanted');
  return issueMember(authority.parsed, authority.key, key, memberName(nodeID, zoneID), until, now);
}
