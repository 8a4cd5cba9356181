/** Where people reach the console: what stands before `/user/…` in a mail. */
import { sql } from 'kysely';
import { settingValue } from '#contract/system/settings.ts';
import { type Db, row, rows } from '../store/db.ts';
import type { Services } from './services.ts';

/** The operator's own address, else that of the installation. Never with a slash at its end. */
export async function consoleURL(db: Db, services: Pick<Services, 'publicURL'>, clientID: number | null): Promise<string> {
  const found =
    clientID === null
      ? undefined
      : await row<{ value: unknown }>(db, sql`select value from setting where key = 'outgoingURL' and "clientID" = ${clientID}`);
  return (settingValue('outgoingURL', found?.value) || services.publicURL).replace(/\/$/, '');
}

const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);
/**
 * Origins (RFC 6454) at which a host shows the console to the people of this operator (null: the vendor's): the installation's address, which
 * this machine also calls localhost, the operator's own, hostnames of its branding. None: the host is nobody's, or another operator's.
 */
export async function consoleOrigins(
  db: Db,
  services: Pick<Services, 'publicURL'>,
  clientID: number | null,
  host: string,
): Promise<string[]> {
  const own = new URL(services.publicURL);
  const found: string[] = [];
  if (own.hostname === host) found.push(own.origin);
  else if (host === 'localhost' && loopback.has(own.hostname))
    found.push(`${own.protocol}//localhost${own.port && `:${own.port}`}`);
  if (clientID === null) return found;
  const address = URL.parse(await consoleURL(db, services, clientID));
  if (address?.hostname === host) found.push(address.origin);
  const brand = await row(
    db,
    sql`select 1 from brand where "clientID" = ${clientID} and hostname = ${host} and "deletedAt" is null limit 1`,
  );
  // a brand says no port: the usual one of a proxy in front, or ours
  if (brand) found.push(`https://${host}`, ...(own.port ? [`https://${host}:${own.port}`] : []));
  return [...new Set(found)];
}

/** The operator whose host this is; of the installation's own it is its owner. undefined: nobody's. */
export async function operatorAt(db: Db, services: Pick<Services, 'publicURL'>, host: string): Promise<number | undefined> {
  const own = new URL(services.publicURL).hostname;
  const isOwn = host === own || (host === 'localhost' && loopback.has(own));
  const found = await row<{ id: number }>(
    db,
    sql`select a.id from account a where a.auth = 'client' and a."isRoot" and a."deletedAt" is null and (${isOwn}
          or exists (select from brand b where b."clientID" = a.id and b.hostname = ${host} and b."deletedAt" is null)
          or exists (select from setting s where s."clientID" = a.id and s.key = 'outgoingURL'
            and lower(substring(s.value #>> '{}' from '^https?://([^/:]+|\\[[^]]+\\])')) = ${host}))
        order by a.id limit 1`,
  );
  return found?.id;
}
/** Every origin at which people of this operator may come to the console. */
export async function allOrigins(db: Db, services: Pick<Services, 'publicURL'>, clientID: number): Promise<string[]> {
  const brands = await rows<{ hostname: string }>(
    db,
    sql`select hostname from brand where "clientID" = ${clientID} and hostname is not null and "deletedAt" is null order by 1`,
  );
  const hosts = [new URL(await consoleURL(db, services, clientID)).hostname, ...brands.map(one => one.hostname)];
  const found = await Promise.all(hosts.map(host => consoleOrigins(db, services, clientID, host)));
  return [...new Set(found.flat())];
}
