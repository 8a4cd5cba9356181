/** Name servers that have copies of an operator's CNAME zones, of the embedded name server's: told of each change (NOTIFY), they fetch them (AXFR, IXFR). */
import { calls } from '../kit/call.ts';
import { arr, id, ids, int, list, obj, one, opt, page, partial, record, str, text } from '../kit/schema.ts';
import { secret, told } from '../kit/secret.ts';
import { tsigAlgorithms } from '../limits.ts';
import * as rules from '../rules.ts';

const fields = {
  address: str(45).check(rules.zodRule(rules.ipAddress)),
  port: int(1, 65_535),
  /** of the TSIG key that both sides have; nobody else's */
  keyName: str(253).check(rules.zodRule(rules.tsigKeyName)),
  algorithm: one(tsigAlgorithms),
  /** base64 */
  credentials: secret(1000, rules.zodRule(rules.tsigSecret)),
  memo: text(255),
};
export const DnsSecondary = obj({ ...record, ...told(fields) });

export const dnsSecondaries = calls(
  { base: '/client/setting/dns', resource: 'dnsSetting' },
  {
    'GET /secondaries': { query: list({}), answer: page(DnsSecondary) },
    'POST /secondary': {
      body: obj({ ...fields, port: opt(fields.port), algorithm: opt(fields.algorithm), memo: opt(fields.memo) }),
      answer: obj({ ids: arr(id()) }),
      errors: ['duplicated'],
    },
    'PUT /secondary': { body: obj({ id: id(), ...partial(fields) }), errors: ['duplicated'] },
    'DELETE /secondary': { body: obj({ ids: ids() }), errors: ['multiple'] },
  },
);
