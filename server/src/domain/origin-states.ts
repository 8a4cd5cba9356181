/** How a domain's origins are, by the last heartbeats of the nodes that serve it. */
import { sql } from 'kysely';
import { originStateCalls } from '#contract/domain/origin-states.ts';
import { implement } from '../kit/implement.ts';
import { row, rows } from '../store/db.ts';
import { domainTable } from './tables.ts';

/** A node that was not heard of for longer says nothing any more. */
const freshSeconds = 15;

interface Trouble {
  host: string;
  origin: string;
  address: string;
  port: number;
  error: string;
  since: string;
  isDown: boolean;
}
interface Said {
  nodeID: number;
  name: string;
  isFresh: boolean;
  origins: { checked: number; wrong: number; troubles: Trouble[]; whole?: boolean } | null;
}

export const originStateImplementation = implement(
  originStateCalls,
  {
    'GET /domain/{domainID}/originStates': async ({ ctx, params, found }) => {
      const { domainName: host, status } = found['domainID']!;
      // nodes know a name alone: what they say of it is said of the one domain that is served by it, and of what that one names
      const isServed = status === 1;
      const isChecked = await row(
        ctx.db,
        sql`select 1 from "scopedSetting" where "domainID" = ${params.domainID}
            and (name = 'originCheck' and value->>'type' <> 'off' or name = 'originTLS' and value->>'verify' <> 'off') limit 1`,
      );
      const origins = await rows<{ address: string; port: number }>(
        ctx.db,
        sql`select address, port from upstream where "domainID" = ${params.domainID} and enabled and "deletedAt" is null order by id`,
      );
      const nodes = await rows<Said>(
        ctx.db,
        sql`select n.id as "nodeID", n.name, n.beat->'origins' as origins,
              coalesce(n."lastBeat" > clock_timestamp() - make_interval(secs => ${freshSeconds}), false) as "isFresh"
            from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID"
              join node n on n."zoneID" = g."zoneID" and n."deletedAt" is null
            where s.id = ${params.siteID} order by n.id`,
      );
      return {
        nodes: nodes.map(({ nodeID, name, isFresh, origins: said }) => {
          const troubles = (said?.troubles ?? []).filter(
            one => isServed && one.host === host && origins.some(other => other.address === one.origin),
          );
          // what is not among the newest, or was not asked yet, nobody told
          const isWhole =
            isServed &&
            isFresh &&
            isChecked !== undefined &&
            said?.whole !== false &&
            said !== null &&
            said.wrong <= said.troubles.length;
          const told = troubles.map(({ address, port, error, since, isDown }) => ({
            ...{ address, port, error: error.slice(0, 64), since },
            state: isFresh ? (isDown ? ('down' as const) : ('up' as const)) : ('unknown' as const),
          }));
          const rest = origins
            .filter(one => !troubles.some(other => other.origin === one.address))
            .map(one => ({ ...one, state: isWhole ? ('up' as const) : ('unknown' as const), error: null, since: null }));
          return { nodeID, name, checked: said?.checked ?? 0, origins: [...told, ...rest].slice(0, 400) };
        }),
      };
    },
  },
  { params: { domainID: domainTable } },
);
