/**
 * Sessions (decisions.md, Sessions): access tokens of 15 minutes signed by the installation, refresh tokens of 30
 * days that rotate. A refresh token seen twice ends its whole family, except within 10 seconds, when it answers the
 * same successor (several tabs). A session's row is the family.
 */
import { randomUUID, timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import { fail } from '#contract/errors.ts';
import type { Area } from '#contract/kit/call.ts';
import { type Language, defaultLanguage, isLanguage } from '#contract/kit/text.ts';
import { type Database, type Db, listen, row, rows } from '../store/db.ts';
import type { Actor } from './actor.ts';
import { type Keys, newToken, sha256 } from './crypto.ts';

const accessTokenMs = 15 * 60_000;
const refreshTokenMs = 30 * 86_400_000;
const successorMs = 10_000;
const actorCacheMs = 30_000;

export interface Tokens {
  accessToken: string;
  refreshToken: string;
  tokenType: 'Bearer';
}
interface SessionRow {
  id: string;
  accountID: number;
  refreshHash: Buffer;
  previousHash: Buffer | null;
  previousUntil: string | null;
  successor: Buffer | null;
  proxyID: number | null;
  expiredAt: string;
  endedAt: string | null;
}

export class Sessions {
  readonly #database: Database;
  readonly #signer;
  readonly #box;
  readonly #actors = new Map<string, { actor: Actor | null; until: number }>();
  readonly #listener;
  readonly #keysOf: (area: Area) => readonly string[];

  /** `keysOf` answers every permission key of an area; a root account holds them all. */
  constructor(database: Database, keys: Keys, keysOf: (area: Area) => readonly string[]) {
    this.#database = database;
    this.#signer = keys.signer('access-token');
    this.#box = keys.box('refresh-successor');
    this.#keysOf = keysOf;
    // an account, role or session changed somewhere: what is remembered may be wrong
    this.#listener = listen(database.url, ['actor'], () => this.#actors.clear());
  }

  stop() {
    return this.#listener.stop();
  }

  /** Opens a session; `proxyID` is the account that really acts. */
  async open(db: Db, accountID: number, proxyID: number | null = null): Promise<Tokens> {
    const id = randomUUID();
    const refreshToken = newToken();
    await sql`insert into session (id, "accountID", "refreshHash", "proxyID", "expiredAt")
      values (${id}, ${accountID}, ${sha256(refreshToken)}, ${proxyID}, ${new Date(Date.now() + refreshTokenMs)})`.execute(db);
    return { accessToken: this.#access(id), refreshToken: `${id}.${refreshToken}`, tokenType: 'Bearer' };
  }

  #access(sessionID: string): string {
    const body = `${sessionID}.${Date.now() + accessTokenMs}`;
    return `${body}.${this.#signer.sign(body)}`;
  }

  /** The session of an access token; 101013 when it is none of ours, 101014 when it has expired. */
  #sessionOf(accessToken: string, checkExpiry = true): string {
    const m = /^([0-9a-f-]{36})\.(\d{1,16})\.([\w-]{43})$/.exec(accessToken);
    if (!m || !this.#signer.check(`${m[1]}.${m[2]}`, m[3]!)) throw fail('invalidToken');
    if (checkExpiry && Number(m[2]) < Date.now()) throw fail('tokenExpired');
    return m[1]!;
  }

  /** Who acts. 101012 without a credential is the mount's; here: 101013, 101014. */
  async actor(accessToken: string): Promise<Actor> {
    const sessionID = this.#sessionOf(accessToken);
    const known = this.#actors.get(sessionID);
    let actor: Actor | null;
    if (known && known.until > Date.now()) actor = known.actor;
    else {
      actor = await this.#load(sessionID);
      if (this.#actors.size > 20_000) this.#actors.clear();
      this.#actors.set(sessionID, { actor, until: Date.now() + actorCacheMs });
    }
    if (!actor) throw fail('invalidToken');
    return actor;
  }

  async #load(sessionID: string): Promise<Actor | null> {
    const found = await row<{
      accountID: number;
      email: string;
      auth: Area;
      isRoot: boolean;
      rootID: number;
      parentClient: number | null;
      grade: number;
      status: string;
      language: string;
      timezone: string;
      keys: string[] | null;
      proxyName: string | null;
    }>(
      this.#database.db,
      sql`select a.id as "accountID", a.email, a.auth, a."isRoot", coalesce(a."rootID", a.id) as "rootID", a."parentClient", a.grade,
            case when a.status = 'normal' and root.status <> 'normal' then root.status else a.status end as status,
            a.language, a.timezone, r."permissionKeys" as keys, p.email as "proxyName"
          from session s join account a on a.id = s."accountID" and a."deletedAt" is null
            join account root on root.id = coalesce(a."rootID", a.id) and root."deletedAt" is null
            left join role r on r.id = a."roleID" and r."deletedAt" is null
            left join account p on p.id = s."proxyID"
          where s.id = ${sessionID} and s."endedAt" is null and s."expiredAt" > now()`,
    );
    if (!found) return null;
    const all = this.#keysOf(found.auth);
    return {
      accountID: found.accountID,
      email: found.email,
      area: found.auth,
      isRoot: found.isRoot,
      rootID: found.rootID,
      clientID: found.auth === 'client' ? found.rootID : found.parentClient,
      grade: found.grade,
      status: found.status,
      permissions: new Set(found.isRoot ? all : all.filter(key => found.keys?.includes(key))),
      language: isLanguage(found.language) ? (found.language as Language) : defaultLanguage,
      timezone: found.timezone,
      sessionID,
      proxyName: found.proxyName,
    };
  }

  /** Rotates a refresh token; any fault is 101016. */
  async refresh(db: Db, area: Area, given: { accessToken: string; refreshToken: string }): Promise<Tokens> {
    const { id, secret } = splitRefresh(given.refreshToken);
    let sessionOfAccess: string;
    try {
      sessionOfAccess = this.#sessionOf(given.accessToken, false);
    } catch {
      throw fail('refreshTokenFailed');
    }
    if (sessionOfAccess !== id) throw fail('refreshTokenFailed');
    const session = await row<SessionRow & { auth: Area; status: string }>(
      db,
      sql`select s.*, a.auth, a.status from session s join account a on a.id = s."accountID" and a."deletedAt" is null where s.id = ${id} for update of s`,
    );
    if (!session || session.endedAt || session.auth !== area || Date.parse(session.expiredAt) < Date.now())
      throw fail('refreshTokenFailed');
    if (session.status !== 'normal') throw fail('accountNotEnabled');
    const hash = sha256(secret);
    if (timingSafeEqual(hash, session.refreshHash)) {
      const next = newToken();
      await sql`update session set "previousHash" = "refreshHash", "previousUntil" = now() + ${`${successorMs} milliseconds`}::interval,
          "refreshHash" = ${sha256(next)}, successor = ${this.#box.seal(next)}, "usedAt" = now(),
          "expiredAt" = ${new Date(Date.now() + refreshTokenMs)} where id = ${id}`.execute(db);
      return { accessToken: this.#access(id), refreshToken: `${id}.${next}`, tokenType: 'Bearer' };
    }
    const isPrevious = session.previousHash && timingSafeEqual(hash, session.previousHash);
    if (isPrevious && session.successor && session.previousUntil && Date.parse(session.previousUntil) > Date.now())
      return { accessToken: this.#access(id), refreshToken: `${id}.${this.#box.open(session.successor)}`, tokenType: 'Bearer' };
    // Ours once, and used again: somebody holds a copy. The whole family ends. A guess that was never ours ends nothing.
    if (isPrevious) {
      await this.end(db, id);
      throw new ReuseDetected();
    }
    throw fail('refreshTokenFailed');
  }

  /** Ends a session; 101015 when the credentials do not belong together. Works for paused accounts too. */
  async close(db: Db, area: Area, given: { accessToken: string; refreshToken: string }): Promise<void> {
    let id: string;
    try {
      id = this.#sessionOf(given.accessToken, false);
    } catch {
      throw fail('revokeTokenFailed');
    }
    const session = await row<SessionRow & { auth: Area }>(
      db,
      sql`select s.*, a.auth from session s join account a on a.id = s."accountID" where s.id = ${id} for update of s`,
    );
    const refresh = splitRefresh(given.refreshToken, 'revokeTokenFailed');
    const hash = sha256(refresh.secret);
    const fits =
      session &&
      refresh.id === id &&
      session.auth === area &&
      [session.refreshHash, session.previousHash].some(h => h && timingSafeEqual(hash, h));
    if (!fits) throw fail('revokeTokenFailed');
    await this.end(db, id);
  }

  async end(db: Db, id: string): Promise<void> {
    await sql`update session set "endedAt" = now(), successor = null where id = ${id} and "endedAt" is null`.execute(db);
    await this.changed(db);
  }

  /** Ends every session of an account, but the one that asks. */
  async endAll(db: Db, accountID: number, except: string | null = null): Promise<number> {
    const ended = await rows(
      db,
      sql`update session set "endedAt" = now(), successor = null where "accountID" = ${accountID} and "endedAt" is null and id is distinct from ${except} returning id`,
    );
    await this.changed(db);
    return ended.length;
  }

  /** Tells every process that what it remembers of accounts may be wrong. */
  async changed(db: Db): Promise<void> {
    await sql`select pg_notify('actor', '')`.execute(db);
  }
}

/** 101016, but what was done (the family's end) stays. */
export class ReuseDetected extends Error {}

function splitRefresh(token: string, error: 'refreshTokenFailed' | 'revokeTokenFailed' = 'refreshTokenFailed') {
  const m = /^([0-9a-f-]{36})\.([\w-]{43})$/.exec(token);
  if (!m) throw fail(error);
  return { id: m[1]!, secret: m[2]! };
}
