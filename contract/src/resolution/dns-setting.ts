/** Who answers for the names of an operator, and what of its changes has not arrived there yet (§7 System, setting/dns; decisions). */
import * as z from 'zod/mini';
import { calls } from '../kit/call.ts';
import { arr, bool, id, ids, int, list, nullable, obj, one, opt, page, partial, record, text, time } from '../kit/schema.ts';
import { secret, told } from '../kit/secret.ts';
import { tsigAlgorithms } from '../limits.ts';
import { dnsTypes } from '../limits-resolution.ts';
import * as rules from '../rules.ts';

const own = {
  /** rfc2136: the name server that takes updates, `host` or `host:port`. powerdns: where its API is, `http://host:8081`. All others: '' */
  server: text(270),
  /** rfc2136: the name of the TSIG key. dnspod: the ID of the token. route53, aliyun: the ID of the access key. */
  keyName: text(255).check(rules.zodRule(rules.dnsKeyID)),
  algorithm: one(tsigAlgorithms),
  /** rfc2136: the TSIG key in base64. powerdns: the key of its API. cloudflare, dnspod: the API token. route53, aliyun: the secret of the access key. */
  credentials: secret(1000, rules.zodRule(rules.dnsCredentials)),
  memo: text(255),
};
const fields = { driver: one(dnsTypes), ...own };
/** As POST takes it; PUT judges what the row will be by it. */
export const NewDnsSetting = obj({
  ...fields,
  server: opt(fields.server),
  keyName: opt(fields.keyName),
  algorithm: opt(fields.algorithm),
  memo: opt(fields.memo),
});
export const DnsSetting = obj({
  ...record,
  ...told(fields),
  /** CNAME zones it answers for */
  zoneCount: int(),
});
/** With where the world reaches the embedded name server: what the name `ns1` of a zone says that lists no name servers of its own. None: nothing usable is known. */
const Told = z.extend(DnsSetting, { addresses: arr(text(45), 100) });

/** Refused names that are told with why; of more the number alone. */
export const refusedNamesMost = 50;

export const dnsSettings = calls(
  { base: '/client/setting', resource: 'dnsSetting' },
  {
    'GET /dns': { query: list({}), answer: page(Told) },
    'POST /dns': {
      body: NewDnsSetting.check(rules.zodRule(rules.dnsSetting)),
      answer: obj({ ids: arr(id()) }),
      errors: ['invalidDNSSetting', 'duplicated'],
    },
    /** Who it is stays: another name server is another setting. */
    'PUT /dns': {
      body: obj({ id: id(), ...partial(own) }),
      errors: ['duplicated'],
    },
    /** One that answers for a zone stays. */
    'DELETE /dns': { body: obj({ ids: ids() }), errors: ['multiple'] },
    /** Whether it answers, and takes changes. 101006: this installation has none of the kind. 101010: it does not answer, or refuses. */
    'POST /dns/test': {
      body: obj({ id: id() }),
      answer: obj({
        ms: int(),
        zones: arr(obj({ cnameID: id(), domainName: text(253), isThere: bool() }), 1000),
      }),
      errors: ['invalidDNSSetting', 'dnsExecution'],
      permission: 'dnsSetting.edit',
      audit: false,
    },
    /** Changes that have not arrived: all of the operator's zones together. */
    'GET /dns/unprocessed': {
      answer: obj({
        size: int(),
        names: int(),
        groups: int(),
        /** of zones that cannot be reached, or of which names were refused, what was said last */
        errors: arr(
          obj({
            cnameID: id(),
            domainName: text(253),
            error: text(500),
            nextAt: nullable(time()),
            /** names that were refused, each with why: all others arrive, and these are tried again; the first of them */
            refused: arr(obj({ name: text(300), why: text(500) }), refusedNamesMost),
            /** of all */
            refusedCount: int(),
          }),
          1000,
        ),
      }),
    },
    /** Everything is compared with what stands there and mended, now; records of others are left alone. */
    'POST /dns/recovery': { body: obj({}) },
  },
);
