/**
 * What an operator's licence lets it do (decisions.md, Licences): the one place that judges it. The mount asks whether it is in force
 * before a call that creates, enables or edits; handlers ask for room before they make what is counted.
 *
 * A file is a compact JWS with EdDSA (RFC 7515, 8037), verified with this installation's own key or one of the vendors that it trusts
 * (BREAKWATER_LICENSE_KEYS): no server is asked. It counts only at the installation it was registered at.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { CompactSign, compactVerify } from 'jose';
import { sql } from 'kysely';
import * as z from 'zod/mini';
import { Fail, fail, type ErrorName } from '#contract/errors.ts';
import { OfflineFile } from '#contract/licence/licences.ts';
import {
  licenceClockMinutes,
  type licenceKinds,
  type licenceStates,
  type Licensed,
  licensed,
  portTypes,
  zeroMeans,
} from '#contract/limits.ts';
import { type Db, row, type Sql } from '../store/db.ts';
import type { Keys } from './crypto.ts';

export interface Limits {
  siteLimit: number;
  nodeLimit: number;
  zoneLimit: number;
  domainLimit: number;
  autoSSLLimit: number;
  portType: (typeof portTypes)[number];
  nodeMonitorSeconds: number;
}
export type LicenceFile = z.output<typeof OfflineFile>;
export interface Held {
  kind: (typeof licenceKinds)[number];
  state: (typeof licenceStates)[number];
  name: string;
  limits: Limits;
  startTime: string | null;
  expiredAt: string | null;
  serial: string | null;
  version: number;
}
const unlimited: Limits = {
  siteLimit: 0,
  nodeLimit: 0,
  zoneLimit: 0,
  domainLimit: 0,
  autoSSLLimit: 0,
  portType: '7+4',
  nodeMonitorSeconds: 0,
};
/** Nothing was ever issued: a fresh installation is locked by nothing. */
const never: Held = {
  kind: 'unlimited',
  state: 'valid',
  name: '',
  limits: unlimited,
  startTime: null,
  expiredAt: null,
  serial: null,
  version: 0,
};
export const limitsOf = (from: Limits): Limits => ({
  siteLimit: from.siteLimit,
  nodeLimit: from.nodeLimit,
  zoneLimit: from.zoneLimit,
  domainLimit: from.domainLimit,
  autoSSLLimit: from.autoSSLLimit,
  portType: from.portType,
  nodeMonitorSeconds: from.nodeMonitorSeconds,
});

interface OrderRow extends Limits {
  kind: 'order' | 'offline';
  name: string;
  startTime: string;
  expiredAt: string | null;
  file: string | null;
  serial: string | null;
  installationID: string | null;
  isGone: boolean;
  rowVersion: number;
  now: string;
  seenAt: string;
}

const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const spki = Buffer.from('302a300506032b6570032100', 'hex');
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const minuteMs = 60_000;
const rememberedMax = 100;

export class Licences {
  /** `ABCDE-ABCDE-ABCDE-ABCDE`; of the installation's key, so that a restored backup is the same installation */
  readonly installationID: string;
  /** base64url of 32 bytes: what another installation must trust to take our files */
  readonly publicKey: string;
  readonly #key: KeyObject;
  readonly #trusted: readonly KeyObject[];
  /** files whose signature was found good */
  readonly #files = new Map<string, LicenceFile | null>();

