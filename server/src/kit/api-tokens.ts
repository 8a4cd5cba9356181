/**
 * API tokens (decisions.md, Wire): `bwt_<id>_<secret>`, stored as SHA-256 alone. The refresh token changes both, at a program's own time and
 * without a person; what was replaced goes on for ten seconds, within which it answers the same pair. Seen later, it is a copy in other hands,
 * and the token ends. Neither prolongs what a person has set: its end, its networks, its keys.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import { fail } from '#contract/errors.ts';
import { apiTokens as limits, session as sessionLimits, transport } from '#contract/limits.ts';
import { type Database, type Db, row } from '../store/db.ts';
import type { ActingToken } from './actor.ts';
import { type Keys, sha256 } from './crypto.ts';
import { Networks } from './networks.ts';
import type { Reused } from './session-row.ts';

interface Named {
  id: number;
  name: string;
  accountID: number;
  permissionKeys: string[];
  siteIDs: number[] | null;
}
export type LiveToken = Named & Pick<ActingToken, 'networks' | 'until'>;
interface Stored extends Named {
  networks: string[];
  expiredAt: string | null;
  hash: Buffer;
  refreshHash: Buffer;
  previousHash: Buffer | null;
  previousRefreshHash: Buffer | null;
  previousUntil: string | null;
  successor: Buffer | null;
}
/** A new pair, and what is stored of it. */
export interface Pair {
  token: string;
  refreshToken: string;
  columns: { hash: Buffer; refreshHash: Buffer; ending: string };
}
/** Whose token was changed by itself, for the audit. */
export interface Rotated {
  tokens: { accessToken: string; refreshToken: string; tokenType: typeof transport.tokenType };
  id: number;
  name: string;
  accountID: number;
}
const pattern = /^(bwt|bwr)_([1-9]\d{0,14})_([0-9A-Za-z]{32})([0-9a-f]{16})$/;
const usedEveryMs = limits.usedEverySeconds * 1000;
const rememberedMax = 20_000;
const same = (a: Buffer, b: Buffer | null) => b !== null && timingSafeEqual(a, b);

export class ApiTokens {
  readonly #database: Database;
  readonly #signer;
  readonly #box;
  readonly #used = new Map<number, number>();

  constructor(database: Database, keys: Keys) {
    this.#database = database;
    this.#signer = keys.signer('api-token');
    this.#box = keys.box('api-token-successor');
  }

