/**
 * DNS accounts of a site (§7 site DNS, decisions): where a customer's names are held, and what lets us put a record there. With one, names
 * are proven to certificate authorities by DNS: wildcards alone can be no other way. What lets us in is written down nowhere but sealed.
 */
import * as z from 'zod/mini';
import { calls } from '../kit/call.ts';
import { arr, id, ids, list, obj, one, opt, page, partial, record, text } from '../kit/schema.ts';
import { secret, told } from '../kit/secret.ts';
import { dnsProviders, tsigAlgorithms } from '../limits.ts';
import * as rules from '../rules.ts';

const fields = {
  provider: one(dnsProviders),
  /** rfc2136: the name server that takes updates, `host` or `host:port`; '': the provider has one address */
  server: text(270).check(rules.zodRule(rules.dnsServer)),
  /** rfc2136: the name of the TSIG key. dnspod: the ID of the token. route53, aliyun: the ID of the access key. */
  keyName: text(255).check(z.regex(/^[A-Za-z0-9._-]*$/)),
  /** of the TSIG key */
  algorithm: one(tsigAlgorithms),
  /** rfc2136: the TSIG key in base64. cloudflare, dnspod: the API token. route53, aliyun: the secret of the access key. */
  credentials: secret(1000, rules.zodRule(rules.dnsCredentials)),
  memo: text(255),
};
export const SiteDNS = obj({ ...record, siteID: id(), ...told(fields) });
/** As POST takes it; PUT judges what the row will be by it. */
export const NewSiteDNS = obj({
  ...fields,
  server: opt(fields.server),
  keyName: opt(fields.keyName),
  algorithm: opt(fields.algorithm),
  memo: opt(fields.memo),
});

export const siteDNS = calls(
  { base: '/{area}/site/{siteID}/setting', areas: ['user', 'client'], resource: 'siteDNS' },
  {
    'GET /dns': { query: list({}), answer: page(SiteDNS) },
    'POST /dns': { body: NewSiteDNS.check(rules.zodRule(rules.dnsAccount)), answer: obj({ ids: arr(id()) }) },
    /** Another provider wants other credentials: they are sent with it. */
    'PUT /dns': { body: obj({ id: id(), ...partial(fields) }) },
    /** What it still has to take away is taken away first; then nothing is left of its credentials. */
    'DELETE /dns': { body: obj({ ids: ids() }), errors: ['multiple'] },
    /**
     * The site's domains and the zones of the account they lie in, asked of the provider now. 101006: it does not take the credentials.
     * 101010: it does not answer, or refuses.
     */
    'GET /dns/domains': {
      query: obj({ dnsID: id() }),
      answer: arr(
        obj({
          id: id(),
          domainName: text(253),
          /** '': none of the account's that answers */
          zone: text(253),
          /** why one that it has does not answer; '': it does, or there is none */
          why: text(500),
        }),
        100_000,
      ),
      errors: ['invalidDNSSetting', 'dnsExecution'],
    },
  },
);
