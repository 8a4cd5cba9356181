/** Rows out of PostgreSQL for the compiler: one statement per kind, whatever the number of entities. */
import { purgesPerSite } from '#contract/edge/document.ts';
import type { DomainRows, SiteRows, ZoneRows } from './rows.ts';

/** What a `pg` pool or client offers. A statement with a name is planned once per connection. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  query(statement: { name?: string; text: string; values?: unknown[] }): Promise<{ rows: unknown[] }>;
}

/** Newest purges looked at per site; an older one raises the generation of the whole site (`purgesBefore`). */
const purgesRead = purgesPerSite;

/** Live rows of a table that hang on the site, as a JSON array. */
const ofSite = (table: string, columns: string) => `coalesce((select jsonb_agg(to_jsonb(r)) from (
  select ${columns} from ${table} x where x."siteID" = s.id and x."deletedAt" is null) r), '[]')`;

/**
 * Sites that can be served: not deleted, with a product, its group and its zone. Who is missing from the answer is gone.
 * @returns by site id
 */
export async function loadSites(db: Queryable, ids: number[]): Promise<Map<number, SiteRows>> {
  const { rows } = await db.query({
    name: 'load-sites',
    text: `select s.id, g."zoneID",
       jsonb_build_object('id', s.id, 'status', s.status, 'expired', s.expired, 'revision', s.revision,
         'cacheGeneration', s."cacheGeneration", 'forceBackup', false) as site,
       ${ofSite('"cacheRule"', 'id, type, value, mode, duration, priority, enabled')} as "cacheRules",
       ${ofSite('whitelist', 'id, ips, urls, enabled')} as whitelists,
       ${ofSite('blacklist', 'id, ips, "blockType", enabled')} as blacklists,
       ${ofSite('"userAgent"', 'id, "urlRegex", "userAgentRegex", "blockType", enabled')} as "userAgents",
       -- A purge stands for ever: also when its task is no longer listed, what it purged must not come back.
       coalesce((select jsonb_agg(to_jsonb(r)) from (
         select id, type, url, generation from "purgeTask" x
         where x."siteID" = s.id and x.kind = 'clear' and x.generation > s."cacheGeneration"
         order by generation desc, id desc limit ${purgesRead}) r), '[]') as purges,
       (select x.generation from "purgeTask" x where x."siteID" = s.id and x.kind = 'clear' and x.generation > s."cacheGeneration"
         order by generation desc, id desc offset ${purgesRead} limit 1) as "purgesBefore"
     from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID"
     join zone z on z.id = g."zoneID"
     where s.id = any($1::bigint[]) and s."deletedAt" is null and z."deletedAt" is null`,
    values: [ids],
  });
  return new Map(
    (rows as (SiteRows & { id: string })[]).map(row => [
      Number(row.id),
      {
        zoneID: Number(row.zoneID),
        site: row.site,
        cacheRules: row.cacheRules,
        purges: row.purges,
        purgesBefore: Number(row.purgesBefore ?? 0),
        whitelists: row.whitelists,
        blacklists: row.blacklists,
        userAgents: row.userAgents,
      },
    ]),
  );
}

/** @returns by domain id; who is missing from the answer is gone */
export async function loadDomains(db: Queryable, ids: number[]): Promise<Map<number, DomainRows>> {
  const { rows } = await db.query({
    name: 'load-domains',
    text: `select d.id, g."zoneID", s.revision, false as "forceBackup",
       jsonb_build_object('id', d.id, 'siteID', d."siteID", 'domainName', d."domainName", 'status', d.status = 1,
         'balance', d.balance, 'originHost', d."originHost") as domain,
       coalesce((select jsonb_agg(to_jsonb(r)) from (
         select id, address, port, weight, backup, protocol, "maxFails", "failTimeout", enabled
         from upstream u where u."domainID" = d.id and u."deletedAt" is null) r), '[]') as upstreams
     from domain d join site s on s.id = d."siteID" join product p on p.id = s."productID"
     join "group" g on g.id = p."groupID" join zone z on z.id = g."zoneID"
     where d.id = any($1::bigint[]) and d."deletedAt" is null and s."deletedAt" is null and z."deletedAt" is null`,
    values: [ids],
  });
  return new Map(
    (rows as (DomainRows & { id: string })[]).map(row => [
      Number(row.id),
      {
        zoneID: Number(row.zoneID),
        revision: Number(row.revision),
        forceBackup: row.forceBackup,
        domain: row.domain,
        upstreams: row.upstreams,
      },
    ]),
  );
}

/** What is allowed to the origins of zone `z`: the operator's setting, the environment's and the demo's ranges, and who we are. */
export const originsOfZone = `jsonb_build_object(
  'operator', coalesce((select value from setting where key = 'originAllow' and "clientID" = z."clientID"), '[]'),
  'environment', coalesce((select value from setting where key = 'originEnvironment' and "clientID" is null), '[]')
    || coalesce((select value->'ranges' from setting where key = 'originDemo' and "clientID" is null and value->'zoneID' = to_jsonb(z.id)), '[]'),
  'own', coalesce((select value from setting where key = 'ownAddresses' and "clientID" is null), '[]'))`;

/** @returns by zone id; who is missing from the answer is gone */
export async function loadZones(db: Queryable, ids: number[]): Promise<Map<number, ZoneRows>> {
  const { rows } = await db.query({
    name: 'load-zones',
    text: `select jsonb_build_object('id', z.id, 'revision', z.revision) as zone, ${originsOfZone} as origins
     from zone z where z.id = any($1::bigint[]) and z."deletedAt" is null`,
    values: [ids],
  });
  return new Map((rows as ZoneRows[]).map(row => [row.zone.id, { zoneID: row.zone.id, zone: row.zone, origins: row.origins }]));
}

export const loaders = { domain: loadDomains, site: loadSites, zone: loadZones } as const;
