import { byID, siteList } from '../source.ts';

export interface WhitelistRow {
  id: number;
  ips: string[];
  urls: string[];
}
export const whitelists = siteList<'whitelists', WhitelistRow>('whitelist', ['id', 'ips', 'urls'], (rows, head) => ({
  ...head,
  whitelists: rows.sort(byID).map(({ id, ips, urls }) => ({ id, ips, urls })),
}));
