import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { resolutionLimits } from '#contract/limits.ts';
import type { Cname } from '#contract/resolution/cnames.ts';
import type { DnsSecondary } from '#contract/resolution/dns-secondaries.ts';
import type { DnsSetting } from '#contract/resolution/dns-setting.ts';
import type { VirtualNode, VirtualNodeRecord } from '#contract/resolution/virtual-nodes.ts';
import { col, eq, like, table } from '../kit/table.ts';
import { zoneTable } from '../node/tables.ts';
import type { Actor } from '../kit/actor.ts';
import type { Sql } from '../store/db.ts';

export type DnsSettingRow = z.output<typeof DnsSetting>;
export type CnameRow = z.output<typeof Cname>;

const ofOperator = (actor: Actor, a: string): Sql =>
  actor.area === 'client' ? sql`${col('clientID', a)} = ${actor.rootID}` : sql`false`;

export const dnsSettingTable = table<DnsSettingRow>()({
  table: 'dnsSetting',
  scope: { tenant: [['clientID']], owner: ofOperator },
  sort: ['createdAt', 'updatedAt'],
  sealed: ['credentials'],
  unique: { dns_setting_driver: 'duplicated' },
  extra: {
    zoneCount: sql`select count(*) from cname c where c."dnsSettingID" = t.id and c."deletedAt" is null`,
  },
});

export type DnsSecondaryRow = z.output<typeof DnsSecondary>;
export const dnsSecondaryTable = table<DnsSecondaryRow>()({
  table: 'dnsSecondary',
  scope: { tenant: [['clientID']], owner: ofOperator },
  sort: ['createdAt', 'updatedAt'],
  sealed: ['credentials'],
  unique: { dns_secondary_key: 'duplicated' },
});

/** Changes that have not arrived in a zone `c` of an operator: groups, and names of sites. */
export const groupsWaiting = (c: Sql): Sql => sql`select (select count(*) from "groupAnswer" ga
  join "group" g on g.id = ga."groupID" and g."deletedAt" is null and g."clientID" = (${c})."clientID"
  left join "cnameGroup" cg on cg."cnameID" = (${c}).id and cg."groupID" = ga."groupID"
  where cg.applied is distinct from ga.version)
  + (select count(*) from "cnameGroup" lg where lg."cnameID" = (${c}).id and not exists (select from "groupAnswer" la
    join "group" g on g.id = la."groupID" and g."deletedAt" is null and g."clientID" = (${c})."clientID" where la."groupID" = lg."groupID"))`;
export const namesWaiting = (c: Sql): Sql => sql`select count(*) from
  (select s.id, p."groupID" from site s join product p on p.id = s."productID" where s."clientID" = (${c})."clientID" and s."deletedAt" is null) s
  full join (select * from "cnameSite" where "cnameID" = (${c}).id) cs on cs."siteID" = s.id
  where s."groupID" is distinct from cs."groupID"`;

export const cnameTable = table<CnameRow>()({
  table: 'cname',
  scope: { tenant: [['clientID']], owner: ofOperator },
  sort: ['domainName', 'createdAt', 'updatedAt'],
  filters: { disabled: eq('disabled') },
  refs: { dnsSettingID: dnsSettingTable },
  unique: { cname_name: 'duplicated' },
  extra: {
    driver: sql`select s.driver from "dnsSetting" s where s.id = t."dnsSettingID"`,
    isOffered: sql`not t.disabled and not exists (select 1 from cname o where o."clientID" = t."clientID" and o.id < t.id and not o.disabled and o."deletedAt" is null)`,
    domainCount: sql`select count(*) from domain d join site s on s.id = d."siteID" join "cnameSeen" n on n."domainID" = d.id where s."clientID" = t."clientID" and s."deletedAt" is null and d."deletedAt" is null
      and d."cnameStatus" = 'active' and n.seen @> array[s."cnameKey" || '.' || t."domainName"]`,
    unprocessed: sql`(${groupsWaiting(sql`t`)}) + (${namesWaiting(sql`t`)})`,
  },
});
/** A zone `c` that is no more, and of which names of ours may stand at somebody else's: they are taken away from there. */
export const isLeaving: Sql = sql`c."deletedAt" is not null
  and exists (select from "dnsSetting" ls where ls.id = c."dnsSettingID" and ls."deletedAt" is null and ls.driver <> 'knot')
  and (exists (select from "cnameSite" lx where lx."cnameID" = c.id) or exists (select from "cnameGroup" lx where lx."cnameID" = c.id))`;

export const cnamesMost = resolutionLimits.cnamesMax;

export type VirtualNodeRow = z.output<typeof VirtualNode>;
/** As it is stored: what of its node is answered is reckoned (virtual-nodes.ts). */
export type VirtualNodeRecordRow = Omit<z.output<typeof VirtualNodeRecord>, 'type' | 'values'> & {
  target: string | null;
  addresses: string[];
};

const recordsOf = sql`"virtualNodeRecord" r where r."virtualNodeID" = t.id and r."deletedAt" is null`;
export const virtualNodeTable = table<VirtualNodeRow>()({
  table: 'virtualNode',
  scope: { parent: zoneTable, column: 'zoneID' },
  sort: ['name', 'createdAt', 'updatedAt'],
  filters: { keyword: like('name', 'memo'), zoneID: eq('zoneID') },
  unique: { virtual_node_name: 'duplicated' },
  extra: {
    zoneName: sql`select name from zone z where z.id = t."zoneID"`,
    kind: sql`case when exists (select 1 from ${recordsOf} and r.target is not null) then 'cname' when exists (select 1 from ${recordsOf}) then 'node' else 'empty' end`,
    recordCount: sql`select count(*) from ${recordsOf}`,
    lineCount: sql`select count(*) from "lineVirtualNode" lv where lv."virtualNodeID" = t.id`,
  },
});

export const virtualNodeRecordTable = table<VirtualNodeRecordRow>()({
  table: 'virtualNodeRecord',
  scope: { parent: virtualNodeTable, column: 'virtualNodeID' },
  sort: ['createdAt', 'updatedAt'],
  order: sql`t.id`,
  unique: { virtual_node_record_node: 'duplicated', virtual_node_record_cname: 'duplicated' },
  extra: {
    nodeName: sql`coalesce((select n.name from node n where n.id = t."nodeID"), '')`,
    status: sql`select n.status from node n where n.id = t."nodeID"`,
    addresses: sql`coalesce((select n.addresses || array(select s.address from "nodeSub" s where s."nodeID" = n.id and s."deletedAt" is null order by s.id) from node n where n.id = t."nodeID"), '{}')`,
  },
});