  /** 190 random bits, and some that prove it ours: a guess costs no look into the database. */
  #new(kind: 'bwt' | 'bwr', id: number): string {
    let random = '';
    while (random.length < 32)
      random += randomBytes(48)
        .toString('base64')
        .replace(/[^0-9A-Za-z]/g, '');
    random = random.slice(0, 32);
    return `${kind}_${id}_${random}${this.#proof(kind, id, random)}`;
  }
  #proof = (kind: string, id: number | string, random: string) =>
    createHash('sha256')
      .update(this.#signer.sign(`${kind}.${id}.${random}`))
      .digest('hex')
      .slice(0, 16);

  #read(kind: 'bwt' | 'bwr', text: string): number | undefined {
    const m = pattern.exec(text);
    if (m?.[1] !== kind) return undefined;
    const wanted = this.#proof(kind, m[2]!, m[3]!);
    return timingSafeEqual(Buffer.from(wanted), Buffer.from(m[4]!)) ? Number(m[2]) : undefined;
  }

  /** The id in a token; undefined: it is none of these. @throws 101013 where it looks like one and is not ours */
  idOf(token: string): number | undefined {
    if (!token.startsWith('bwt_')) return undefined;
    const id = this.#read('bwt', token);
    if (id === undefined) throw fail('invalidToken');
    return id;
  }

  make(id: number): Pair {
    const [token, refreshToken] = [this.#new('bwt', id), this.#new('bwr', id)];
    const ending = token.slice(-limits.endingLength);
    return { token, refreshToken, columns: { hash: sha256(token), refreshHash: sha256(refreshToken), ending } };
  }

  #stored(db: Db, id: number, lock = false): Promise<Stored | undefined> {
    return row<Stored>(
      db,
      sql`select * from "apiToken" where id = ${id} and "deletedAt" is null${lock ? sql` for update` : sql``}`,
    );
  }

  /** The row of a token that is one of ours by its look. */
  async find(db: Db, id: number, token: string): Promise<LiveToken | null> {
    const found = await this.#stored(db, id);
    if (!found) return null;
    const hash = sha256(token);
    if (same(hash, found.hash)) return told(found);
    const { previousUntil } = found;
    if (!same(hash, found.previousHash) || previousUntil === null || isOver(previousUntil)) return null;
    const live = told(found);
    return { ...live, until: Math.min(live.until, Date.parse(previousUntil)) };
  }

  /** One that is there and not over, by its id. */
  async live(db: Db, id: number): Promise<LiveToken | null> {
    const found = await this.#stored(db, id);
    return found && !isOver(found.expiredAt) ? told(found) : null;
  }

  /** It is about to be used, from this address. @throws 101014 when it is over, 101018 from elsewhere */
  use({ id, until, networks }: ActingToken, ip: string): void {
    if (until <= Date.now()) throw fail('tokenExpired');
    if (networks && !networks.has(ip)) throw fail('permissionDenied');
    this.#note(id, ip);
  }

  /** That it was used is written down now and then, and keeps nobody waiting. */
  #note(id: number, ip: string): void {
    const now = performance.now();
    const before = this.#used.get(id);
    if (before !== undefined && before + usedEveryMs > now) return;
    if (this.#used.size >= rememberedMax) this.#used.clear();
    this.#used.set(id, now);
    void sql`update "apiToken" set "lastUsedAt" = now(), "lastIP" = ${ip} where id = ${id}`
      .execute(this.#database.doors)
      .catch(() => this.#used.delete(id));
  }

  /** Whether `PATCH /{area}` is asked by a program. */
  isRefresh = (refreshToken: string): boolean => refreshToken.startsWith('bwr_');

  /** Another pair in place of this one, in a transaction of its own; any fault is 101016; `reused`: the token has ended. */
  async rotate(given: { accessToken: string; refreshToken: string }, ip: string, mayAct: MayAct): Promise<Rotated | Reused> {
    const id = this.#read('bwr', given.refreshToken);
    if (id === undefined || this.#read('bwt', given.accessToken) !== id) throw fail('refreshTokenFailed');
    // what ends stays ended: so it is told after the commit
    return this.#database.doors.transaction().execute(async db => this.#rotate(db, id, given, ip, mayAct));
  }

  async #rotate(
    db: Db,
    id: number,
    given: { accessToken: string; refreshToken: string },
    ip: string,
    mayAct: MayAct,
  ): Promise<Rotated | Reused> {
    const stored = await this.#stored(db, id, true);
    if (!stored || isOver(stored.expiredAt)) throw fail('refreshTokenFailed');
    const { networks } = told(stored);
    if (networks && !networks.has(ip)) throw fail('refreshTokenFailed');
    await mayAct(db, stored.accountID);
    const [hash, refreshHash] = [sha256(given.accessToken), sha256(given.refreshToken)];
    const answer = (token: string, refreshToken: string): Rotated => ({
      tokens: { accessToken: token, refreshToken, tokenType: transport.tokenType },
      id,
      name: stored.name,
      accountID: stored.accountID,
    });
    if (same(refreshHash, stored.refreshHash)) {
      if (!same(hash, stored.hash)) throw fail('refreshTokenFailed');
      const { token, refreshToken, columns } = this.make(id);
      await sql`update "apiToken" set hash = ${columns.hash}, "refreshHash" = ${columns.refreshHash}, ending = ${columns.ending},
          "previousHash" = hash, "previousRefreshHash" = "refreshHash", successor = ${this.#box.seal(`${token} ${refreshToken}`)},
          "previousUntil" = now() + ${`${sessionLimits.refreshReuseGraceSeconds} seconds`}::interval, "updatedAt" = now(),
          "rowVersion" = "rowVersion" + 1 where id = ${id}`.execute(db);
      return answer(token, refreshToken);
    }
    if (same(refreshHash, stored.previousRefreshHash) && stored.successor && !isOver(stored.previousUntil)) {
      const [token = '', refreshToken = ''] = this.#box.open(stored.successor).split(' ');
      return answer(token, refreshToken);
    }
    // ours once, by its look, and replaced since: somebody else has it as well
    await sql`update "apiToken" set "deletedAt" = now(), "updatedAt" = now(), successor = null where id = ${id}`.execute(db);
    return { reused: { accountID: stored.accountID, proxyID: null, token: { id, name: stored.name } } };
  }
}
/** Refuses whoever may not act; answers nothing of it. */
export type MayAct = (db: Db, accountID: number) => Promise<void>;

const isOver = (time: string | null): boolean => time !== null && Date.parse(time) <= Date.now();
const told = ({ networks, expiredAt, ...row }: Stored): LiveToken => ({
  ...row,
  networks: networks.length ? new Networks(networks) : null,
  until: expiredAt === null ? Infinity : Date.parse(expiredAt),
});
