/**
 * The documents a node receives. Pure data: the server compiles rows into them, the agent validates them and hands them to nginx as
 * records. Each is a whole state with its revision; each kind is declared in a file of `kinds/`.
 */
import type { DocumentKind, DocumentOf } from './kinds/index.ts';

export { balances, blockTypes, cacheModes, cacheRuleTypes, originProtocols } from '../limits.ts';
export { siteStates } from '../states.ts';
export { purgesPerSite } from './kinds/purges.ts';

export type DomainDocument = DocumentOf<'domain'>;
export type SiteDocument = DocumentOf<'site'>;
export type PurgesDocument = DocumentOf<'purges'>;
export type ZoneDocument = DocumentOf<'zone'>;
export type EdgeDocument = { [K in DocumentKind]: DocumentOf<K> }[DocumentKind];
