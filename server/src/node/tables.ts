import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { portLimits } from '#contract/limits.ts';
import type { ZonePort } from '#contract/node/zone-ports.ts';
import type { Group, Line, Product, Zone } from '#contract/node/zones.ts';
import type { Node } from '#contract/node/nodes.ts';
import type { Actor } from '../kit/actor.ts';
import { col, eq, like, scopeOf, type Table, table } from '../kit/table.ts';
import type { Sql } from '../store/db.ts';

export type ZonePortRow = z.output<typeof ZonePort>;
export type ZoneRow = z.output<typeof Zone>;
export type NodeRow = z.output<typeof Node> & { clientID: number };
export type LineRow = z.output<typeof Line>;
export type GroupRow = z.output<typeof Group>;
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
  extra: {
    zoneName: sql`select name from zone z where z.id = t."zoneID"`,
    // from the analytics store (nodes.ts)
    aside: sql`null`,
    behind: sql`select count(*) from publication p where p."zoneID" = t."zoneID" and p.seq > t."appliedSeq"`,
  },
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
export const lineTable = table<LineRow>()({ ...ownLineTable, fixed: true });

export const productTable = table<ProductRow>()({
  table: 'product',
  scope: { parent: groupTable, column: 'groupID' },
  sort: ['name', 'sellType', 'trafficPrice', 'siteLimit', 'domainLimit', 'defaultState', 'createdAt', 'updatedAt'],
  filters: { keyword: like('name', 'memo'), sellType: eq('sellType') },
  refs: { groupID: groupTable },
  unique: { product_name: 'duplicated' },
  extra: {
    groupName: sql`select name from "group" g where g.id = t."groupID"`,
    zoneID: sql`select "zoneID" from "group" g where g.id = t."groupID"`,
    siteCount: sql`select count(*) from site s where s."productID" = t.id and s."deletedAt" is null`,
  },
});
