/** Zones, groups with their lines, and products: how an operator's fleet is cut and sold (§3, §7 Client calls). */
import { calls } from '../kit/call.ts';
import { arr, bool, id, ids, int, list, obj, one, opt, page, record, str, text } from '../kit/schema.ts';
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
    'POST /zone': { body: obj({ name: name(), memo: opt(text(255)) }), answer: created(), errors: ['zoneNameExists'] },
    'PUT /zone': { body: obj({ id: id(), name: opt(name()), memo: opt(text(255)) }), errors: ['zoneNameExists'] },
    'DELETE /zone': { body: obj({ ids: ids() }), errors: ['zoneHasNodes', 'groupActive', 'multiple'] },
  },
);

export const Line = obj({ id: id(), name: text(64), kind: one(['default']) });
export const Group = obj({ ...record, zoneID: id(), name: text(64), memo: text(255), nodeCount: int(), productCount: int() });
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
    'PATCH /group': { body: obj({ id: id(), name: opt(name()), memo: opt(text(255)) }), errors: ['duplicated'] },
    'DELETE /group': { body: obj({ ids: ids() }), errors: ['groupActive', 'multiple'] },
    'GET /dns/lines': { answer: arr(Line, 1000) },
    'GET /group/{g}/line/{l}/nodes': { query: list({}), answer: page(LineNode) },
    'POST /group/{g}/line/{l}/nodes': { body: obj({ ids: ids() }), errors: ['invalidGroupNode'] },
    'PATCH /group/{g}/line/{l}/nodes': { body: obj({ ids: ids(), backup: bool() }), errors: ['invalidGroupNode'] },
    'DELETE /group/{g}/line/{l}/nodes': { body: obj({ ids: ids() }) },
  },
);

const limit = () => int(0, 1_000_000);
export const Product = obj({
  ...record,
  name: text(64),
  groupID: id(),
  groupName: text(64),
  zoneID: id(),
  siteLimit: int(),
  domainLimit: int(),
  defaultState: one(['normal', 'pause']),
  memo: text(255),
  siteCount: int(),
});
const productFields = {
  name: name(),
  groupID: id(),
  siteLimit: opt(limit()),
  domainLimit: opt(limit()),
  defaultState: opt(one(['normal', 'pause'])),
  memo: opt(text(255)),
};
export const products = calls(
  { base: '/client', resource: 'products' },
  {
    'GET /products': { query: list({ keyword: opt(str(64)) }), answer: page(Product) },
    'GET /metaProducts': { query: obj({ keyword: opt(str(64)) }), answer: meta() },
    'POST /product': { body: obj(productFields), answer: created(), errors: ['duplicated'] },
    'PUT /product': {
      body: obj({ ...productFields, id: id(), name: opt(name()), groupID: opt(id()) }),
      errors: ['duplicated'],
    },
    'DELETE /product': { body: obj({ ids: ids() }), errors: ['productInUse', 'multiple'] },
  },
);
