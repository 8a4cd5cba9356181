/** DNS accounts of a site as they are used: opened, asked for their zones, and what a provider's trouble is in words. */
import { sql } from 'kysely';
import type { dnsProviders, tsigAlgorithms } from '#contract/limits.ts';
import type { AddressPolicy } from '#contract/rules/address-policy.ts';
import { OutboundError, type OutboundProblem } from '../../kit/outbound.ts';
import { Sealed } from '../../kit/sealed.ts';
import type { Services } from '../../kit/services.ts';
import { type Db, rows, type Sql } from '../../store/db.ts';
import { originPolicy } from '../../system/origins.ts';
import { Aliyun } from './aliyun.ts';
import { Cloudflare } from './cloudflare.ts';
import { DnsPod } from './dnspod.ts';
import { type DnsDriver, DnsProblem, type DnsTrouble, problemOf, type Zone } from './driver.ts';
import { type ApiOptions, apiOf } from './http.ts';
import { type RecordApi, SiteNames } from './records.ts';
import { Rfc2136 } from './rfc2136.ts';
import type { DnsSaid } from './said.ts';
import { Route53 } from './route53.ts';

export interface DnsAccount {
  id: number;
  siteID: number;
  provider: (typeof dnsProviders)[number];
  server: string;
  keyName: string;
  algorithm: (typeof tsigAlgorithms)[number];
  credentials: string | null;
  rowVersion: number;
}

/** With their credentials still sealed, in the order in which they were made. */
export const accountsWhere = (db: Db, condition: Sql): Promise<DnsAccount[]> =>
  rows<DnsAccount>(
    db,
    sql`select id, "siteID", provider, server, "keyName", algorithm, credentials, "rowVersion" from "siteDNS" where ${condition} order by id`,
  );
/** The client of a provider's API. `id`: of the token or the key; where a token has none, ''. */
export function recordApiOf(
  services: Pick<Services, 'dns'>,
  provider: RecordProvider,
  policy: AddressPolicy,
  id: string,
  secret: string,
  options: ApiOptions = {},
): RecordApi {
  const api = apiOf(services, provider, policy, options);
  switch (provider) {
    case 'cloudflare':
      return new Cloudflare(api, secret);
    case 'dnspod':
      return new DnsPod(api, id, secret);
    case 'route53':
      return new Route53(api, id, secret);
    case 'aliyun':
      return new Aliyun(api, id, secret);
  }
}
export type RecordProvider = Exclude<DnsAccount['provider'], 'rfc2136'>;

export const accountsOf = (db: Db, siteID: number) => accountsWhere(db, sql`"siteID" = ${siteID} and "deletedAt" is null`);

/** What it asks goes where the site's origins may lie, and nowhere else. @throws DnsProblem where it has no credentials */
export async function driverOf(services: Services, account: DnsAccount): Promise<DnsDriver> {
  const { db } = services.database;
  const secret = new Sealed('siteDNS', ['credentials'], services.sealing).open('credentials', account.credentials);
  if (!secret) throw new DnsProblem('credentials', 'the DNS account has no credentials');
  const policy = await originPolicy(db, account.siteID);
  const { provider, keyName } = account;
  switch (provider) {
    case 'rfc2136': {
      const key = { name: keyName, algorithm: account.algorithm, secret: Buffer.from(secret, 'base64') };
      return new Rfc2136(account.server, key, { policy });
    }
    case 'cloudflare':
    case 'dnspod':
    case 'route53':
    case 'aliyun':
      return new SiteNames(recordApiOf(services, provider, policy, keyName, secret));
  }
}

const zonesKeptMs = 60_000;
const accountsKept = 500;
/** What an account has is asked once for all names that are proven in a minute. */
const known = new Map<string, { at: number; zones: Map<string, Zone | undefined> }>();

/** The zones of an account that these names lie in. @param fresh asks whatever was said a moment ago */
export async function zonesOf(
  services: Services,
  account: DnsAccount,
  names: readonly string[],
  fresh = false,
): Promise<Map<string, Zone>> {
  const key = `${account.id}.${account.rowVersion}`;
  let kept = known.get(key);
  if (fresh || !kept || performance.now() - kept.at > zonesKeptMs) kept = { at: performance.now(), zones: new Map() };
  const missing = names.filter(name => !kept.zones.has(name));
  if (missing.length || fresh) {
    const found = await (await driverOf(services, account)).zones(missing);
    for (const name of missing) kept.zones.set(name, found.get(name));
  }
  known.delete(key);
  known.set(key, kept);
  if (known.size > accountsKept) known.delete(known.keys().next().value!);
  return new Map(
    names.flatMap(name => {
      const zone = kept.zones.get(name);
      return zone ? [[name, zone] as const] : [];
    }),
  );
}

const codeOf: Readonly<Record<OutboundProblem, DnsSaid['code']>> = {
  refused: 'forbidden',
  notURL: 'forbidden',
  notResolved: 'unresolved',
  timeout: 'silent',
  tooLarge: 'tooLarge',
  tooManyRedirects: 'unreached',
  connection: 'unreached',
};
/** In words for the log, and for people; `said` undefined: it is a provider's alone. */
export interface Told {
  why: string;
  said: DnsSaid | undefined;
  retrySeconds?: number | undefined;
}
/** What went wrong between us and a provider. @throws what is nothing of the kind */
export function troubleOf(error: unknown): Told & { trouble: DnsTrouble } {
  if (error instanceof DnsProblem) {
    const { trouble, message, said, retrySeconds } = error;
    return { trouble, why: message, said, retrySeconds };
  }
  if (error instanceof OutboundError) {
    const { said, message } = problemOf('away', { code: codeOf[error.problem], bounds: { why: error.message } });
    return { trouble: error.problem === 'refused' || error.problem === 'notURL' ? 'refused' : 'away', why: message, said };
  }
  throw error;
}
