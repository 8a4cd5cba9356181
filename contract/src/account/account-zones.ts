/** Which zones a sub-account of the operator sees (§6: zones can be assigned to sub-clients; decisions.md: a root's call). */
import { calls } from '../kit/call.ts';
import { arr, id, obj, text } from '../kit/schema.ts';

/** `clientId`: a sub-account of the operator's own tree, whoever made it. */
export const accountZones = calls(
  { base: '/client', resource: 'accounts' },
  {
    'GET /{clientId}/zones': { answer: arr(obj({ id: id(), name: text(64) }), 10_000), errors: ['permissionDenied'] },
    /** These and no others; none takes all of them away. */
    'PUT /{clientId}/zones': {
      partOf: 'account',
      body: obj({ zoneIDs: arr(id(), 1000) }),
      errors: ['permissionDenied'],
    },
  },
);
