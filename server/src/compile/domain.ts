import type { DomainDocument } from '#contract/edge/document.ts';
import type { DomainRows } from './rows.ts';

/**
 * One domain → its document. Pure.
 * A site in force-backup mode serves from its backup origins alone (decisions, "force-backup"); there they lose the
 * backup mark, because "only when the main ones are down" would mean never.
 */
export function compileDomain({ domain, upstreams, revision, forceBackup }: DomainRows): DomainDocument {
  const chosen = upstreams.filter(row => row.enabled && (!forceBackup || row.backup)).sort((a, b) => a.id - b.id);
  return {
    v: 1,
    rev: revision,
    id: domain.id,
    site: domain.siteID,
    host: domain.domainName.toLowerCase(),
    enabled: domain.status,
    balance: domain.balance,
    originHost: domain.originHost,
    upstreams: chosen.map(row => ({
      address: row.address,
      port: row.port,
      weight: row.weight,
      backup: row.backup && !forceBackup,
      protocol: row.protocol,
      maxFails: row.maxFails,
      failTimeout: row.failTimeout,
    })),
  };
}
