/** The ports on which the nodes of a zone listen beside their usual ones, and what is spoken there (§3 Zone settings; §9). */
import { calls } from '../kit/call.ts';
import { arr, id, ids, int, list, obj, one, opt, page, partial, record, some, text } from '../kit/schema.ts';
import { portLimits, portSchemes, upstreamLimits } from '../limits.ts';
import * as rules from '../rules.ts';

const fields = {
  port: int(upstreamLimits.portMin, upstreamLimits.portMax).check(rules.zodRule(rules.layer4Port)),
  /** one for all sites of the zone: a port speaks one protocol */
  scheme: one(portSchemes),
  memo: text(255),
};
const { memo, ...needed } = fields;
export const ZonePort = obj({ ...record, zoneID: id(), ...fields });

export const zonePorts = calls(
  { base: '/client/zone/{id}/setting', areas: ['client'], resource: 'zones', limited: 'zones' },
  {
    'GET /ports': { query: list({}), answer: page(ZonePort) },
    'POST /ports': {
      body: obj({ ports: some(obj({ ...needed, memo: opt(memo) }), portLimits.perZoneMax) }),
      answer: obj({ ids: arr(id(), portLimits.perZoneMax) }),
      errors: ['illegalPortType', 'duplicated', 'multiple'],
    },
    'PUT /port': {
      body: obj({ id: id(), ...partial(fields) }),
      errors: ['inconsistentPorts', 'portType4InUse', 'illegalPortType', 'duplicated'],
    },
    'DELETE /ports': { body: obj({ ids: ids() }), errors: ['inconsistentPorts', 'portType4InUse', 'multiple'] },
  },
);
