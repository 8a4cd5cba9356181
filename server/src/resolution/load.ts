/** What should be answered, out of rows. */
import { sql } from 'kysely';
import { nameServerOf } from '#contract/rules.ts';
import { keyOf, parseAddressSet } from '#contract/rules/address.ts';
import { type Db, rows, type Sql } from '../store/db.ts';
import type { GroupAnswer, NameZone } from './driver.ts';
import { type AnsweredLine, defaultLineID, type Member, troubleOfStatus, type WantedLine } from './choose.ts';

export interface HeldZone {
  zone: NameZone;
  clientID: number;
  dnsSettingID: number;
  driver: 'knot';
  tries: number;
  error: string;
  /** it may be asked now */
  isDue: boolean;
  /** what stands there has not been compared for a while */
  isOld: boolean;
}

const compareMinutes = 10;
/** As long as the bus waits until a silent node is offline (bus/settle.ts). */
const heardMs = 7000;

/** CNAME zones `c` with who answers for them. */
export async function zonesOf(db: Db, condition: Sql): Promise<HeldZone[]> {
  const found = await rows<Omit<HeldZone, 'zone'> & { id: number; domainName: string; nameServers: string[] }>(
    db,
    sql`select c.id, c."domainName", c."nameServers", c."clientID", c."dnsSettingID", s.driver, c.tries, c.error, c."nextAt" <= clock_timestamp() as "isDue", coalesce(c."comparedAt", '-infinity') < clock_timestamp() - ${compareMinutes} * interval '1 minute' as "isOld"
      from cname c join "dnsSetting" s on s.id = c."dnsSettingID" where c."deletedAt" is null and (${condition}) order by c.id`,
  );
  return found.map(({ id, domainName, nameServers, ...rest }) => ({
    zone: { id, name: domainName, nameServers: nameServers.map(nameServerOf) },
    ...rest,
  }));
}

export interface WantedGroup {
  groupID: number;
  lines: WantedLine[];
}
interface OnLine {
  groupID: number;
  lineID: number;
  cidrs: string[];
  nodeID: number;
  name: string;
  status: string;
  addresses: string[];
  backup: boolean;
  forceBackup: boolean;
  /** its heartbeats say nothing of a problem */
  isFine: boolean;
  isHeard: boolean;
  seconds: number;
}

/** Every group with its lines and who stands on them; nodes of the group's own zone that face visitors. */
export async function wantedGroups(db: Db): Promise<WantedGroup[]> {
  const groups = await rows<{ id: number }>(db, sql`select id from "group" where "deletedAt" is null order by id`);
  const found = await rows<OnLine>(
    db,
    sql`select ln."groupID", ln."lineID", l.cidrs, n.id as "nodeID", n.name, n.status, ln.backup, n."forceBackup",
        n.addresses || array(select s.address from "nodeSub" s where s."nodeID" = n.id and s."deletedAt" is null order by s.id) as addresses,
        coalesce(n.beat->>'problem' is null, false) as "isFine",
        coalesce(n."lastBeat" > clock_timestamp() - ${heardMs} * interval '1 ms', false) as "isHeard",
        least(greatest(0, extract(epoch from clock_timestamp() - n."lastBeat")), 1e9)::int as seconds
      from "lineNode" ln join "group" g on g.id = ln."groupID" and g."deletedAt" is null join line l on l.id = ln."lineID"
      join node n on n.id = ln."nodeID" and n."deletedAt" is null and n.type = 'edge' and n."zoneID" = g."zoneID"
      order by ln."groupID", ln."lineID", n.id`,
  );
  const byGroup = Map.groupBy(found, one => one.groupID);
  return groups.map(({ id }) => ({
    groupID: id,
    lines: [...Map.groupBy(byGroup.get(id) ?? [], one => one.lineID)].map(([lineID, nodes]) => ({
      lineID,
      cidrs: nodes[0]!.cidrs,
      members: nodes.map(({ nodeID, name, status, addresses, backup, forceBackup, isFine, isHeard, seconds }): Member => ({
        UID: `n-${nodeID}`,
        name,
        backup,
        isPaused: status === 'paused',
        isAlways: forceBackup,
        // a paused node goes on serving and reporting
        trouble: status === 'paused' && isHeard && isFine ? undefined : troubleOfStatus(status),
        isWaiting: false,
        isHeard,
        seconds,
        addresses,
        cname: null,
      })),
    })),
  }));
}

export interface StoredAnswer {
  groupID: number;
  clientID: number;
  version: number;
  lines: AnsweredLine[];
}
export const storedAnswers = (db: Db): Promise<StoredAnswer[]> =>
  rows<StoredAnswer>(
    db,
    sql`select a."groupID", g."clientID", a.version, a.lines from "groupAnswer" a join "group" g on g.id = a."groupID" where g."deletedAt" is null order by 1`,
  );

const nothing = { a: [], aaaa: [], cname: null };
/** As a driver takes it; of networks that stand on two lines, or twice, the first counts. */
export function groupAnswer({ groupID, version, lines }: StoredAnswer): GroupAnswer {
  const seen = new Set<string>();
  return {
    groupID,
    version,
    fallback: lines.find(one => one.lineID === defaultLineID) ?? nothing,
    lines: lines
      .filter(one => one.lineID !== defaultLineID)
      .map(({ cidrs, a, aaaa, cname }) => ({
        cidrs: cidrs.filter(cidr => {
          // one network has many spellings; what is none is written nowhere
          const set = parseAddressSet(cidr);
          return set && !seen.has(keyOf(set)) && seen.add(keyOf(set));
        }),
        answer: { a, aaaa, cname },
      })),
  };
}
