/** Who stands on each line, out of rows: nodes, and what virtual nodes are made of. */
import { sql } from 'kysely';
import { identifiers, type ipVersions } from '#contract/limits.ts';
import { healthTimes } from '#contract/system/health.ts';
import { type Db, rows } from '../store/db.ts';
import { type Member, troubleOfNode, type WantedLine, wellStates } from './choose.ts';

/** As long as the bus waits until a silent node is offline (bus/settle.ts). */
const heardMs = 7000;

export interface WantedGroup {
  groupID: number;
  lines: WantedLine[];
}
interface Line {
  groupID: number;
  lineID: number;
  lineName: string;
  cidrs: string[];
  asns: number[];
  places: string[];
  backup: boolean;
}
interface OfNode {
  nodeID: number;
  name: string;
  status: string;
  addresses: string[];
  forceBackup: boolean;
  /** its heartbeats say nothing of a problem */
  isFine: boolean;
  /** a copy of its disk runs, and nothing else makes it one in trouble */
  isTwin: boolean;
  isHeard: boolean;
  seconds: number;
  /** null: its state says nothing of it */
  wellSeconds: number | null;
}
interface Virtual extends Line {
  virtualNodeID: number;
  virtualName: string;
  target: string | null;
  ipVersions: (typeof ipVersions)[number][] | null;
}

/** Of a node `n` of a group `g`: its own zone's, that faces visitors. */
const isOfGroup = sql`n."deletedAt" is null and n.type = 'edge' and n."zoneID" = g."zoneID"`;
const ofNode = sql`n.id as "nodeID", n.name, n.status, n."forceBackup",
        n.addresses || array(select s.address from "nodeSub" s where s."nodeID" = n.id and s."deletedAt" is null order by s.id) as addresses,
        coalesce(n.beat->>'problem' is null, false) as "isFine",
        coalesce(n.beat ? 'twin' and abs(coalesce((n.beat->>'clockMs')::float8, 0)) <= ${healthTimes.clockMostMs}
          and not exists (select from publication p where p."zoneID" = n."zoneID" and p.seq > n."appliedSeq"
            and greatest(p."committedAt", n."updatedAt") < clock_timestamp() - ${healthTimes.unservedSeconds} * interval '1 second'), false) as "isTwin",
        coalesce(n."lastBeat" > clock_timestamp() - ${heardMs} * interval '1 ms', false) as "isHeard",
        least(greatest(0, extract(epoch from clock_timestamp() - n."lastBeat")), 1e9)::int as seconds,
        case when n.status = any(${wellStates}) then greatest(0, extract(epoch from clock_timestamp() - n."wellAt"))::float8 end as "wellSeconds"`;

/** Every group with its lines and who stands on them. */
export async function wantedGroups(db: Db): Promise<WantedGroup[]> {
  const groups = await rows<{ id: number }>(db, sql`select id from "group" where "deletedAt" is null order by id`);
  const nodes = await rows<Line & OfNode>(
    db,
    sql`select ln."groupID", ln."lineID", l.name as "lineName", l.cidrs, l.asns, l.places, ln.backup, ${ofNode}
      from "lineNode" ln join "group" g on g.id = ln."groupID" and g."deletedAt" is null join line l on l.id = ln."lineID"
      join node n on n.id = ln."nodeID" and ${isOfGroup} order by ln."groupID", ln."lineID", n.id`,
  );
  const virtual = await rows<Virtual & (OfNode | { nodeID: null })>(
    db,
    sql`select lv."groupID", lv."lineID", l.name as "lineName", l.cidrs, l.asns, l.places, lv.backup, v.id as "virtualNodeID", v.name as "virtualName", r.target, r."ipVersions", ${ofNode}
      from "lineVirtualNode" lv join "group" g on g.id = lv."groupID" and g."deletedAt" is null join line l on l.id = lv."lineID"
      join "virtualNode" v on v.id = lv."virtualNodeID" and v."deletedAt" is null and v."zoneID" = g."zoneID"
      join (select "virtualNodeID", "nodeID", target, array_agg("ipVersion") as "ipVersions" from "virtualNodeRecord" where "deletedAt" is null group by 1, 2, 3) r
        on r."virtualNodeID" = v.id
      left join node n on n.id = r."nodeID" and ${isOfGroup}
      where r.target is not null or n.id is not null order by lv."groupID", lv."lineID", v.id, n.id`,
  );
  const all = [
    ...nodes.map(one => ({ ...one, member: { ...memberOf(one), UID: `${identifiers.nodePrefix}${one.nodeID}` } })),
    ...virtual.map(one => ({ ...one, member: virtualMember(one) })),
  ];
  const byGroup = Map.groupBy(all, one => one.groupID);
  return groups.map(({ id }) => ({
    groupID: id,
    lines: [...Map.groupBy(byGroup.get(id) ?? [], one => one.lineID)].map(([lineID, found]) => ({
      lineID,
      name: found[0]!.lineName,
      cidrs: found[0]!.cidrs,
      asns: found[0]!.asns,
      places: found[0]!.places,
      members: found.map(one => one.member),
    })),
  }));
}

const memberOf = ({ name, addresses, backup, forceBackup, ...node }: OfNode & { backup: boolean }) => ({
  name,
  backup,
  isPaused: node.status === 'paused',
  isAlways: forceBackup,
  trouble: troubleOfNode(node),
  isWaiting: false,
  isHeard: node.isHeard,
  seconds: node.seconds,
  wellSeconds: node.wellSeconds,
  addresses,
  cname: null,
});

/** Each node that a virtual one is made of is judged by itself, as on any line; of a name elsewhere nobody hears, and it is taken as well. */
function virtualMember(one: Virtual & (OfNode | { nodeID: null })): Member {
  const { virtualNodeID, virtualName, ipVersions, target, backup } = one;
  const UID = `${identifiers.virtualNodePrefix}${virtualNodeID}`;
  if (one.nodeID === null)
    return {
      UID,
      name: virtualName,
      backup,
      trouble: undefined,
      isWaiting: false,
      isHeard: false,
      seconds: 0,
      wellSeconds: Infinity,
      addresses: [],
      cname: target,
    };
  const families = new Set((ipVersions ?? []).map(version => (version === 'ipv4' ? 4 : 6) as 4 | 6));
  const member = memberOf({ ...one, backup });
  return {
    ...member,
    UID: `${UID}/${identifiers.nodePrefix}${one.nodeID}`,
    name: `${virtualName} / ${one.name}`.slice(0, 64),
    families,
  };
}
