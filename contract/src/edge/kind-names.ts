/**
 * Every kind of document by its name, in the order in which they are sent. Apart from their schemas (kinds/index.ts, which does not compile
 * without one of these): a form in the console needs the names alone.
 */
export const kindNames = [
  'purges',
  'cacheRules',
  'rates',
  'whitelists',
  'blacklists',
  'userAgents',
  'frequencies',
  'limitReqs',
  'errorPages',
  'module',
  'certificate',
  'challenge',
  'port',
  'site',
  'domain',
  'zone',
  'node',
] as const;
export type DocumentKind = (typeof kindNames)[number];
