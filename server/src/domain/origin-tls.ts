/** How origins are asked over TLS: the authorities of one's own are read once, here, and go to nodes as certificates and nothing else. */
import { X509Certificate } from 'node:crypto';
import { type FieldError, failFields } from '#contract/errors.ts';
import { originCAMax, originTLS } from '#contract/edge/origin-tls.ts';
import { implementSetting } from '../kit/setting.ts';
import { isDear } from './certificate/key-numbers.ts';
import { domainTable } from './tables.ts';

const wrong = (rule: FieldError['rule'], bounds?: FieldError['bounds']) =>
  failFields([{ path: 'ca', rule, ...(bounds ? { bounds } : {}) }]);
const blocks = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]*-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;
/** A bundle of one's own has a few. */
const authoritiesMost = 10;

function read(block: string): X509Certificate {
  let found: X509Certificate | undefined;
  try {
    found = new X509Certificate(block);
    // of a kind that OpenSSL knows, and that a node can work with
    if (!isDear(found.publicKey)) return found;
  } catch {
    // told below
  }
  throw wrong('certificateUnreadable');
}

/** What a pasted text says of authorities, and nothing else of it. @throws where it has none that can be the end of a chain */
function authoritiesIn(text: string): string {
  const all = new Map<string, X509Certificate>();
  for (const [block] of text.matchAll(blocks)) {
    const one = read(block);
    all.set(one.fingerprint256, one);
    if (all.size > authoritiesMost) throw wrong('tooMany', { n: authoritiesMost });
  }
  if (!all.size) throw wrong('certificateUnreadable');
  // nginx wants a whole chain, up to one that signed itself
  if (![...all.values()].some(one => one.subject === one.issuer && one.verify(one.publicKey))) throw wrong('authorityNotRoot');
  const pem = [...all.values()].map(one => one.toString().trim()).join('\n');
  if (pem.length > originCAMax) throw wrong('tooBig', { max: originCAMax });
  return `${pem}\n`;
}

export const originTLSImplementation = implementSetting(originTLS, 'domain', domainTable, {
  before: async (_ctx, value) => {
    if (value['verify'] === 'own' || value['ca'] !== '') value['ca'] = authoritiesIn(String(value['ca']));
  },
});
