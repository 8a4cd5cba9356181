/** Who answers for the names of an operator, and what of its changes has not arrived there yet (§7 System, setting/dns; decisions). */
import * as z from 'zod/mini';
import { calls } from '../kit/call.ts';
import { arr, bool, id, ids, int, list, nullable, obj, one, opt, page, record, text, time } from '../kit/schema.ts';
import { dnsTypes } from '../limits-resolution.ts';

export const DnsSetting = obj({
  ...record,
  driver: one(dnsTypes),
  memo: text(255),
  /** CNAME zones it answers for */
  zoneCount: int(),
});
/** With where the world reaches it: what the name `ns1` of a zone says that lists no name servers of its own. None: nothing usable is known. */
const Told = z.extend(DnsSetting, { addresses: arr(text(45), 100) });

export const dnsSettings = calls(
  { base: '/client/setting', resource: 'dnsSetting' },
  {
    'GET /dns': { query: list({}), answer: page(Told) },
    'POST /dns': {
      body: obj({ driver: one(dnsTypes), memo: opt(text(255)) }),
      answer: obj({ ids: arr(id()) }),
      errors: ['invalidDNSSetting', 'duplicated'],
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
        /** of zones that cannot be reached, what was said last */
        errors: arr(obj({ cnameID: id(), domainName: text(253), error: text(500), nextAt: nullable(time()) }), 1000),
      }),
    },
    /** Everything is compared with what stands there and mended, now; records of others are left alone. */
    'POST /dns/recovery': { body: obj({}) },
  },
);
