/** Error pages (§9): what the edge answers instead of its own page of a status. A site's come before the operator's. */
import { errorPageContentMax } from '../edge/kinds/errorPages.ts';
import { calls } from '../kit/call.ts';
import { id, ids, list as listOf, obj, one, oneOf, page, partial, record, text } from '../kit/schema.ts';
import { errorPageStatuses, errorPageTypes, siteErrorPageStatuses } from '../limits.ts';
import * as rules from '../rules.ts';

/** stands in a page for the number of the request, as X-Request-Id and the log have it */
export const errorPageRequestID = '{{requestID}}';
/** of an operator's pages together, as JSON: what a zone's document has room for */
export const systemErrorPagesBytesMax = 100_000;

export const errorPageFields = {
  code: oneOf(errorPageStatuses),
  type: one(errorPageTypes),
  /** content: HTML; urlRedirect: the address; javascript: a script. `{{requestID}}` stands for the request's number. */
  content: text(errorPageContentMax),
};
/** One page, whole. */
export const errorPageBody = obj(errorPageFields).check(rules.zodRule(rules.errorPage));

const ofSite = { ...errorPageFields, code: oneOf(siteErrorPageStatuses) };
const list = {
  // a site may have a page for 903 from an earlier release
  'GET /errorPages': { query: listOf({}), answer: page(obj({ ...record, ...errorPageFields })) },
} as const;
const removal = { body: obj({ ids: ids(errorPageStatuses.length) }), errors: ['multiple'] } as const;

export const errorPages = calls(
  { base: '/{area}/site/{siteID}', areas: ['user', 'client'], resource: 'errorPages' },
  {
    ...list,
    'POST /errorPage': { body: obj(ofSite).check(rules.zodRule(rules.errorPage)), answer: obj({ ids: ids(1) }) },
    'PUT /errorPage': { body: obj({ id: id(), ...partial(ofSite) }) },
    'DELETE /errorPages': removal,
  },
);
/** Of the operator: they hold on every site of its zones, and for hosts that nobody knows (903). */
export const systemErrorPages = calls(
  { base: '/client/setting', areas: ['client'], resource: 'systemErrorPages' },
  {
    ...list,
    'POST /errorPage': { body: errorPageBody, answer: obj({ ids: ids(1) }) },
    'PUT /errorPage': { body: obj({ id: id(), ...partial(errorPageFields) }) },
    'DELETE /errorPage': removal,
  },
);
