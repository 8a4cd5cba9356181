/** Certificates that an authority makes for domains by itself (§3 Certificate, type auto SSL; §4), as the operator sees them all. */
import { calls } from '../kit/call.ts';
import { id, ids, int, list, nullable, obj, one, page, record, text, time } from '../kit/schema.ts';
import { taskOf } from '../kit/task.ts';
import { acmeProviders, acmeWays } from '../limits.ts';
import { certificateStates } from '../states.ts';

export const AutoCertificate = obj({
  ...record,
  domainID: id(),
  domainName: text(253),
  siteID: id(),
  siteName: text(64),
  provider: one(acmeProviders),
  /** how its name is proven: wildcards by DNS alone, others by DNS where HTTP did not do */
  way: one(acmeWays),
  /** of the last try: pending, processing, success or fail */
  state: one(certificateStates),
  /** tries in a row that ended without a certificate */
  attempts: int(),
  /** what was said the last time; '': nothing was wrong */
  error: text(500),
  /** when it is tried again, or renewed; null: at once */
  nextAt: nullable(time()),
  /** what it shows until then; null: nothing yet */
  certificateID: nullable(id()),
  notAfter: nullable(time()),
  /** domains that show it */
  inUse: int(),
});

export const autoCertificates = calls(
  { base: '/client', areas: ['client'], resource: 'certificates', ofSites: true },
  {
    'GET /autoCertificates': { query: list({}), answer: page(AutoCertificate) },
    /** Ordered anew now, however long they are still good. */
    'POST /autoCertificates/renew': { body: obj({ ids: ids() }), errors: ['multiple'] },
  },
);

/**
 * Whether ZeroSSL takes the credentials that are set, asked with a key made for this alone. What lies between the house and ZeroSSL is
 * `selfCheck`, what ZeroSSL says against it `supplier`, and what nobody can read `supplierUnknown`; `extra` says it in words.
 */
export const zeroSSLTrial = calls(
  { base: '/client/setting/system', areas: ['client'], resource: 'zeroSSL' },
  {
    'POST /zeroSSL/test': {
      permission: 'zeroSSL.edit',
      audit: false,
      licence: false,
      errors: ['selfCheck', 'supplier', 'supplierUnknown'],
    },
  },
);

/** Orders for domains of one site, all of which go on side by side. */
export const autoSSL = taskOf({
  name: 'autoSSL',
  resource: 'certificates',
  of: 'site',
  input: obj({ siteID: id(), provider: one(acmeProviders), domainIDs: ids() }),
  about: ['count'],
  says: {
    /** why it has another: its authority wants it renewed in that time, its age, or somebody asked for it */
    renewsSuggested: ['host', 'from', 'until'],
    renewsAged: ['host', 'until'],
    renewsAsked: ['host'],
    ordered: ['host'],
    spread: ['host', 'nodes'],
    spreadPartly: ['host', 'nodes', 'total'],
    validated: ['host'],
    /** HTTP did not prove the name, a DNS account of the site may */
    byDNS: ['host', 'why'],
    recordPut: ['host', 'name', 'zone'],
    recordSeen: ['host'],
    /** the provider is down, or wants to be left alone */
    recordLater: ['host', 'why', 'seconds'],
    recordGone: ['host'],
    /** it goes on being tried, beside the task */
    recordLeft: ['host', 'why'],
    issued: ['host', 'until'],
    notIssued: ['host', 'why', 'minutes'],
    notTaken: ['host', 'minutes'],
    limited: ['count', 'minutes'],
    /** the first could not or would not; the operator is at both */
    otherAuthority: ['host', 'why', 'authority'],
  },
});
