/** Whether a customer's name leads here (§4, CNAME status). */
import { calls } from '../kit/call.ts';
import { bulk, unseenReasons } from '../limits.ts';
import { arr, id, ids, nullable, obj, one, text } from '../kit/schema.ts';
import { cnameStates } from '../states.ts';

/** `unknown`: nobody could say; the domain keeps its state, what was seen, and since when. */
export const seenStates = [...cnameStates, 'unknown'] as const;

export const cnameChecks = calls(
  { base: '/{area}/site/{siteID}', areas: ['user', 'client'], resource: 'domains' },
  {
    'POST /domains/checkCNAME': {
      body: obj({ ids: ids() }),
      answer: arr(
        obj({
          id: id(),
          domainName: text(253),
          /** what it should lead to; '': the operator has no zone for that yet */
          cname: text(253),
          status: one(seenStates),
          /** the names it leads through, or else its addresses */
          seen: arr(text(253), 20),
          /** of `unknown`: why; null: it was seen */
          reason: nullable(one(unseenReasons)),
        }),
        bulk.idsMax,
      ),
      errors: ['multiple'],
    },
  },
);
