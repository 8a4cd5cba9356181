import type { tlsChoices } from '#contract/domain/domains.ts';
import { type balances, type hashTypes, type originProtocols, type servedSchemes, tlsOptions } from '#contract/limits.ts';
import { askedAt, type PortMap } from '#contract/rules/schemes.ts';
import { compileDomainSettings, type SettingRow, settingsOfDomain } from '../settings.ts';
import { arrayOf, belowSites, byID, headOf, type Source } from '../source.ts';

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
  hash: (typeof hashTypes)[number];
  keepalive: boolean;
  enabled: boolean;
}
export interface DomainRow {
  siteID: number;
  /** the customer */
  ownerID: number;
  domainName: string;
  status: boolean;
  balance: (typeof balances)[number];
  originHost: string;
  forceBackup: boolean;
  upstreams: UpstreamRow[];
  certificateID: number | null;
  forceSSL: boolean;
  hsts: { enabled: boolean; maxAge: number; includeSubDomains: boolean; preload: boolean };
  scheme: (typeof servedSchemes)[number];
  portMap: PortMap;
  tlsOption: (typeof tlsChoices)[number];
  /** module type → module */
  modules: Record<string, number>;
  settings: SettingRow[];
}

function portsOf(origin: UpstreamRow, portMap: PortMap) {
  const [http, https] = [askedAt(origin, portMap, 'http'), askedAt(origin, portMap, 'https')];
  return { port: http.port, ...(https.port === http.port ? {} : { httpsPort: https.port }) };
}

/** Of an origin, what the document of its domain, or port, says; `asked`: at which ports. */
export const upstreamColumns = `id, address, port, weight, backup, protocol, "maxFails", "failTimeout", hash, keepalive, enabled`;
export const upstreamOf = <Asked extends { port: number }>(
  { address, weight, backup, protocol, maxFails, failTimeout, hash, keepalive }: UpstreamRow,
  asked: Asked,
) => ({
  address,
  ...asked,
  weight,
  backup,
  protocol,
  maxFails,
  failTimeout,
  ...(hash === 'none' ? {} : { hash }),
  ...(keepalive ? {} : { keepalive: false }),
});

/**
 * Those that visitors are served from. A site that is forced to its backups (decisions, "force-backup") is served from these alone, and they
 * lose the mark: "only when the main ones are down" would mean never. One that has none goes on as before: it would answer nothing.
 */
export function chosenOf(upstreams: readonly UpstreamRow[], forceBackup: boolean): UpstreamRow[] {
  const enabled = upstreams.filter(one => one.enabled).sort(byID);
  const backups = forceBackup ? enabled.filter(one => one.backup) : [];
  return backups.length ? backups.map(one => ({ ...one, backup: false })) : enabled;
}

export const domain: Source<'domain', DomainRow> = {
  text: belowSites(
    'domain',
    'd',
    `jsonb_build_object('siteID', d."siteID", 'ownerID', s."userID", 'domainName', d."domainName", 'status', d.status = 1, 'balance', d.balance,
       'originHost', d."originHost", 'forceBackup', s."forceBackup", 'forceSSL', d."forceSSL", 'hsts', d.hsts, 'scheme', d.scheme, 'portMap', d."portMap", 'tlsOption', d."tlsOption",
       'certificateID', (select c.id from certificate c where c.id = d."certificateID"
         and c."siteID" = d."siteID" and c."deletedAt" is null), 'upstreams', ${arrayOf(
           `select ${upstreamColumns} from upstream u where u."domainID" = d.id and u."deletedAt" is null`,
         )}, 'modules', coalesce((select jsonb_object_agg(a.type, m.id order by a.type) from "domainModule" a join module m on m.id = a."moduleID"
         where a."domainID" = d.id and m."siteID" = d."siteID" and m."deletedAt" is null and m.enabled), '{}'),
       'settings', ${settingsOfDomain})`,
  ),
  compile: loaded => {
    const { forceBackup, upstreams, certificateID, forceSSL, hsts, scheme, portMap, tlsOption, modules, settings, ...row } =
      loaded.row;
    return {
      ...headOf(loaded),
      site: row.siteID,
      owner: row.ownerID,
      host: row.domainName.toLowerCase(),
      enabled: row.status,
      balance: row.balance,
      originHost: row.originHost,
      upstreams: chosenOf(upstreams, forceBackup).map(one => upstreamOf(one, portsOf(one, portMap))),
      ...(certificateID === null ? {} : { certificate: certificateID }),
      ...(scheme === 'any' ? {} : { onlyScheme: scheme }),
      ...(tlsOption === tlsOptions[0] ? { onlyTLS13: true } : {}),
      ...(forceSSL ? { forceSSL } : {}),
      ...(hsts.enabled
        ? { hsts: { maxAge: hsts.maxAge, includeSubDomains: hsts.includeSubDomains, preload: hsts.preload } }
        : {}),
      ...(Object.keys(modules).length ? { modules } : {}),
      ...compileDomainSettings(settings),
    };
  },
};
