/** How the origins of a domain are, as each node that serves it says in its heartbeat. */
import { calls } from '../kit/call.ts';
import { arr, id, int, nullable, obj, one, text, time } from '../kit/schema.ts';

/** unknown: the node says nothing of it, because it does not check, was not heard of lately, or has too much to tell */
export const originStates = ['up', 'down', 'unknown'] as const;

export const originStateCalls = calls(
  { base: '/{area}/site/{siteID}', areas: ['user', 'client'], resource: 'domains' },
  {
    'GET /domain/{domainID}/originStates': {
      answer: obj({
        nodes: arr(
          obj({
            nodeID: id(),
            name: text(64),
            /** how many origins of its domains the node checks */
            checked: int(),
            origins: arr(
              obj({
                /** address of an origin, of a name each that was found; the name where none was */
                address: text(253),
                port: int(),
                state: one(originStates),
                /** what came of the last question, where it was not well: a code of the system, of TLS or `HTTP_<status>`; null: it was well, or nobody knows */
                error: nullable(text(64)),
                since: nullable(time()),
              }),
              400,
            ),
          }),
          10_000,
        ),
      }),
    },
  },
);
