/** API tokens (§3; decisions.md, Who may do what and Wire): a program acts as its owner, and never as more than its owner is now. */
import { areas } from '../kit/areas.ts';
import { calls } from '../kit/call.ts';
import { arr, id, ids, list, nullable, obj, opt, page, record, some, str, text, time } from '../kit/schema.ts';
import { apiTokens as limits } from '../limits.ts';
import * as rules from '../rules.ts';

const fields = {
  name: str(64).check(rules.zodRule(rules.freeName)),
  permissionKeys: some(str(64), 500),
  /** null: every site its owner sees */
  siteIDs: nullable(some(id(), limits.sitesMax)),
  /** addresses and CIDR blocks it may come from; none: from everywhere */
  networks: arr(str(64), limits.networksMax).check(rules.zodRule(rules.networks)),
  /** null: it ends when somebody ends it */
  expiredAt: nullable(time()),
};
export const ApiToken = obj({
  ...record,
  ...fields,
  accountID: id(),
  accountName: text(254),
  /** the last characters of the token: all that is ever told of it again */
  ending: text(8),
  lastUsedAt: nullable(time()),
  lastIP: nullable(text(64)),
});

export const apiTokens = calls(
  { base: '/{area}', areas, resource: 'apiTokens', auth: 'session' },
  {
    'GET /apiTokens': { query: list({ name: opt(str(64)) }), answer: page(ApiToken) },
    'POST /apiToken': {
      body: obj({
        name: fields.name,
        permissionKeys: fields.permissionKeys,
        siteIDs: opt(fields.siteIDs),
        networks: opt(fields.networks),
        expiredAt: opt(fields.expiredAt),
      }),
      /** both are told this once */
      answer: obj({ id: id(), token: text(200), refreshToken: text(200) }),
      errors: ['permissionDenied'],
    },
    'DELETE /apiTokens': { body: obj({ ids: ids() }), errors: ['multiple'] },
  },
);

/** What the calls of one area take and answer, as an OpenAPI 3.1 document (JSON). */
export const apiDoc = calls(
  { base: '/{area}', areas, resource: 'apiTokens' },
  { 'GET /apiDoc': { permission: null, as: 'text' } },
);
