/** Zones, groups with their lines, and products: how an operator's fleet is cut and sold (§3, §7 Client calls). */
import * as z from 'zod/mini';
import { calls } from '../kit/call.ts';
import {
  arr,
  big,
  bool,
  id,
  ids,
  int,
  list,
  nullable,
  num,
  obj,
  one,
  opt,
  page,
  record,
  str,
  text,
  limit,
} from '../kit/schema.ts';
import { fixedLineIDs, fixedLineKinds } from '../fixed-lines.ts';
import { paging, portTypes, resolutionLimits, sellTypes, trafficBounds, trafficExceededActions } from '../limits.ts';
import * as rules from '../rules.ts';

export const name = () => str(64).check(rules.zodRule(rules.name));
export const meta = () => arr(obj({ id: id(), name: text(255) }), 10_000);
const created = () => obj({ ids: arr(id(), 1000) });

export const Zone = obj({ ...record, name: text(64), memo: text(255), nodeCount: int(), normalCount: int(), siteCount: int() });
export const zones = calls(
  { base: '/client', resource: 'zones' },
  {
    'GET /zones': { query: list({ keyword: opt(str(64)) }), answer: page(Zone) },
    'GET /metaZones': { query: obj({ keyword: opt(str(64)) }), answer: meta() },
    'POST /zone': {
      body: obj({ name: name(), memo: opt(text(255)) }),
      answer: created(),
      errors: ['zoneNameExists', 'zonesExceeded'],
    },
    'PUT /zone': {
      limited: 'zones',
      body: obj({ id: id(), name: opt(name()), memo: opt(text(255)) }),
      errors: ['zoneNameExists'],
    },
    'DELETE /zone': { body: obj({ ids: ids() }), errors: ['zoneHasNodes', 'groupActive', 'multiple'] },
  },
);

/** `custom`: of one group, for visitors of these networks, ASNs or places; everybody has the others. */
export const lineKinds = ['default', 'custom'] as const;
const lineFields = {
  id: id(),
  name: text(64),
  kind: one(lineKinds),
  groupID: nullable(id()),
  cidrs: arr(text(50), 1000),
  asns: arr(int(1, 4_294_967_295), 1000),
  /** `continent:AS`, `TW` (ISO 3166-1), `TW-TPE` (ISO 3166-2) */
  places: arr(text(12), 500),
};
export const Line = obj({
  ...lineFields,
  /** places and ASNs (`AS3462`) of it that the data of places have for no address: by these it answers nobody */
  unmatched: arr(text(12), 1500),
});
/**
 * What `{l}` may name: a line that is kept, or one that there is for a continent, a country, a region of the data of places or a provider
 * (its ASNs). A group has such a line as one of its own once somebody is put on it.
 */
export const OfferedLine = z.extend(Line, { id: int(1, fixedLineIDs.max), kind: one([...lineKinds, ...fixedLineKinds]) });
/** A line of a group: one with its id is changed, one without is made, and who is left out goes. */
const lines = () =>
  arr(
    obj({
      lineID: opt(id()),
      name: str(64).check(rules.zodRule(rules.freeName)),
      cidrs: arr(str(50), 1000).check(rules.zodRule(rules.networks)),
      asns: arr(int(1, 4_294_967_295), 1000),
      /** left out: of a new line none, of another as they are */
      places: opt(arr(str(12), 500).check(rules.zodRule(rules.placeCodes))),
    }).check(rules.zodRule(rules.customLine)),
    resolutionLimits.groupLinesMax,
  ).check(rules.zodRule(rules.groupLineNames));
