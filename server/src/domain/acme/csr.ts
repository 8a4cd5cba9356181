/** A request for a certificate (PKCS #10, RFC 2986) for names of hosts with an EC key of P-256: Node signs, but writes none. */
import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { alternativeNames, der, ecdsaWithSha256, oid, sequence } from '#host/der.ts';

/** 1.2.840.113549.1.9.14 */
const extensionRequest = oid('2a864886f70d01090e');

/** @returns DER */
export function signingRequest(names: readonly string[], key: KeyObject): Buffer {
  const extensions = sequence(alternativeNames(names));
  const info = sequence(
    der(0x02, Buffer.from([0])),
    // no subject: the names say whose it is
    sequence(),
    createPublicKey(key).export({ format: 'der', type: 'spki' }),
    der(0xa0, sequence(extensionRequest, der(0x31, extensions))),
  );
  return sequence(info, ecdsaWithSha256, der(0x03, Buffer.from([0]), sign('sha256', info, key)));
}
