import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { identifiers, nodeBounds, portLimits } from '#contract/limits.ts';
import type { ZonePort } from '#contract/node/zone-ports.ts';
import type { Group, Line, Product, Zone } from '#contract/node/zones.ts';
import type { Node } from '#contract/node/nodes.ts';
import { healthTimes } from '#contract/system/health.ts';
import type { JoinLine } from '#contract/node/join-lines.ts';
import type { SubNode } from '#contract/node/subs.ts';
import type { Actor } from '../kit/actor.ts';
import { fixedLine } from './fixed-lines.ts';
import { col, eq, like, scopeOf, type Table, table } from '../kit/table.ts';
import type { Sql } from '../store/db.ts';

export type ZonePortRow = z.output<typeof ZonePort>;
export type ZoneRow = z.output<typeof Zone>;
export type NodeRow = z.output<typeof Node> & { clientID: number };
export type JoinLineRow = z.output<typeof JoinLine> & { isOpen: boolean };
export type SubNodeRow = z.output<typeof SubNode>;
/** As they are stored: what of a line answers nobody is reckoned by the data of places (zones.ts). */
export type LineRow = Omit<z.output<typeof Line>, 'unmatched'>;
export type GroupRow = Omit<z.output<typeof Group>, 'lines'> & { lines: LineRow[] };
export type ProductRow = z.output<typeof Product>;
const count = (from: Sql): Sql => sql`(select count(*) from ${from})`;

/** A sub-account of the operator sees the zones assigned to it (decisions.md, Who may do what). */
const zoneOf = (actor: Actor, zoneID: Sql): Sql =>
  actor.isRoot
    ? sql`true`
    : sql`exists (select 1 from "zoneAccount" za where za."zoneID" = ${zoneID} and za."accountID" = ${actor.accountID})`;
const operatorOnly = (actor: Actor, condition: Sql): Sql => (actor.area === 'client' ? condition : sql`false`);

export const zoneTable = table<ZoneRow>()({
  table: 'zone',
  scope: {
    tenant: [['clientID']],
    owner: (actor, a) => operatorOnly(actor, sql`${col('clientID', a)} = ${actor.rootID} and ${zoneOf(actor, col('id', a))}`),
  },
  sort: ['name', 'createdAt', 'updatedAt'],
  filters: { keyword: like('name', 'memo') },
  unique: { zone_name: 'zoneNameExists' },
  edge: { kind: 'zone', column: 'id' },
  extra: {
    nodeCount: count(sql`node n where n."zoneID" = t.id and n."deletedAt" is null`),
    normalCount: count(sql`node n where n."zoneID" = t.id and n."deletedAt" is null and n.status = 'normal'`),
    siteCount: count(
      sql`site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID" where g."zoneID" = t.id and s."deletedAt" is null`,
    ),
  },
});

export const zonePortTable = table<ZonePortRow>()({
  table: 'zonePort',
  scope: { parent: zoneTable, column: 'zoneID' },
  sort: ['port', 'scheme', 'createdAt', 'updatedAt'],
  order: sql`t.port`,
  most: portLimits.perZoneMax,
  unique: { zone_port_number: 'duplicated' },
  edge: { kind: 'zone', column: 'zoneID' },
});

/** Its clock is so wrong that it could prove nothing to us (202006). */
const clockWrong = (alias: string) =>
  sql`coalesce(abs((${col('beat', alias)}->>'clockMs')::float8) > ${healthTimes.clockMostMs}, false)`;

/** Of an upgrade `u` and its command `c`: who stops the task does not stop those that are told already, and nobody writes their rows. */
export const upgradeState = sql`case when u.state <> 'updating' then u.state when c.ok then 'updateComplete'
  when c.id is null or c."endedAt" is not null then 'updateFailed' else 'updating' end`;

/** `nodeId-id` (§3). */
const subUID = (alias: string) => sql`${col('nodeID', alias)} || ${identifiers.subNodeSeparator} || ${col('id', alias)}`;

