/** What a domain lacks for https: where its name leads, whether its authority has seen that, and the certificate it shows. */
import { calls } from '../kit/call.ts';
import { arr, id, map, nullable, obj, one, text, time } from '../kit/schema.ts';
import { acmeWays } from '../limits.ts';

/** `here`: to a node of the domain's zone; `none`: the name has no address; `unknown`: nobody answered, or no node says where it is. */
export const leadsStates = ['here', 'elsewhere', 'none', 'unknown'] as const;
/** `off`: autoSSL is; `waits`: it is tried later; `runs`: a task is at it; `seen`: there is one. */
export const proofStates = ['off', 'waits', 'runs', 'seen', 'failed'] as const;
export const shownStates = ['none', 'shown', 'ended'] as const;

export const httpsSteps = calls(
  { base: '/{area}/site/{siteID}', areas: ['user', 'client'], resource: 'certificates' },
  {
    'GET /domain/{domainID}/https': {
      answer: obj({
        /** as this installation's resolvers answer at this moment; of a wildcard, any name below it */
        dns: obj({ state: one(leadsStates), addresses: arr(text(45), 20) }),
        proof: obj({
          state: one(proofStates),
          way: one(acmeWays),
          /** when it is tried again; null: at once, or nothing is to be tried */
          nextAt: nullable(time()),
          /** what the log of its last task said last of this domain (`taskLine.autoSSL.<code>`) */
          line: nullable(obj({ taskID: id(), code: text(64), values: map(text(500)), at: time() })),
        }),
        certificate: obj({ state: one(shownStates), notAfter: nullable(time()) }),
      }),
    },
  },
);
