import type { DocumentOf } from '#contract/edge/kinds/index.ts';
import { arrayOf, headOf, type Source } from '../source.ts';

export interface NodeRow {
  geneva: DocumentOf<'node'>['geneva'];
  logRotateTime: number;
  /** of sub-nodes on which nginx is to listen */
  listen: { address: string }[];
}

const listenOf = arrayOf(
  `select x.address from "nodeSub" x where x."nodeID" = n.id and x.listen and x."deletedAt" is null order by x.id`,
);

/** What is set of one node; of one without a zone nothing. */
export const node: Source<'node', NodeRow> = {
  text: `select n.id, n."zoneID", null::bigint as "siteID", n."rowVersion" as revision, '' as inherited,
     jsonb_build_object('geneva', n.geneva, 'logRotateTime', n."logRotateTime", 'listen', ${listenOf}) as row
   from node n where n.id = any($1::bigint[]) and n."deletedAt" is null and n."zoneID" is not null`,
  compile: loaded => {
    const { geneva, logRotateTime, listen } = loaded.row;
    return {
      ...headOf(loaded),
      geneva: geneva && { version: geneva.version, window: geneva.window },
      logRotateSeconds: logRotateTime,
      listen: listen.map(({ address }) => address),
    };
  },
};
