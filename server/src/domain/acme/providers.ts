/** Which authorities there are, who we are at them, and how they are asked. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import { acmeProviders } from '#contract/limits.ts';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import type { Context } from '../../kit/context.ts';
import { outbound } from '../../kit/outbound.ts';
import { Sealed } from '../../kit/sealed.ts';
import type { Services } from '../../kit/services.ts';
import { type Db, row } from '../../store/db.ts';
import { readSetting } from '../../system/settings.ts';
import { zeroSSLOf } from '../../system/zero-ssl.ts';
import { Acme, type Fetch, type Remembered, type RenewalWindow, renewalWindow } from './client.ts';

export type Provider = (typeof acmeProviders)[number];

const directories = {
  letsEncrypt: 'https://acme-v02.api.letsencrypt.org/directory',
  zeroSSL: 'https://acme.zerossl.com/v2/DV90',
} as const;
/** As people write them. */
export const authorityNames = { letsEncrypt: 'Let’s Encrypt', zeroSSL: 'ZeroSSL' } as const;
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

const directoryOf = (services: Pick<Services, 'acme' | 'acmeAt'>, provider: Provider) =>
  provider === 'private' ? services.acme?.directory : (services.acmeAt?.[provider] ?? directories[provider]);

/**
 * Who is asked where the first cannot or will not: the other public one, of an operator who has credentials of ZeroSSL and so is at both.
 * An authority of one's own has no other: its names may be nobody else's to know.
 */
export async function secondOf(
  { db, services }: Pick<Context, 'db' | 'services'>,
  { siteID, provider }: { siteID: number; provider: Provider },
): Promise<Exclude<Provider, 'private'> | undefined> {
  if (provider === 'private') return undefined;
  const clientID = await operatorOf(db, siteID);
  const bound = clientID !== undefined && (await zeroSSLOf(db, services.sealing, clientID));
  return bound ? (provider === 'zeroSSL' ? 'letsEncrypt' : 'zeroSSL') : undefined;
}

/** The operator's account at the authority; a new one has a key, and is registered with the first order. */
export async function accountOf(
  { db, services }: Pick<Context, 'db' | 'services'>,
  clientID: number,
  provider: Provider,
): Promise<number> {
  const directory = directoryOf(services, provider);
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

function fetchOf(services: Services, directory: string, signal: AbortSignal): Fetch {
  const { acme, acmeAt } = services;
  const ca = directory === acme?.directory ? acme.ca : Object.values(acmeAt ?? {}).includes(directory) ? acmeAt?.ca : undefined;
  const { db } = services.database;
  return async (at, request) => {
    const policy = new AddressPolicy({
      operator: [],
      environment: await readSetting(db, null, 'originEnvironment'),
      own: await readSetting(db, null, 'ownAddresses'),
    });
    return outbound(at, { ...request, policy, timeoutMs, bytesMax, signal, ...(ca ? { ca } : {}) });
  };
}

/** What this process knows of directories that it asked without an account. */
const seen = new Map<string, Remembered>();
/** When an authority wants this certificate renewed; undefined: it says nothing of renewals, or is there no longer. */
export async function windowOf(
  services: Services,
  provider: string,
  certificate: string,
  signal: AbortSignal,
): Promise<RenewalWindow | undefined> {
  const known = acmeProviders.find(one => one === provider);
  const directory = known && directoryOf(services, known);
  if (!directory) return undefined;
  const remembered = seen.get(directory) ?? seen.set(directory, { nonces: [] }).get(directory)!;
  return renewalWindow(directory, certificate, fetchOf(services, directory, signal), remembered);
}

/** Whether ZeroSSL takes them: a key that is made for this alone is registered with them. @throws AcmeProblem, OutboundError */
export async function tryBinding(services: Services, bound: { kid: string; hmacKey: string }): Promise<void> {
  const directory = directoryOf(services, 'zeroSSL')!;
  await new Acme(directory, newKey(), fetchOf(services, directory, AbortSignal.timeout(timeoutMs))).register(bound);
}

/** What this process knows of accounts. */
const known = new Map<number, { directory: string; remembered: Remembered; registering?: Promise<unknown> | undefined }>();
const knownMost = 200;

/**
 * Ready to order, with its account's URL. What it fetches is judged as every URL that the platform fetches: an authority on a private address
 * or on loopback is one that BREAKWATER_ORIGIN_ALLOW names.
 * @param signal nobody waits for its answers any more
 * @param lost the account's URL that the authority no longer knows: it is registered again
 */
export async function clientOf(services: Services, accountID: number, signal: AbortSignal, lost?: string): Promise<Acme> {
  const { db } = services.database;
  const account = await row<{ clientID: number; directory: string; eabKID: string; url: string; privateKey: string }>(
    db,
    sql`select "clientID", directory, "eabKID", url, "privateKey" from "acmeAccount" where id = ${accountID}`,
  );
  if (!account) throw new Error(`the account ${accountID} at an authority is gone`);
  const { clientID, directory, eabKID, url } = account;
  let mine = known.get(accountID);
  if (!mine || mine.directory !== directory) {
    known.delete(accountID);
    known.set(accountID, (mine = { directory, remembered: { nonces: [] } }));
    if (known.size > knownMost) known.delete(known.keys().next().value!);
  }
  const { remembered } = mine;
  const fetch = fetchOf(services, directory, signal);
  const acme = new Acme(directory, openKey(services, 'acmeAccount', account.privateKey), fetch, remembered);
  if (lost !== undefined && remembered.account === lost) remembered.account = undefined;
  else remembered.account ??= (url !== lost && url) || undefined;
  if (remembered.account !== undefined) return acme;
  // side by side they ask for one
  mine.registering ??= (async () => {
    const bound = eabKID ? await zeroSSLOf(db, services.sealing, clientID) : undefined;
    const made = await acme.register(bound?.kid === eabKID ? bound : undefined);
    await sql`update "acmeAccount" set url = ${made} where id = ${accountID}`.execute(db);
  })().finally(() => (mine.registering = undefined));
  await mine.registering;
  return acme;
}
/** Its account's URL as this process knows it. */
export const accountURL = (accountID: number): string | undefined => known.get(accountID)?.remembered.account;

/** The operator whose site it is. */
export async function operatorOf(db: Db, siteID: number): Promise<number | undefined> {
  return (await row<{ clientID: number }>(db, sql`select "clientID" from site where id = ${siteID}`))?.clientID;
}
