/** Sites, as the operator sells them and as the customer sees them (§3 Site). */
import { calls } from '../kit/call.ts';
import { arr, big, id, ids, int, list, nullable, obj, one, opt, page, record, str, text, time } from '../kit/schema.ts';
import { name } from '../node/zones.ts';
import { siteStates } from '../edge/document.ts';

export const tags = () => arr(str(64), 50);
export const Site = obj({
  ...record,
  siteName: text(64),
  tags: tags(),
  /** normal, pause, or limit (set by the system alone) */
  status: one(siteStates),
  productID: id(),
  productName: text(64),
  zoneID: id(),
  zoneName: text(64),
  userID: id(),
  userEmail: text(254),
  users: arr(id()),
  expired: nullable(time()),
  domainCount: int(),
  revision: big(),
});
const siteBody = { siteName: name(), tags: opt(tags()), expired: opt(nullable(time())) };
const siteFilters = { siteName: opt(str(64)), tags: opt(arr(str(64), 50)) };
export const MetaSite = obj({ id: id(), siteName: text(64) });

export const clientSites = calls(
  { base: '/client', resource: 'sites' },
  {
    'GET /sites': {
      query: list({ ...siteFilters, zoneID: opt(id()), productName: opt(str(64)), statuses: opt(arr(one(siteStates), 3)) }),
      answer: page(Site),
    },
    'GET /metaSites': { query: obj({ keyword: opt(str(64)) }), answer: arr(MetaSite, 100_000) },
    'GET /site/{siteID}': { answer: Site },
    'POST /site': {
      body: obj({ ...siteBody, productID: id(), userID: id() }),
      answer: obj({ ids: arr(id(), 1) }),
      errors: ['productSitesExceeded', 'duplicated'],
    },
    'PATCH /site': { body: obj({ ...siteBody, id: id(), siteName: opt(name()) }), errors: ['duplicated'] },
    'DELETE /site': { body: obj({ ids: ids() }), errors: ['siteHasLayer7Domains', 'multiple'] },
    'PATCH /site/status': {
      body: obj({ ids: ids(), status: one(['normal', 'pause']) }),
      errors: ['trafficLimited', 'multiple'],
    },
    'PUT /site/expired': { body: obj({ ids: ids(), expired: nullable(time()) }) },
    'DELETE /site/currentCache': { body: obj({ ids: ids() }) },
    'POST /site/users': { body: obj({ siteIDs: ids(), userIDs: ids() }) },
    'DELETE /site/users': { body: obj({ siteIDs: ids(), userIDs: ids() }) },
  },
);

export const userSites = calls(
  { base: '/user', resource: 'sites' },
  {
    'GET /sites': { query: list({ ...siteFilters, status: opt(one(siteStates)), productID: opt(id()) }), answer: page(Site) },
    'GET /metaSites': { query: obj({ keyword: opt(str(64)) }), answer: arr(MetaSite, 100_000) },
    'GET /site/{siteID}': { answer: Site },
    'GET /site/tags': { answer: arr(str(64), 1000) },
    'PUT /site/{siteID}/tags': { body: obj({ tags: tags() }) },
    'POST /site/users': { body: obj({ siteIDs: ids(), userIDs: ids() }) },
    'DELETE /site/users': { body: obj({ siteIDs: ids(), userIDs: ids() }) },
  },
);

export const resourceInfo = calls(
  { base: '/{area}', areas: ['user', 'client'], resource: 'sites' },
  {
    'GET /resourceInfo': {
      answer: obj({
        siteCount: int(),
        domainCount: int(),
        currentMonthTraffic: big(),
        lastMonthTraffic: big(),
        /** the operator's current month, which is not the browser's */
        monthStart: time(),
        monthEnd: time(),
      }),
    },
  },
);

/** Which nodes of the site's zone serve its last change, and how long that took. */
export const Applied = obj({
  revision: big(),
  nodes: int(),
  applied: int(),
  /** milliseconds from commit to the last node's acknowledgement; null while one is missing */
  ms: nullable(int()),
  changedAt: nullable(time()),
  perNode: arr(obj({ nodeID: id(), name: text(64), status: text(32), revision: big(), ms: nullable(int()) }), 10_000),
  /** parts of the site that could not be compiled: they keep their last good form at the edge */
  errors: arr(obj({ kind: text(16), id: id(), message: text(500) }), 100),
});
export const applied = calls(
  { base: '/{area}/site/{siteID}', areas: ['user', 'client'], resource: 'sites' },
  { 'GET /applied': { answer: Applied }, 'GET /applied/stream': { as: 'sse', answer: Applied } },
);
