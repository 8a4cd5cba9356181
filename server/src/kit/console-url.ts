/** Where people reach the console: what stands before `/user/…` in a mail. */
import { sql } from 'kysely';
import { settingValue } from '#contract/system/settings.ts';
import { type Db, row } from '../store/db.ts';
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
