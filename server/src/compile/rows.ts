/**
 * What the compiler reads: plain rows, named as their columns. `load.ts` fills them from PostgreSQL; golden files
 * write them by hand. Nothing here knows SQL, so the same rows give the same document everywhere.
 */
import type { PolicyFacts } from '#contract/rules/address-policy.ts';
import type { balances, blockTypes, cacheModes, cacheRuleTypes, originProtocols, siteStates } from '#contract/edge/document.ts';

export interface UpstreamRow {
  id: number;
  /** IP address or host name */
  address: string;
  port: number;
  weight: number;
  backup: boolean;
  protocol: (typeof originProtocols)[number];
  maxFails: number;
  /** seconds */
  failTimeout: number;
  enabled: boolean;
}

export interface DomainRows {
  zoneID: number;
  revision: number;
  forceBackup: boolean;
  domain: {
    id: number;
    siteID: number;
    domainName: string;
    status: boolean;
    balance: (typeof balances)[number];
    originHost: string;
  };
  upstreams: UpstreamRow[];
}

export interface CacheRuleRow {
  id: number;
  type: (typeof cacheRuleTypes)[number];
  value: string;
  mode: (typeof cacheModes)[number];
  /** minutes */
  duration: number;
  priority: number;
  enabled: boolean;
}

/** Purge task types: 1 URL, 2 prefix, 3 host on the wire (decisions, "Units"), and 0: everything of the site. */
export interface PurgeRow {
  id: number;
  type: 0 | 1 | 2 | 3;
  /** what the customer typed: with or without a scheme */
  url: string;
  generation: number;
}

export interface ListRow {
  id: number;
  enabled: boolean;
}

export interface SiteRows {
  zoneID: number;
  site: {
    id: number;
    status: (typeof siteStates)[number];
    expired: Date | string | null;
    revision: number;
    cacheGeneration: number;
    forceBackup: boolean;
  };
  cacheRules: CacheRuleRow[];
  purges: PurgeRow[];
  /** generation of the newest purge that is not in `purges`, because there are too many; 0: all are there */
  purgesBefore: number;
  whitelists: (ListRow & { ips: string[]; urls: string[] })[];
  blacklists: (ListRow & { ips: string[]; blockType: (typeof blockTypes)[number] })[];
  userAgents: (ListRow & { urlRegex: string; userAgentRegex: string; blockType: (typeof blockTypes)[number] })[];
}

export interface ZoneRows {
  zoneID: number;
  zone: { id: number; revision: number };
  /** where its origins may lie */
  origins: PolicyFacts;
}