/** Why it is in its state, where that is not normal. A twin and the clock come first: they explain what else the node says. */
const statusReason = sql`case t.status
    when 'paused' then jsonb_build_object('reason', 'byOperator', 'detail', '')
    when 'natsError' then jsonb_build_object('reason', 'cutOff', 'detail', left(coalesce(t."busProblem", ''), 500))
    when 'offline' then jsonb_build_object('reason', 'silent', 'detail', '')
    when 'reconnect' then jsonb_build_object('reason', 'reconnecting', 'detail', '')
    when 'unknown' then jsonb_build_object('reason', 'noWord', 'detail', '')
    when 'error' then case
      when t.beat ? 'twin' then jsonb_build_object('reason', 'twin', 'detail', '')
      when ${clockWrong('t')} then jsonb_build_object('reason', 'clock', 'detail', round((t.beat->>'clockMs')::float8 / 1000)::text)
      when t.beat->>'problem' is not null then jsonb_build_object('reason', 'problem', 'detail', left(t.beat->>'problem', 500))
      else jsonb_build_object('reason', 'behind', 'detail', '') end
    end`;

export const nodeTable = table<NodeRow>()({
  table: 'node',
  scope: {
    tenant: [['clientID']],
    owner: (actor, a) =>
      operatorOnly(
        actor,
        sql`${col('clientID', a)} = ${actor.rootID} and ${actor.isRoot ? sql`true` : sql`${col('zoneID', a)} is not null and ${zoneOf(actor, col('zoneID', a))}`}`,
      ),
  },
  sort: ['name', 'status', 'lastBeat', 'version', 'createdAt', 'updatedAt'],
  filters: {
    zoneID: eq('zoneID'),
    groupID: (id: number, a) =>
      sql`exists (select 1 from "lineNode" ln where ln."nodeID" = ${col('id', a)} and ln."groupID" = ${id})`,
    status: eq('status'),
    keyword: like('name', 'memo'),
  },
  refs: { zoneID: zoneTable },
  ownVersion: true,
  secret: ['publicKey'],
  edge: { kind: 'node', column: 'id' },
  extra: {
    statusReason,
    backup: sql`t.status = 'paused' or coalesce((select bool_and(ln.backup) from "lineNode" ln where ln."nodeID" = t.id), false)`,
    bandwidth: sql`case jsonb_typeof(t.beat->'machine'->'outBitsPerSecond') when 'number' then least((t.beat->'machine'->>'outBitsPerSecond')::float8, 1e15)::bigint end`,
    subs: sql`coalesce((select jsonb_agg(jsonb_build_object('id', s.id, 'UID', ${subUID('s')}, 'address', s.address, 'listen', s.listen) order by s.id)
      from "nodeSub" s where s."nodeID" = t.id and s."deletedAt" is null), '[]')`,
    zoneName: sql`select name from zone z where z.id = t."zoneID"`,
    upgrade: sql`coalesce((select ${upgradeState} from "nodeUpgrade" u left join "nodeCommand" c on c.id = u."commandID"
      where u."nodeID" = t.id order by u.id desc limit 1), 'notUpdated')`,
    upgradable: sql`coalesce((t.beat->'upgrade'->>'able')::boolean, false)`,
    relaysAway: sql`coalesce((select jsonb_agg(jsonb_build_object('id', r.id, 'name', r.name, 'since', a->>'since', 'why', a->>'why') order by r.id)
      from jsonb_array_elements(coalesce(t.beat->'relaysAway', '[]')) a
      join node r on r.id = (a->>'id')::bigint and r."zoneID" = t."zoneID" and r."clientID" = t."clientID" and r."deletedAt" is null
      where t.status <> 'offline'), '[]')`,
    // from the analytics store (nodes.ts)
    aside: sql`null`,
    behind: sql`select count(*) from publication p where p."zoneID" = t."zoneID" and p.seq > t."appliedSeq"`,
  },
});

