/**
 * What the compiler reads: plain rows, named as their columns. `load.ts` fills them from PostgreSQL; golden files
 * write them by hand. Nothing here knows SQL, so the same rows give the same document everywhere.
 */
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
  /** null: the domain hangs on nothing that is served, so its document is withdrawn */
  zoneID: number | null;
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

/** Purge task types on the wire (decisions, "Units"): 1 URL, 2 prefix, 3 host. */
export interface PurgeRow {
  id: number;
  type: 1 | 2 | 3;
  /** what the customer typed: with or without a scheme */
  url: string;
  generation: number;
}

export interface ListRow {
  id: number;
  enabled: boolean;
}

export interface SiteRows {
  zoneID: number | null;
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
  whitelists: (ListRow & { ips: string[]; urls: string[] })[];
  blacklists: (ListRow & { ips: string[]; blockType: (typeof blockTypes)[number] })[];
  userAgents: (ListRow & { urlRegex: string; userAgentRegex: string; blockType: (typeof blockTypes)[number] })[];
}

export interface ZoneRows {
  zone: { id: number; revision: number };
}