  /** @throws where a trusted key is none */
  constructor(keys: Keys, trusted: readonly string[] = []) {
    this.#key = createPrivateKey({ key: Buffer.concat([pkcs8, keys.of('license')]), format: 'der', type: 'pkcs8' });
    const mine = createPublicKey(this.#key);
    this.publicKey = mine.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64url');
    this.#trusted = [mine, ...trusted.map(publicKeyOf)];
    const digest = createHash('sha256').update(keys.of('installation-id')).digest();
    const letters = Array.from({ length: 20 }, (_, i) => base32[digest[i]! & 31]!).join('');
    this.installationID = letters.match(/.{5}/g)!.join('-');
  }

  sign(file: LicenceFile): Promise<string> {
    return new CompactSign(new TextEncoder().encode(JSON.stringify(file))).setProtectedHeader({ alg: 'EdDSA' }).sign(this.#key);
  }

  /** What a file says, when somebody we trust signed it; null: an edited one, or a foreign key's. */
  async verify(text: string): Promise<LicenceFile | null> {
    let known = this.#files.get(text);
    if (known === undefined) {
      known = await this.#read(text);
      if (this.#files.size >= rememberedMax) this.#files.clear();
      this.#files.set(text, known);
    }
    return known;
  }
  async #read(text: string): Promise<LicenceFile | null> {
    for (const key of this.#trusted) {
      const read = await compactVerify(text.trim(), key, { algorithms: ['EdDSA'] }).catch(() => undefined);
      if (!read) continue;
      try {
        const parsed = z.safeParse(OfflineFile, JSON.parse(new TextDecoder().decode(read.payload)));
        return parsed.success ? parsed.data : null;
      } catch {
        return null;
      }
    }
    return null;
  }

  /** What an operator holds now. */
  async of(db: Db, clientID: number): Promise<Held> {
    const found = await row<OrderRow>(
      db,
      sql`select o.*, now(), c."seenAt" from "licenseOrder" o, "licenseClock" c where o."clientID" = ${clientID}`,
    );
    if (!found) return never;
    const held = {
      kind: found.kind,
      name: found.name,
      startTime: found.startTime,
      serial: found.serial,
      version: found.rowVersion,
      expiredAt: found.expiredAt,
      limits: limitsOf(found),
    };
    if (found.isGone) return { ...held, state: 'missing' };
    const now = Date.parse(found.now);
    const isBack = now < Date.parse(found.seenAt) - licenceClockMinutes * minuteMs;
    if (!isBack) await this.#remember(db, now, Date.parse(found.seenAt));
    if (found.kind === 'order') return { ...held, state: isBack ? 'illegal' : stateAt(now, found.expiredAt) };
    const file = await this.verify(found.file ?? '');
    if (!file || found.installationID !== this.installationID || isBack || !this.fits(file, now))
      return { ...held, state: 'illegal' };
    return { ...held, expiredAt: file.expiredAt, limits: limitsOf(file), state: stateAt(now, file.expiredAt) };
  }

  /** Whether a good file is one for this installation, and not of the future. */
  fits(file: LicenceFile, now = Date.now()): boolean {
    return (
      (file.installationID === null || file.installationID === this.installationID) &&
      Date.parse(file.issuedAt) <= now + licenceClockMinutes * minuteMs
    );
  }

  /** The clock as it was seen: written every few minutes, by whoever looks. */
  async #remember(db: Db, now: number, seen: number): Promise<void> {
    if (now < seen + (licenceClockMinutes / 3) * minuteMs) return;
    // whoever writes it already holds nobody up
    await sql`update "licenseClock" set "seenAt" = now()
      where one in (select one from "licenseClock" where "seenAt" < now() for update skip locked)`.execute(db);
  }

  /** How many more an operator may have; where that is bounded it is held until the transaction is through, so that no two take the same room. */
  async room(db: Db, clientID: number, what: Licensed): Promise<number> {
    const max = await this.#most(db, clientID, what);
    if (max === Infinity) return Infinity;
    // the last lock a call takes, before what it is for is written
    await sql`select pg_advisory_xact_lock(hashtextextended('license', ${clientID}))`.execute(db);
    return max - (await row<{ n: number }>(db, countOf(what, clientID)))!.n;
  }

  /** @throws the catalogue's error of what there is no room for one more of */
  async need(db: Db, clientID: number, what: Licensed): Promise<void> {
    if ((await this.room(db, clientID, what)) < 1) throw exceeded(what);
  }

  /** What is there is edited, or enabled again. @throws the same where there is too much of it already; nothing is held for that */
  async notOver(db: Db, clientID: number, what: Licensed): Promise<void> {
    const max = await this.#most(db, clientID, what);
    if (max !== Infinity && (await row<{ n: number }>(db, countOf(what, clientID)))!.n > max) throw exceeded(what);
  }

  async #most(db: Db, clientID: number, what: Licensed): Promise<number> {
    const max = (await this.of(db, clientID)).limits[`${singular[what]}Limit`];
    return max === 0 && zeroMeans.licenseLimit === 'unlimited' ? Infinity : max;
  }

