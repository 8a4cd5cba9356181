import { blacklists } from '#contract/protect/blacklists.ts';
import { crudOf, implement } from '../kit/implement.ts';
import { table } from '../kit/table.ts';
import { siteTable } from '../site/tables.ts';

export const blacklistTable = table<Record<string, unknown>>()({
  table: 'blacklist',
  scope: { parent: siteTable, column: 'siteID' },
  sort: ['createdAt', 'updatedAt'],
  edge: { kind: 'site', column: 'siteID' },
});
export const blacklistCalls = implement(blacklists, crudOf('/blacklists', blacklistTable));
