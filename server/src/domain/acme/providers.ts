/** Which authorities there are, who we are at them, and how they are asked. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import type { acmeProviders } from '#contract/limits.ts';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import type { Context } from '../../kit/context.ts';
import { outbound } from '../../kit/outbound.ts';
import { Sealed } from '../../kit/sealed.ts';
import type { Services } from '../../kit/services.ts';
import { type Db, row } from '../../store/db.ts';
import { readSetting } from '../../system/settings.ts';
import { zeroSSLOf } from '../../system/zero-ssl.ts';
import { Acme } from './client.ts';

export type Provider = (typeof acmeProviders)[number];

const directories = {
  letsEncrypt: 'https://acme-v02.api.letsencrypt.org/directory',
  zeroSSL: 'https://acme.zerossl.com/v2/DV90',
} as const;
const timeoutMs = 8000;
const bytesMax = 300_000;

/** The one that is asked for, or else the usual one. @throws where it is not set up */
export async function chosenProvider(ctx: Context, clientID: number, asked: Provider | undefined): Promise<Provider> {
  const { acme, sealing } = ctx.services;
  const bound = asked === 'zeroSSL' || (asked === undefined && !acme) ? await zeroSSLOf(ctx.db, sealing, clientID) : undefined;
  const chosen = asked ?? (acme ? 'private' : bound ? 'zeroSSL' : 'letsEncrypt');
  if (chosen === 'zeroSSL' && !bound) throw failFields([{ path: 'provider', rule: 'zeroSSLUnset' }]);
  if (chosen === 'private' && !acme) throw failFields([{ path: 'provider', rule: 'invalidChoice' }]);
  return chosen;
}

const sealedKey = ({ sealing }: Pick<Services, 'sealing'>, table: 'acmeAccount' | 'acmeOrder') =>
  new Sealed(table, ['privateKey'], sealing);
export const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
export const sealKey = (services: Pick<Services, 'sealing'>, table: 'acmeAccount' | 'acmeOrder', key: KeyObject): string =>
  String(sealedKey(services, table).seal({ privateKey: key.export({ type: 'pkcs8', format: 'pem' }) })['privateKey']);
export const openKey = (services: Pick<Services, 'sealing'>, table: 'acmeAccount' | 'acmeOrder', stored: string): KeyObject =>
  createPrivateKey(sealedKey(services, table).open('privateKey', stored)!);

/** The operator's account at the authority; a new one has a key, and is registered with the first order. */
export async function accountOf(
  { db, services }: Pick<Context, 'db' | 'services'>,
  clientID: number,
  provider: Provider,
): Promise<number> {
  const directory = provider === 'private' ? services.acme?.directory : directories[provider];
  if (!directory) throw failFields([{ path: 'provider', rule: 'invalidChoice' }]);
  const bound = provider === 'zeroSSL' ? await zeroSSLOf(db, services.sealing, clientID) : undefined;
  if (provider === 'zeroSSL' && !bound) throw failFields([{ path: 'provider', rule: 'zeroSSLUnset' }]);
  const kid = bound?.kid ?? '';
  const known = sql`select id from "acmeAccount" where "clientID" = ${clientID} and directory = ${directory} and "eabKID" = ${kid}`;
  const found = await row<{ id: number }>(db, known);
  if (found) return found.id;
  await sql`insert into "acmeAccount" ("clientID", directory, "eabKID", "privateKey")
    values (${clientID}, ${directory}, ${kid}, ${sealKey(services, 'acmeAccount', newKey())})
    on conflict ("clientID", directory, "eabKID") do nothing`.execute(db);
  return (await row<{ id: number }>(db, known))!.id;
}

/** Clients of this process: each knows its directory and has nonces. */
const clients = new Map<number, { acme: Acme; directory: string }>();
const clientsMost = 200;

/**
 * Ready to order, with its account's URL. What it fetches is judged as every URL that the platform fetches: an authority on a private address
 * or on loopback is one that BREAKWATER_ORIGIN_ALLOW names.
 */
export async function clientOf(services: Services, accountID: number): Promise<Acme> {
  const { db } = services.database;
  const account = await row<{ clientID: number; directory: string; eabKID: string; url: string; privateKey: string }>(
    db,
    sql`select "clientID", directory, "eabKID", url, "privateKey" from "acmeAccount" where id = ${accountID}`,
  );
  if (!account) throw new Error(`the account ${accountID} at an authority is gone`);
  const { clientID, directory, eabKID, url } = account;
  let client = clients.get(accountID);
  if (!client || client.directory !== directory) {
    const ca = directory === services.acme?.directory ? services.acme.ca : undefined;
    const acme = new Acme(directory, openKey(services, 'acmeAccount', account.privateKey), async (at, request) => {
      const policy = new AddressPolicy({
        operator: [],
        environment: await readSetting(db, null, 'originEnvironment'),
        own: await readSetting(db, null, 'ownAddresses'),
      });
      return outbound(at, { ...request, policy, timeoutMs, bytesMax, ...(ca ? { ca } : {}) });
    });
    clients.delete(accountID);
    clients.set(accountID, (client = { acme, directory }));
    if (clients.size > clientsMost) clients.delete(clients.keys().next().value!);
  }
  const { acme } = client;
  acme.account ??= url || undefined;
  if (acme.account === undefined) {
    const bound = eabKID ? await zeroSSLOf(db, services.sealing, clientID) : undefined;
    const made = await acme.register(bound?.kid === eabKID ? bound : undefined);
    await sql`update "acmeAccount" set url = ${made} where id = ${accountID}`.execute(db);
  }
  return acme;
}

/** The operator whose site it is. */
export async function operatorOf(db: Db, siteID: number): Promise<number | undefined> {
  return (await row<{ clientID: number }>(db, sql`select "clientID" from site where id = ${siteID}`))?.clientID;
}