  /** @throws illegalPortType where the operator may serve web sites alone; `path`: the field that asks for more */
  async needLayer4(db: Db, clientID: number, path: string, bounds: Readonly<Record<string, string>>): Promise<void> {
    if ((await this.of(db, clientID)).limits.portType === portTypes[0])
      throw new Fail('illegalPortType', { errorData: [{ path, rule: 'layer4Closed', bounds }] });
  }
}

const singular = { sites: 'site', nodes: 'node', zones: 'zone', domains: 'domain', autoSSL: 'autoSSL' } as const;
/** The catalogue's error of what there is no room for. */
export const exceededNames = {
  sites: 'sitesExceeded',
  nodes: 'nodesExceeded',
  zones: 'zonesExceeded',
  domains: 'domainsExceeded',
  autoSSL: 'autoSSLExceeded',
} as const satisfies Record<Licensed, ErrorName>;
export const exceeded = (what: Licensed): Fail => fail(exceededNames[what]);

const live = (alias: string): Sql => sql`${sql.ref(`${alias}.deletedAt`)} is null`;
const ofSites = (clientID: number) =>
  sql`from domain d join site s on s.id = d."siteID" where s."clientID" = ${clientID} and ${live('s')} and ${live('d')}`;
const countOf = (what: Licensed, clientID: number): Sql =>
  ({
    sites: () => sql`select count(*) as n from site s where s."clientID" = ${clientID} and ${live('s')}`,
    nodes: () => sql`select count(*) as n from node n where n."clientID" = ${clientID} and ${live('n')}`,
    zones: () => sql`select count(*) as n from zone z where z."clientID" = ${clientID} and ${live('z')}`,
    domains: () => sql`select count(*) as n ${ofSites(clientID)}`,
    autoSSL: () => sql`select count(*) as n ${ofSites(clientID)} and d."autoSSL"`,
  })[what]();
export const usageOf = (clientID: number): Sql =>
  sql`select ${sql.join(licensed.map(what => sql`(${countOf(what, clientID)}) as ${sql.ref(what)}`))}`;

const stateAt = (now: number, expiredAt: string | null) =>
  expiredAt !== null && Date.parse(expiredAt) <= now ? 'expired' : 'valid';

/** @throws what a call is told that takes a licence in force */
export function inForce({ state, until }: InForce): void {
  if (state === 'missing') throw fail('licenseNotFound', { status: 403 });
  if (state === 'illegal') throw fail('illegalLicense', { status: 403 });
  // between two looks at the database
  if (state === 'expired' || (until !== null && until <= Date.now())) throw fail('licenseExpired');
}
/** What a session remembers of its operator's licence. */
export interface InForce {
  state: Held['state'];
  /** milliseconds since 1970 */
  until: number | null;
}
export const inForceOf = ({ state, expiredAt }: Held): InForce => ({
  state,
  until: expiredAt === null ? null : Date.parse(expiredAt),
});

function publicKeyOf(text: string): KeyObject {
  const raw = Buffer.from(text, 'base64url');
  if (raw.length !== 32)
    throw new Error('BREAKWATER_LICENSE_KEYS must be public keys of 32 bytes in base64url, comma-separated.');
  return createPublicKey({ key: Buffer.concat([spki, raw]), format: 'der', type: 'spki' });
}
