/**
 * A self-signed certificate (X.509 v3, P-256, ECDSA with SHA-256; RFC 5280) for names that no real certificate covers.
 * Written here because Node makes keys and signatures but no certificates, and one fixed shape of DER is short.
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const der = (tag: number, ...parts: Uint8Array[]) => {
  const body = Buffer.concat(parts);
  const size =
    body.length < 128 ? [body.length] : body.length < 256 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
};
const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
/** Given as the bytes of its content */
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
const time = (date: Date) => der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));

/** PEM texts. `name` becomes common name and alternative name. */
export function selfSigned(name: string, years = 10, now = new Date()): { certificate: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const until = new Date(now);
  until.setUTCFullYear(until.getUTCFullYear() + years);
  const subject = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));
  const serial = randomBytes(16);
  serial[0] = (serial[0]! & 0x7f) | 0x40; // positive, and no leading zero byte
  const names = sequence(oid('551d11'), der(0x04, sequence(der(0x82, Buffer.from(name)))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ecdsaWithSha256,
    subject,
    sequence(time(now), time(until)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(names)),
  );
  const certificate = sequence(body, ecdsaWithSha256, der(0x03, Buffer.from([0]), sign('sha256', body, privateKey)));
  const lines = certificate.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
