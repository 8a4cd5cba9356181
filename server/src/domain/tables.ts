import type * as z from 'zod/mini';
import { upstreamsPerDomain } from '#contract/edge/kinds/domain.ts';
import type { Domain, Upstream } from '#contract/domain/domains.ts';
import type { Port, PortUpstream } from '#contract/domain/ports.ts';
import { portLimits } from '#contract/limits.ts';
import { domainHeaders } from '#contract/module/custom-headers.ts';
import { dates, eq, like, oneOf, overlaps, table } from '../kit/table.ts';
import { siteTable } from '../site/tables.ts';
import { sql } from 'kysely';

export type DomainRow = z.output<typeof Domain> & {
  /** with whose word a copy has its name (claims.ts) */
  claimID: number | null;
};
export type UpstreamRow = z.output<typeof Upstream>;

export const domainTable = table<DomainRow>()({
  table: 'domain',
  scope: { parent: siteTable, column: 'siteID' },
  sort: ['domainName', 'status', 'balance', 'cnameStatus', 'certStatus', 'forceSSL', 'createdAt', 'updatedAt'],
  filters: {
    keywords: like('domainName'),
    tags: overlaps('tags'),
    cnameStatuses: oneOf('cnameStatus'),
    certStatus: eq('certStatus'),
    forceSSL: eq('forceSSL'),
    ...dates,
  },
  unique: { domain_name: 'duplicateDomains' },
  edge: { kind: 'domain', column: 'id' },
  extra: {
    // of several zones the oldest that is offered
    cname: sql`coalesce((select s."cnameKey" || '.' || c."domainName" from site s join cname c on c."clientID" = s."clientID" where s.id = t."siteID"
      and not c.disabled and c."deletedAt" is null order by c.id limit 1), '')`,
    cnameSince: sql`(select since from "cnameSeen" c where c."domainID" = t.id)`,
    cnameSeen: sql`coalesce((select seen from "cnameSeen" c where c."domainID" = t.id), '{}')`,
    zoneServers: sql`coalesce((select "nameServers" from "cnameSeen" c where c."domainID" = t.id), '{}')`,
    cnameCheckedAt: sql`(select "seenAt" from "cnameSeen" c where c."domainID" = t.id)`,
    cnameUnseen: sql`(select nullif(unseen, '') from "cnameSeen" c where c."domainID" = t.id)`,
    upstreamCount: sql`select count(*) from upstream u where u."domainID" = t.id and u."deletedAt" is null`,
    moduleIDs: sql`select coalesce(jsonb_object_agg(a.type, a."moduleID"), '{}') from "domainModule" a where a."domainID" = t.id`,
    customHeaders: sql`select jsonb_build_object('request', coalesce(x.value->'request', '[]'), 'response', coalesce(x.value->'response', '[]'))
      from (select 1) one left join "scopedSetting" x on x.name = ${domainHeaders.name} and x."domainID" = t.id`,
  },
});

export type PortRow = z.output<typeof Port>;

export const portTable = table<PortRow>()({
  table: 'port',
  scope: { parent: siteTable, column: 'siteID' },
  sort: ['port', 'scheme', 'createdAt', 'updatedAt'],
  order: sql`t.port`,
  most: portLimits.perSiteMax,
  unique: { port_number: 'duplicated' },
  edge: { kind: 'port', column: 'id' },
  extra: {
    upstreamCount: sql`select count(*) from "portUpstream" u where u."portID" = t.id and u."deletedAt" is null`,
  },
});

export const portUpstreamTable = table<z.output<typeof PortUpstream>>()({
  table: 'portUpstream',
  scope: { parent: portTable, column: 'portID' },
  sort: ['address', 'port', 'weight', 'protocol', 'createdAt', 'updatedAt'],
  order: sql`t.id`,
  filters: { keyword: like('address') },
  most: upstreamsPerDomain,
  partOf: { table: 'port', column: 'portID' },
  unique: { port_upstream_address: 'duplicated' },
  edge: { kind: 'port', column: 'portID' },
});

export const upstreamTable = table<UpstreamRow>()({
  table: 'upstream',
  scope: { parent: domainTable, column: 'domainID' },
  sort: ['address', 'port', 'weight', 'protocol', 'createdAt', 'updatedAt'],
  order: sql`t.id`,
  most: upstreamsPerDomain,
  partOf: { table: 'domain', column: 'domainID' },
  unique: { upstream_address: 'duplicated' },
  edge: { kind: 'domain', column: 'domainID' },
});
