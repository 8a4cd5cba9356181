/** The driver of a setting. */
import { sql } from 'kysely';
import { dnsMinTTLOf, type dnsTypes, type tsigAlgorithms } from '#contract/limits.ts';
import { AddressPolicy, type PolicyFacts } from '#contract/rules/address-policy.ts';
import { Sealed } from '../kit/sealed.ts';
import type { Services } from '../kit/services.ts';
import { recordApiOf } from '../domain/dns/accounts.ts';
import { problemOf } from '../domain/dns/driver.ts';
import { type Db, row, type Sql } from '../store/db.ts';
import { AccountStore } from './account.ts';
import type { NameDriver } from './driver.ts';
import { ForeignDriver, type RecordStore } from './foreign.ts';
import { KnotDriver } from './knot.ts';
import { PowerDns } from './powerdns.ts';
import { UpdatedServer } from './rfc2136.ts';

/** Who answers for names, with the credentials still sealed. */
export interface ServerSetting {
  driver: (typeof dnsTypes)[number];
  server: string;
  keyName: string;
  algorithm: (typeof tsigAlgorithms)[number];
  credentials: string | null;
  /** where the platform may connect for its operator */
  facts: PolicyFacts;
}

/** Where the platform may connect for an operator. */
const factsOf = (clientID: Sql): Sql => sql`jsonb_build_object(
    'operator', coalesce((select value from setting where key = 'originAllow' and "clientID" = ${clientID}), '[]'),
    'environment', coalesce((select value from setting where key = 'originEnvironment' and "clientID" is null), '[]'),
    'own', coalesce((select value from setting where key = 'ownAddresses' and "clientID" is null), '[]'))`;
export async function operatorPolicy(db: Db, clientID: number): Promise<AddressPolicy> {
  const found = await row<{ facts: PolicyFacts }>(db, sql`select ${factsOf(sql`${clientID}::bigint`)} as facts`);
  return new AddressPolicy(found!.facts);
}

/** Columns of a row `s` of "dnsSetting" that make a `ServerSetting`. */
export const settingColumns: Sql = sql`jsonb_build_object('driver', s.driver, 'server', s.server, 'keyName', s."keyName", 'algorithm', s.algorithm,
  'credentials', s.credentials, 'facts', ${factsOf(sql`s."clientID"`)})`;

export type DriverServices = Partial<Pick<Services, 'geo' | 'knot' | 'sealing' | 'dns'>>;

/**
 * Of a provider: names written between two notes of how far it is, milliseconds between two questions (1,200 in five minutes; five a second). Where
 * each name is a question of its own, groups wait for all of them.
 */
const paceOf = {
  cloudflare: { namesMost: 2000, gapMs: 250 },
  dnspod: { namesMost: 100, gapMs: 100 },
  route53: { namesMost: 2000, gapMs: 220 },
  aliyun: { namesMost: 100, gapMs: 100 },
} as const;
/** Where all accounts of an operator's kind are asked over the network, and counted. */
const accountWatchMs = 600_000;
const patience = 3;

/** Undefined: this installation has none of the kind. @throws DnsProblem where it has no credentials */
export function driverOf({ geo, knot, sealing, dns }: DriverServices, setting: ServerSetting): NameDriver | undefined {
  const { driver, server, keyName, algorithm } = setting;
  const opened = (table: string, stored: string | null) =>
    sealing ? new Sealed(table, ['credentials'], sealing).open('credentials', stored) : null;
  if (driver === 'knot') return knot && new KnotDriver(knot, stored => opened('dnsSecondary', stored), geo);
  const secret = opened('dnsSetting', setting.credentials);
  if (!secret) throw problemOf('credentials', { code: 'noCredentials' });
  const policy = new AddressPolicy(setting.facts);
  const foreign = (store: RecordStore, namesMost = 2000, watchMs?: number) =>
    new ForeignDriver(store, { minTTL: dnsMinTTLOf[driver], namesMost }, watchMs);
  switch (driver) {
    case 'rfc2136':
      return foreign(new UpdatedServer(server, { name: keyName, algorithm, secret: Buffer.from(secret, 'base64') }, { policy }));
    case 'powerdns':
      return foreign(new PowerDns(server, secret, { policy }));
    case 'cloudflare':
    case 'dnspod':
    case 'route53':
    case 'aliyun': {
      const { namesMost, gapMs } = paceOf[driver];
      const api = recordApiOf(dns ? { dns } : {}, driver, policy, keyName, secret, { patience, gapMs });
      return foreign(new AccountStore(api), namesMost, accountWatchMs);
    }
  }
}
