import type { blockTypes } from '#contract/limits.ts';
import { byID, siteList } from '../source.ts';

export interface UserAgentRow {
  id: number;
  urlRegex: string;
  userAgentRegex: string;
  blockType: (typeof blockTypes)[number];
}
export const userAgents = siteList<'userAgents', UserAgentRow>(
  'userAgent',
  ['id', 'urlRegex', 'userAgentRegex', 'blockType'],
  (rows, head) => ({
    ...head,
    userAgents: rows
      .sort(byID)
      .map(({ id, urlRegex, userAgentRegex, blockType }) => ({ id, urlRegex, userAgentRegex, block: blockType })),
  }),
);
