import type { blockTypes } from '#contract/limits.ts';
import { byID, siteList } from '../source.ts';

export interface BlacklistRow {
  id: number;
  ips: string[];
  blockType: (typeof blockTypes)[number];
}
export const blacklists = siteList<'blacklists', BlacklistRow>('blacklist', ['id', 'ips', 'blockType'], (rows, head) => ({
  ...head,
  blacklists: rows.sort(byID).map(({ id, ips, blockType }) => ({ id, ips, block: blockType })),
}));
