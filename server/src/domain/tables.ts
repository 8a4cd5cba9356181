import type * as z from 'zod/mini';
import type { Domain, Upstream } from '#contract/domain/domains.ts';
import { dates, like, overlaps, table } from '../kit/table.ts';
import { siteTable } from '../site/tables.ts';
import { sql } from 'kysely';

export type DomainRow = z.output<typeof Domain>;
export type UpstreamRow = z.output<typeof Upstream>;

export const domainTable = table<DomainRow>()({
  table: 'domain',
  scope: { parent: siteTable, column: 'siteID' },
  sort: ['domainName', 'status', 'balance', 'createdAt', 'updatedAt'],
  filters: { keywords: like('domainName'), tags: overlaps('tags'), ...dates },
  unique: { domain_name: 'duplicateDomains' },
  edge: { kind: 'domain', column: 'id' },
  extra: { upstreamCount: sql`select count(*) from upstream u where u."domainID" = t.id and u."deletedAt" is null` },
});

export const upstreamTable = table<UpstreamRow>()({
  table: 'upstream',
  scope: { parent: domainTable, column: 'domainID' },
  sort: ['address', 'port', 'weight', 'protocol', 'createdAt', 'updatedAt'],
  order: sql`t.id`,
  most: 100,
  unique: { upstream_address: 'duplicated' },
  edge: { kind: 'domain', column: 'domainID' },
});