export const Group = obj({
  ...record,
  zoneID: id(),
  name: text(64),
  memo: text(255),
  lines: arr(Line, resolutionLimits.groupLinesMax),
  nodeCount: int(),
  virtualNodeCount: int(),
  productCount: int(),
});
const LineNode = obj({ UID: text(32), id: id(), name: text(64), status: text(32), backup: bool() });
export const groups = calls(
  { base: '/client', resource: 'groups' },
  {
    'GET /zone/{zoneId}/groups': { query: list({}), answer: page(Group) },
    'GET /metaGroups': {
      query: obj({ keyword: opt(str(64)), zoneID: opt(id()) }),
      answer: arr(obj({ id: id(), name: text(64), zoneID: id(), zoneName: text(64) }), 10_000),
    },
    'POST /group': { body: obj({ zoneID: id(), name: name(), memo: opt(text(255)) }), answer: created(), errors: ['duplicated'] },
    'PATCH /group': {
      body: obj({ id: id(), name: opt(name()), memo: opt(text(255)), lines: opt(lines()) }),
      errors: ['duplicated'],
    },
    /** 203001: a product answers from it; one that opens layer 4: 204001. */
    'DELETE /group': { body: obj({ ids: ids() }), errors: ['groupActive', 'layer4GroupInUse', 'multiple'] },
    /**
     * Those that are kept come first, then continents, countries and regions by name. `keyword`: of names in the caller's language or in
     * English, of codes, and of ASNs (`AS3462`); providers are tens of thousands, so they are found by it alone, by two letters at least.
     */
    'GET /dns/lines': {
      query: obj({
        page: opt(int(paging.pageFirst, paging.pageMax)),
        pageSize: opt(int(1, paging.pageSizeMax)),
        keyword: opt(str(64)),
        kind: opt(one([...lineKinds, ...fixedLineKinds])),
      }),
      answer: page(OfferedLine),
    },
    'GET /group/{g}/line/{l}/nodes': { query: list({}), answer: page(LineNode) },
    'POST /group/{g}/line/{l}/nodes': {
      partOf: 'group',
      body: obj({ ids: ids() }),
      errors: ['invalidGroupNode', 'groupNodesExceeded'],
    },
    'PATCH /group/{g}/line/{l}/nodes': {
      partOf: 'group',
      body: obj({ ids: ids(), backup: bool() }),
      errors: ['invalidGroupNode'],
    },
    'DELETE /group/{g}/line/{l}/nodes': { partOf: 'group', body: obj({ ids: ids() }) },
  },
);

export const Product = obj({
  ...record,
  name: text(64),
  groupID: id(),
  groupName: text(64),
  zoneID: id(),
  siteLimit: int(),
  domainLimit: int(),
  /** domains of one site that may have certificates made for them; 0: all of them */
  autoSSLLimit: int(),
  /** ports of one site beside the usual ones; 0: as many as there are */
  portLimit: int(),
  sellType: one(sellTypes),
  /** of one GB (10⁹ bytes), in the operator's currency */
  trafficPrice: num(0, 1_000_000),
  /** bytes a customer may use in a month on all its sites of this product together; 0: unlimited */
  trafficLimit: big(),
  /** what becomes of the sites, and who is told, when that is used up */
  trafficAction: one(trafficExceededActions),
  portType: one(portTypes),
  defaultState: one(['normal', 'pause']),
  memo: text(255),
  siteCount: int(),
});
const productFields = {
  name: name(),
  groupID: id(),
  siteLimit: opt(limit()),
  domainLimit: opt(limit()),
  autoSSLLimit: opt(limit()),
  portLimit: opt(limit()),
  sellType: opt(one(sellTypes)),
  trafficPrice: opt(num(0, 1_000_000)),
  trafficLimit: opt(int(0, trafficBounds.bytesMax)),
  trafficAction: opt(one(trafficExceededActions)),
  defaultState: opt(one(['normal', 'pause'])),
  memo: opt(text(255)),
};
export const products = calls(
  { base: '/client', resource: 'products' },
  {
    'GET /products': { query: list({ keyword: opt(str(64)), sellType: opt(one(sellTypes)) }), answer: page(Product) },
    'GET /metaProducts': { query: obj({ keyword: opt(str(64)) }), answer: meta() },
    'POST /product': { body: obj(productFields), answer: created(), errors: ['duplicated'] },
    'PUT /product': {
      body: obj({ ...productFields, id: id(), name: opt(name()), groupID: opt(id()) }),
      errors: ['duplicated', 'inconsistentPorts'],
    },
    'DELETE /product': { body: obj({ ids: ids() }), errors: ['productInUse', 'multiple'] },
  },
);
