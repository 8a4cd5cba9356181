/** Sites, as the operator sells them and as the customer sees them (§3 Site). */
import { calls } from '../kit/call.ts';
import {
  arr,
  big,
  bool,
  id,
  ids,
  int,
  list,
  map,
  nullable,
  obj,
  one,
  opt,
  page,
  record,
  str,
  tags,
  text,
  time,
} from '../kit/schema.ts';
import { portTypes } from '../limits.ts';
import { limitation } from './terms.ts';
import { siteShownStates, siteStates } from '../states.ts';
import { type DocumentKind, kindNames } from '../edge/kind-names.ts';
import * as rules from '../rules.ts';

const siteName = () => str(64).check(rules.zodRule(rules.freeName));
export const Site = obj({
  ...record,
  siteName: text(64),
  tags: tags(),
  /** normal, pause, or limit (set by the system alone) */
  status: one(siteStates),
  productID: id(),
  productName: text(64),
  portType: one(portTypes),
  zoneID: id(),
  zoneName: text(64),
  userID: id(),
  userEmail: text(254),
  users: arr(id()),
  expired: nullable(time()),
  /** its time is over: it answers 904 whatever its status is */
  isExpired: bool(),
  domainCount: int(),
  ...limitation,
  /** Its domains are served from their backup origins alone, where they have any; no origin may be changed meanwhile. */
  forceBackup: bool(),
  revision: big(),
});
const siteBody = { siteName: siteName(), tags: opt(tags()), expired: opt(nullable(time())) };
const siteFilters = { siteName: opt(str(64)), tags: opt(arr(str(64), 50)) };
export const MetaSite = obj({ id: id(), siteName: text(64) });

export const clientSites = calls(
  { base: '/client', resource: 'sites', ofSites: true },
  {
    'GET /sites': {
      query: list({
        ...siteFilters,
        zoneID: opt(id()),
        productName: opt(str(64)),
        portType: opt(one(portTypes)),
        /** as they are shown: a site whose time is over is `expired` and nothing else */
        statuses: opt(arr(one(siteShownStates), siteShownStates.length)),
      }),
      answer: page(Site),
    },
    'GET /metaSites': { query: obj({ keyword: opt(str(64)) }), answer: arr(MetaSite, 100_000) },
    'GET /site/{siteID}': { answer: Site },
    'POST /site': {
      body: obj({ ...siteBody, productID: id(), userID: id() }),
      answer: obj({ ids: arr(id(), 1) }),
      errors: ['productSitesExceeded', 'duplicated'],
    },
    'PATCH /site': { limited: 'sites', body: obj({ ...siteBody, id: id(), siteName: opt(siteName()) }), errors: ['duplicated'] },
    'DELETE /site': { body: obj({ ids: ids() }), errors: ['siteHasLayer7Domains', 'siteHasLayer4Ports', 'multiple'] },
    'PATCH /site/status': {
      body: obj({ ids: ids(), status: one(['normal', 'pause']) }),
      errors: ['trafficLimited', 'multiple'],
    },
    'PUT /site/expired': { limited: 'sites', body: obj({ ids: ids(), expired: nullable(time()) }), errors: ['multiple'] },
    'DELETE /site/currentCache': { body: obj({ ids: ids() }), errors: ['multiple'] },
    'POST /site/users': { body: obj({ siteIDs: ids(), userIDs: ids() }), errors: ['multiple'] },
    'DELETE /site/users': { body: obj({ siteIDs: ids(), userIDs: ids() }), errors: ['multiple'] },
  },
);

export const userSites = calls(
  { base: '/user', resource: 'sites', ofSites: true },
  {
    'GET /sites': {
      query: list({ ...siteFilters, status: opt(one(siteShownStates)), productID: opt(id()) }),
      answer: page(Site),
    },
    'GET /metaSites': { query: obj({ keyword: opt(str(64)) }), answer: arr(MetaSite, 100_000) },
    'GET /site/{siteID}': { answer: Site },
    'GET /site/tags': { answer: arr(str(64), 1000) },
    'PUT /site/{siteID}/tags': { limited: 'sites', body: obj({ tags: tags() }) },
    'POST /site/users': { body: obj({ siteIDs: ids(), userIDs: ids() }), errors: ['multiple'] },
    'DELETE /site/users': { body: obj({ siteIDs: ids(), userIDs: ids() }), errors: ['multiple'] },
  },
);

export const resourceInfo = calls(
  { base: '/{area}', areas: ['user', 'client'], resource: 'sites', ofSites: true },
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
        /**
         * The instant up to which this month's traffic is counted. Lines may come in between two calls: who shows the month beside a
         * chart asks the chart for `totalsFrom` `monthStart`, which one reading answers.
         */
        asOf: time(),
      }),
    },
  },
);

/** What may not be served as it was saved: a kind of document, or an origin. */
type AppliedKind = DocumentKind | 'origin';
export const appliedKinds: AppliedKind[] = [...kindNames, 'origin'];
/** `nodeRefused`: {node} does not take the document: {why}. `originRefused`: nodes do not connect to {address} port {port} of {domain}. */
export const appliedRules = ['nodeRefused', 'originRefused'] as const;

/**
 * Why a node does not serve a change. `refused`: it does not take a document of it. `offline`: nothing is heard of it, since then. `bus`: it
 * lives and does not come to the bus. `ill`: it says itself that it cannot take configuration in. `unpublished`: the change is not on its way
 * yet. `reading`: it reads its zone from the start. `behind`: it has not come to it, with so many changes before. A node that is paused is told changes as any other.
 */
export const lagReasons = ['refused', 'offline', 'bus', 'ill', 'unpublished', 'reading', 'behind'] as const;

/** Which nodes of the site's zone serve its last change, and how long that took. */
export const Applied = obj({
  revision: big(),
  nodes: int(),
  applied: int(),
  /** milliseconds from commit to the last node's acknowledgement; null while one is missing */
  ms: nullable(int()),
  changedAt: nullable(time()),
  perNode: arr(
    obj({
      nodeID: id(),
      name: text(64),
      status: text(32),
      revision: big(),
      ms: nullable(int()),
      /** documents of the site, or of all sites, that the node does not take */
      refused: int(),
      /** fields of documents that the node does not know: it is older than this server */
      unknownFields: int(),
      /** why it does not serve the last change; null: it does */
      lag: nullable(
        obj({
          why: one(lagReasons),
          since: nullable(time()),
          /** `behind`: changes before it and with it */
          count: nullable(int()),
          /** in words: what the node says is wrong, the documents it refuses; for the operator alone */
          detail: text(1000),
        }),
      ),
    }),
    10_000,
  ),
  /** parts of the site that could not be compiled: they keep their last good form at the edge */
  errors: arr(
    obj({
      kind: one(appliedKinds),
      id: id(),
      message: text(500),
      /** what the message says, for a text in the reader's language; null: the message alone says it */
      rule: nullable(one(appliedRules)),
      params: nullable(map(text(500))),
    }),
    100,
  ),
});
export const applied = calls(
  { base: '/{area}/site/{siteID}', areas: ['user', 'client'], resource: 'sites' },
  { 'GET /applied': { answer: Applied }, 'GET /applied/stream': { as: 'sse', answer: Applied } },
);
