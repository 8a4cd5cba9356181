/** The fleet at one look: how each node is and what it does now, and where it stands. */
import { calls } from '../kit/call.ts';
import { arr, big, id, ids, int, nullable, num, obj, one, opt, str, text, time } from '../kit/schema.ts';
import { fleetLimits } from '../limits.ts';
import * as rules from '../rules.ts';
import { nodeStatuses, Place } from './place.ts';

export const FleetNode = obj({
  id: id(),
  name: text(64),
  zoneID: id(),
  zoneName: text(64),
  type: one(['edge', 'relay']),
  status: one(nodeStatuses),
  /** of a paused one that says nothing any more: since its last word */
  silentSince: nullable(time()),
  version: text(64),
  /** where its operator says it stands */
  place: nullable(Place),
  lastBeat: nullable(time()),
  /** changes published for its zone that it does not serve, and when the first of them was saved */
  behind: int(),
  behindSince: nullable(time()),
  /** documents it does not take */
  refused: int(),
  /** what is wrong, as it says itself, in the reader's language; the worst first */
  troubles: arr(text(600), 5),
  /** of the disk that holds what it stores; null: it did not say */
  disk: nullable(obj({ freeBytes: big(), totalBytes: big() })),
  /** by its log lines: traffic of the last one to two minutes, shares and errors of the last five to six; null: the store cannot tell now */
  traffic: nullable(
    obj({
      bitsPerSecond: big(),
      requestsPerSecond: num(0, 1e12),
      /** of its requests, 0 to 1: answered from what is stored; null: there were none */
      hitShare: nullable(num(0, 1)),
      /** answers of 5xx, and their share */
      errors: big(),
      errorShare: nullable(num(0, 1)),
    }),
  ),
});

export const fleet = calls(
  { base: '/client', resource: 'nodes' },
  {
    /** Nodes that have a zone: the whole fleet, up to `nodesMost`; `total` says how many there are. */
    'GET /nodes/fleet': {
      query: obj({ zoneID: opt(id()) }),
      answer: obj({ nodes: arr(FleetNode, fleetLimits.nodesMost), total: int() }),
    },
    'PUT /nodes/place': {
      body: obj({
        ids: ids(),
        /** null: it is not known any more */
        place: nullable(
          obj({
            name: str(fleetLimits.placeNameMax).check(rules.zodRule(rules.freeName)),
            latitude: num(-90, 90),
            longitude: num(-180, 180),
          }),
        ),
      }),
      errors: ['multiple'],
    },
  },
);
