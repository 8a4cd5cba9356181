import type { schemes } from '#contract/limits.ts';
import { askedAt, type PortMap } from '#contract/rules/schemes.ts';
import { arrayOf, belowSites, headOf, type Source } from '../source.ts';
import { chosenOf, type UpstreamRow, upstreamColumns, upstreamOf } from './domain.ts';

export interface PortRow {
  siteID: number;
  /** the customer */
  ownerID: number;
  port: number;
  scheme: (typeof schemes)[number];
  portMap: PortMap;
  ips: string[];
  forceBackup: boolean;
  upstreams: UpstreamRow[];
}

/** A port of layer 7. Visitors come to it by one scheme, so what follows is asked in one way. */
export const port: Source<'port', PortRow> = {
  text: belowSites(
    'port',
    'o',
    `jsonb_build_object('siteID', o."siteID", 'ownerID', s."userID", 'port', o.port, 'scheme', o.scheme, 'portMap', o."portMap", 'ips', to_jsonb(o.ips), 'forceBackup', s."forceBackup",
       'upstreams', ${arrayOf(`select ${upstreamColumns} from "portUpstream" u where u."portID" = o.id and u."deletedAt" is null`)})`,
    `o.scheme in ('http', 'https')`,
  ),
  compile: loaded => {
    const { siteID, ownerID, port: number, scheme, portMap, ips, forceBackup, upstreams } = loaded.row;
    return {
      ...headOf(loaded),
      site: siteID,
      owner: ownerID,
      port: number,
      scheme,
      ips: [...ips],
      upstreams: chosenOf(upstreams, forceBackup).map(one => {
        const { port: at, protocol } = askedAt(one, portMap, scheme);
        return { ...upstreamOf(one, { port: at }), protocol };
      }),
    };
  },
};
