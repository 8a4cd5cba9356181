import type * as z from 'zod/mini';
import type { SiteDNS } from '#contract/domain/site-dns.ts';
import { siteDNSMax } from '#contract/limits.ts';
import { table } from '../../kit/table.ts';
import { siteTable } from '../../site/tables.ts';

export type SiteDNSRow = z.output<typeof SiteDNS>;

export const siteDNSTable = table<SiteDNSRow>()({
  table: 'siteDNS',
  scope: { parent: siteTable, column: 'siteID' },
  sort: ['provider', 'createdAt', 'updatedAt'],
  most: siteDNSMax,
  forgets: true,
  sealed: ['credentials'],
});
