/**
 * Certificates of a site (§3 Certificate; §4). What is uploaded is put in order, judged and kept: its private key stands in no answer. A
 * domain shows at most one; which it may show, its names say.
 */
import * as z from 'zod/mini';
import { calls } from '../kit/call.ts';
import { arr, bool, id, ids, int, list, nullable, obj, one, opt, page, record, str, text, time } from '../kit/schema.ts';
import { confidential, secret, told } from '../kit/secret.ts';
import { certificateLimits, certificateTypes, keyTypes } from '../limits.ts';

/** Freely named: any script, one line, no control characters (decisions.md, Wire). */
const sslName = () => str(64).check(z.regex(/^[^\p{Cc}]*$/u));
const pem = {
  /** PEM: the certificate and those above it, in whatever order. Many a person pastes the key along with it, so it is written down nowhere. */
  certificate: confidential(text(certificateLimits.pemMax).check(z.minLength(1))),
  /** PEM: PKCS #8, PKCS #1 or SEC 1, without a passphrase */
  privateKey: secret(certificateLimits.keyPemMax),
};

/** `none`: its authority offers none */
export const ocspStates = ['none', 'waiting', 'stapled', 'failed', 'revoked'] as const;

export const Certificate = obj({
  ...record,
  siteID: id(),
  sslName: text(64),
  type: one(certificateTypes),
  /** who issued it on our behalf; '': it was uploaded */
  provider: text(64),
  names: arr(text(255), certificateLimits.namesMax),
  /** common name of the authority, or what else it says of itself */
  issuer: text(255),
  serial: text(100),
  /** SHA-256, hex */
  fingerprint: text(64),
  keyType: one(keyTypes),
  keyBits: int(),
  notBefore: time(),
  notAfter: time(),
  /** whole ones until then; below 0: it is over */
  daysLeft: int(-1_000_000),
  /** false: certificates between it and an authority that browsers know were not among what was uploaded */
  isWhole: bool(),
  /** whether handshakes show what its authority says of it (OCSP), until when, and why not */
  ocspState: one(ocspStates),
  ocspUntil: nullable(time()),
  ocspError: text(200),
  /** domains that show it */
  domainIDs: arr(id(), 10_000),
  ...told({ privateKey: pem.privateKey }),
});

export const certificates = calls(
  { base: '/{area}/site/{siteID}', areas: ['user', 'client'], resource: 'certificates' },
  {
    'GET /certificates': { query: list({ sslName: opt(str(255)) }), answer: page(Certificate) },
    'GET /metaCertificates': { query: obj({ keyword: opt(str()) }), answer: arr(obj({ id: id(), name: text(64) }), 100_000) },
    'POST /certificates': {
      body: obj({ sslName: sslName(), type: opt(z.literal('manual')), ...pem }),
      answer: obj({ ids: arr(id()) }),
    },
    /** With a certificate and no key, the key it has goes on; each domain that shows it must be among the new one's names (301001). */
    'PUT /certificate/{certificateID}': {
      body: obj({ sslName: opt(sslName()), certificate: opt(pem.certificate), privateKey: pem.privateKey }),
      errors: ['invalidCertificateName'],
    },
    /** These domains show it from now on; those of the site that did and are not named show none. */
    'PATCH /certificate/{certificateID}/domains': {
      partOf: 'certificate',
      body: obj({ domainIDs: arr(id(), 1000) }),
      errors: ['invalidCertificateName', 'multiple'],
    },
    /** Domains that showed one of them show none any more. */
    'DELETE /certificates': { body: obj({ ids: ids() }), errors: ['multiple'] },
  },
);
