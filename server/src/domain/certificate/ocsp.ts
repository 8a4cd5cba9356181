/**
 * What is asked of an authority about one of its certificates, and what may be believed of its answer (OCSP, RFC 6960). Pure. Only what says
 * "good", of that certificate, signed by its authority or by whom it names for that, and good now, is ever shown to visitors.
 */
import { createHash, verify, X509Certificate } from 'node:crypto';
import { der, sequence } from '#host/der.ts';
import { inside, type Value, valuesOf } from '#host/der-read.ts';

/**
 * An answer is some 500 bytes, with the certificate of a responder two thousand. Whoever has an authority of his own could have much more
 * kept on nodes, beside certificates that are weighed.
 */
export const answerMax = 4000;

/** Where an authority answers; undefined: it offers nothing of the kind. */
export const responderOf = ({ infoAccess }: X509Certificate): string | undefined =>
  /^OCSP - URI:(https?:\/\/[!-~]{1,1000})$/m.exec(infoAccess ?? '')?.[1];

const sha1 = (bytes: Buffer) => createHash('sha1').update(bytes).digest();
/** 1.3.14.3.2.26: what every responder knows; nothing hangs on its strength here */
const sha1Algorithm = sequence(Buffer.from('06052b0e03021a0500', 'hex'));
const text = (bytes: Buffer) => der(0x04, bytes);

/** Fields of a certificate after its version: serial, signature, issuer, validity, subject, key. */
function fieldsOf({ raw }: X509Certificate): Value[] {
  const fields = valuesOf(inside(raw)[0]?.body ?? Buffer.alloc(0));
  return fields[0]?.tag === 0xa0 ? fields.slice(1) : fields;
}
const bitsOf = (value: Value | undefined) => value?.body.subarray(1) ?? Buffer.alloc(0);

interface Named {
  serial: Buffer;
  name: Buffer;
  key: Buffer;
}
function named(leaf: X509Certificate, issuer: X509Certificate): Named {
  const [serial] = fieldsOf(leaf);
  const [, , , , subject, key] = fieldsOf(issuer);
  return { serial: serial!.body, name: sha1(subject!.whole), key: sha1(bitsOf(valuesOf(key!.body)[1])) };
}

/** The question. */
export function questionOf(leaf: X509Certificate, issuer: X509Certificate): Buffer {
  const { serial, name, key } = named(leaf, issuer);
  return sequence(sequence(sequence(sequence(sequence(sha1Algorithm, text(name), text(key), der(0x02, serial))))));
}

const digests: Record<string, string> = {
  '2a864886f70d01010b': 'sha256',
  '2a864886f70d01010c': 'sha384',
  '2a864886f70d01010d': 'sha512',
  '2a8648ce3d040302': 'sha256',
  '2a8648ce3d040303': 'sha384',
  '2a8648ce3d040304': 'sha512',
};
const ocspSigning = '1.3.6.1.5.5.7.3.9';

export type Said =
  | { state: 'good'; until: Date; askAgain: Date }
  /** the authority says so itself: nothing mends that but another certificate */
  | { state: 'revoked' }
  | { state: 'wrong'; why: string };
const wrong = (why: string): Said => ({ state: 'wrong', why });

const timeOf = (value: Value | undefined): Date => {
  const [, y, m, d, h, min, s] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(value?.body.toString('latin1') ?? '') ?? [];
  return new Date(`${y}-${m}-${d}T${h}:${min}:${s}Z`);
};
/** Clocks differ. */
const skewMs = 300_000;

/** Who may sign it: the authority, or whom it gave a certificate for that. */
function signersOf(issuer: X509Certificate, given: Value | undefined, now: Date): X509Certificate[] {
  const others = given ? inside(given.body).slice(0, 3) : [];
  const named = others.flatMap(({ whole }) => {
    const one = new X509Certificate(whole);
    const isGood =
      one.checkIssued(issuer) &&
      one.verify(issuer.publicKey) &&
      (one.keyUsage ?? []).includes(ocspSigning) &&
      one.validFromDate <= now &&
      one.validToDate > now;
    return isGood ? [one] : [];
  });
  return [issuer, ...named];
}

/** 1.3.6.1.5.5.7.48.1.1 */
const basic = Buffer.from('2b0601050507300101', 'hex');
/** What the one value holds that there is. @throws RangeError where it is another, or not alone */
function only(bytes: Buffer, tag: number): Buffer {
  const [one, ...others] = valuesOf(bytes);
  if (one?.tag !== tag || others.length) throw new RangeError('another value of DER was meant to be there');
  return one.body;
}

/** What an answer says of the certificate. @returns why it is not believed, where it is not */
export function judge(answer: Buffer, leaf: X509Certificate, issuer: X509Certificate, now = new Date()): Said {
  try {
    if (answer.length > answerMax) return wrong('the answer is too long');
    const [status, bytes] = valuesOf(only(answer, 0x30));
    if (status?.tag !== 0x0a || status.body[0] !== 0)
      return wrong(`the responder answers ${status?.body[0] ?? 'nothing'} (RFC 6960, 4.2.1)`);
    if (bytes?.tag !== 0xa0) return wrong('it holds no answer');
    // what is around what is signed goes to visitors too
    const [type, text] = valuesOf(only(bytes.body, 0x30));
    if (type?.tag !== 0x06 || !type.body.equals(basic) || text?.tag !== 0x04)
      return wrong('the answer is of a kind that is not known here');
    const [data, algorithm, signature, given] = valuesOf(only(text.body, 0x30));
    if (data?.tag !== 0x30 || algorithm?.tag !== 0x30 || signature?.tag !== 0x03 || signature.body[0] !== 0)
      return wrong('the answer cannot be read');
    const digest = digests[valuesOf(algorithm?.body ?? Buffer.alloc(0))[0]?.body.toString('hex') ?? ''];
    if (!digest) return wrong('it is signed in a way that is not known here');
    const isSigned = signersOf(issuer, given, now).some(({ publicKey }) =>
      verify(digest, data.whole, publicKey, bitsOf(signature)),
    );
    if (!isSigned) return wrong('the signature is not that of the authority');
    const responses = valuesOf(data.body).find(({ tag }) => tag === 0x30);
    const { serial, name, key } = named(leaf, issuer);
    for (const response of valuesOf(responses?.body ?? Buffer.alloc(0))) {
      const [id, state, from, next] = valuesOf(response.body);
      const [, ofName, ofKey, number] = valuesOf(id?.body ?? Buffer.alloc(0));
      if (!ofName?.body.equals(name) || !ofKey?.body.equals(key) || !number?.body.equals(serial)) continue;
      const [thisUpdate, until] = [timeOf(from), next?.tag === 0xa0 ? timeOf(valuesOf(next.body)[0]) : new Date(Number.NaN)];
      if (state?.tag === 0xa1) return { state: 'revoked' };
      if (state?.tag !== 0x80) return wrong('the authority does not know the certificate');
      if (!(thisUpdate.valueOf() <= now.valueOf() + skewMs)) return wrong('the answer is of a time to come');
      if (!(until > now)) return wrong('the answer is over, or does not say until when it is good');
      return { state: 'good', until, askAgain: new Date((Math.max(thisUpdate.valueOf(), now.valueOf()) + until.valueOf()) / 2) };
    }
    return wrong('the answer is about another certificate');
  } catch (error) {
    return wrong(`the answer cannot be read (${(error as Error).message.slice(0, 100)})`);
  }
}