export const isOpenLine = sql`t."usedAt" is null and t."expiredAt" > clock_timestamp()`;
/** A sub-account sees those for its zones, and its own. */
export const joinLineTable = table<JoinLineRow>()({
  table: 'joinToken',
  scope: {
    tenant: [['clientID']],
    owner: (actor, a) =>
      operatorOnly(
        actor,
        sql`${col('clientID', a)} = ${actor.rootID} and ${actor.isRoot ? sql`true` : sql`(${col('makerID', a)} = ${actor.accountID} or (${col('zoneID', a)} is not null and ${zoneOf(actor, col('zoneID', a))}))`}`,
      ),
  },
  soft: false,
  sort: ['name', 'expiredAt', 'createdAt'],
  filters: { keyword: like('name') },
  secret: ['hash'],
  extra: {
    zoneName: sql`select name from zone z where z.id = t."zoneID"`,
    isOpen: isOpenLine,
    maker: sql`select email from account m where m.id = t."makerID"`,
  },
});

export const subNodeTable = table<SubNodeRow>()({
  table: 'nodeSub',
  scope: { parent: nodeTable, column: 'nodeID' },
  sort: ['address', 'createdAt', 'updatedAt'],
  order: sql`t.id`,
  filters: { keyword: like('address', 'memo') },
  most: nodeBounds.subsMax,
  unique: { node_sub_address: 'duplicated' },
  edge: { kind: 'node', column: 'nodeID' },
  extra: { UID: subUID('t') },
});

export const groupTable = table<GroupRow>()({
  table: 'group',
  scope: { parent: zoneTable, column: 'zoneID' },
  sort: ['name', 'createdAt', 'updatedAt'],
  filters: { keyword: like('name', 'memo'), zoneID: eq('zoneID') },
  refs: { zoneID: zoneTable },
  unique: { group_name: 'duplicated' },
  extra: {
    nodeCount: sql`select count(distinct ln."nodeID") from "lineNode" ln where ln."groupID" = t.id`,
    virtualNodeCount: sql`select count(distinct lv."virtualNodeID") from "lineVirtualNode" lv where lv."groupID" = t.id`,
    lines: sql`coalesce((select jsonb_agg(to_jsonb(l) order by l.id) from line l where l."groupID" = t.id), '[]')`,
    productCount: sql`select count(*) from product p where p."groupID" = t.id and p."deletedAt" is null`,
  },
});

/** A group's own lines, as it changes them. */
export const ownLineTable = table<LineRow>()({
  table: 'line',
  scope: {
    tenant: [['groupID']],
    owner: (actor, a) =>
      sql`(${col('groupID', a)} is null or ${col('groupID', a)} in (select lg.id from "group" as lg where lg."deletedAt" is null and ${scopeOf(groupTable as Table, actor, 'lg', 1)}))`,
  },
  soft: false,
  partOf: { table: 'group', column: 'groupID' },
  unique: { line_name: 'duplicated' },
});
/**
 * Lines of resolution: everybody has the same, and a group its own. Who assigns nodes to one holds its group: nobody waits for strangers who
 * use the same line.
 */
export const lineTable = table<LineRow>()({ ...ownLineTable, fixed: true, unkept: fixedLine });

export const productTable = table<ProductRow>()({
  table: 'product',
  scope: { parent: groupTable, column: 'groupID' },
  sort: [
    'name',
    'sellType',
    'trafficPrice',
    'trafficLimit',
    'siteLimit',
    'domainLimit',
    'defaultState',
    'createdAt',
    'updatedAt',
  ],
  filters: { keyword: like('name', 'memo'), sellType: eq('sellType') },
  refs: { groupID: groupTable },
  unique: { product_name: 'duplicated' },
  extra: {
    groupName: sql`select name from "group" g where g.id = t."groupID"`,
    zoneID: sql`select "zoneID" from "group" g where g.id = t."groupID"`,
    siteCount: sql`select count(*) from site s where s."productID" = t.id and s."deletedAt" is null`,
  },
});
