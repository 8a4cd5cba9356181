/**
 * Sessions (decisions.md, Sessions): access tokens of 15 minutes signed by the installation, refresh tokens of 30
 * days that rotate. A refresh token seen twice ends its whole family, except within 10 seconds, when it answers the
 * same successor (several tabs). A session's row is the family.
 */
import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import { fail } from '#contract/errors.ts';
import type { Area } from '#contract/kit/call.ts';
import { session as limits, transport } from '#contract/limits.ts';
import { type Database, type Db, listen, row, type Sql } from '../store/db.ts';
import type { Actor } from './actor.ts';
import { type Acting, actingColumns, actorOf, isFrom, networkRefused, statusOf, withRoots } from './acting.ts';
import { type Keys, sha256 } from './crypto.ts';
import { ApiTokens, type LiveToken, type Rotated } from './api-tokens.ts';
import { Devices } from './devices.ts';
import { type Held, heldBy } from './held.ts';
import { Hashing } from './hashing.ts';
import { inForceOf, type Licences } from './licence.ts';
import { endAllSessions, endSessions, tellChanged } from './session-end.ts';
import { agentOf, type From, type Reused, type SessionRow, splitRefresh } from './session-row.ts';
import { Tries } from './tries.ts';

const accessTokenMs = limits.accessTokenMinutes * 60_000;
const refreshTokenMs = limits.refreshTokenDays * 86_400_000;
const successorMs = limits.refreshReuseGraceSeconds * 1000;
const actorCacheMs = 30_000;
const rememberedMax = 20_000;

export interface Tokens {
  accessToken: string;
  refreshToken: string;
  tokenType: typeof transport.tokenType;
}
/** Whoever acts in another's name goes on to do so while they are there and may act in their own. */
const mayAct = (actor: Actor | null): actor is Actor => actor?.status === 'normal';
/** Doors behind doors: nobody needs as many. */
const doorsMax = 8;

const leastOf = (a: number | null | undefined, b: number | null | undefined) => (a == null ? b : b == null ? a : Math.min(a, b));

type KeysOf = (area: Area) => readonly string[];

export class Sessions {
  readonly #database: Database;
  readonly #signer;
  readonly #refreshSigner;
  readonly #box;
  readonly #actors = new Map<string, { actor: Actor | null; until: number }>();
  /** tokens whose signature was found good */
  readonly #tokens = new Map<string, { sessionID: string; until: number }>();
  /** how often what is remembered was thrown away: an answer that was asked for before is not remembered after */
  #generation = 0;
  readonly #changedIn = new WeakSet<Db>();
  readonly #listener;
  readonly #keysOf: KeysOf;
  readonly #siteKeysOf: KeysOf;
  readonly apiTokens: ApiTokens;
  readonly #licences: Licences | undefined;
  readonly devices: Devices;
  /** at passwords, in this process */
  readonly tries = new Tries();
  readonly hashing = new Hashing(this.tries);

  /**
   * `keysOf` answers every permission key of an area; a root account holds them all. `siteKeysOf`: those that are about sites alone.
   * Without `licences` everybody may do everything.
   */
  constructor(database: Database, keys: Keys, keysOf: KeysOf, siteKeysOf: KeysOf = () => [], licences?: Licences) {
    this.#database = database;
    this.#signer = keys.signer('access-token');
    this.#refreshSigner = keys.signer('refresh-token');
    this.#box = keys.box('refresh-successor');
    this.#keysOf = keysOf;
    this.#siteKeysOf = siteKeysOf;
    this.apiTokens = new ApiTokens(database, keys);
    this.#licences = licences;
    this.devices = new Devices(keys);
    // an account, role or session changed somewhere: what is remembered may be wrong
    this.#listener = listen(database.url, ['actor'], () => this.#forget());
  }

  stop() {
    return this.#listener.stop();
  }

  #forget() {
    this.#generation++;
    this.#actors.clear();
  }

  /** Opens a session; `proxy`: for whoever really acts, from a session of its own with which this one ends. */
  async open(db: Db, accountID: number, proxy?: { accountID: number; openerID: string }, from?: From): Promise<Tokens> {
    const values = sql`${accountID}::bigint, ${proxy?.accountID ?? null}::bigint, ${proxy?.openerID ?? null}::uuid`;
    return (await this.#insert(db, sql`select ${values}`, from))!;
  }

  /**
   * Opens a session for whoever proved to know `password`, as it is stored; undefined when that is no longer the account's.
   * A change of the password (account/session.ts) waits for us and ends this session too, or we wait for it and see it; other
   * changes of the account's tree hold nobody up.
   */
  openWith(db: Db, accountID: number, password: string | null, from: From): Promise<Tokens | undefined> {
    return this.#insert(
      db,
      sql`select a.id, null::bigint, null::uuid from account a ${withRoots} where a.id = ${accountID}
        and a.password is not distinct from ${password} and a."deletedAt" is null and root."deletedAt" is null
        and ${statusOf} = 'normal' for key share of a`,
      from,
    );
  }

  /** `of`: account, proxy and opener, or no row. */
  async #insert(db: Db, of: Sql, from?: From): Promise<Tokens | undefined> {
    const id = randomUUID();
    const refreshToken = this.#newRefresh(id);
    const made = await row(
      db,
      sql`with who("accountID", "proxyID", "openerID") as (${of})
        insert into session (id, "accountID", "refreshHash", "proxyID", "openerID", "expiredAt", address, "userAgent")
          select ${id}::uuid, "accountID", ${sha256(refreshToken)}::bytea, "proxyID", "openerID",
            ${new Date(Date.now() + refreshTokenMs)}::timestamptz, ${from?.ip ?? null}, ${agentOf(from)} from who returning 1`,
    );
    return made
      ? { accessToken: this.#access(id), refreshToken: `${id}.${refreshToken}`, tokenType: transport.tokenType }
      : undefined;
  }

  /** 128 random bits, and as many that prove them ours: so an old one is told from a guess without a list of all old ones. */
  #newRefresh(sessionID: string): string {
    const random = randomBytes(16).toString('base64url');
    return random + this.#proof(sessionID, random);
  }

  #proof(sessionID: string, random: string): string {
    return this.#refreshSigner.sign(`${sessionID}.${random}`).slice(0, 22);
  }

  #wasOurs(sessionID: string, secret: string): boolean {
    return timingSafeEqual(Buffer.from(this.#proof(sessionID, secret.slice(0, 22))), Buffer.from(secret.slice(22)));
  }

  #access(sessionID: string): string {
    const body = `${sessionID}.${Date.now() + accessTokenMs}`;
    return `${body}.${this.#signer.sign(body)}`;
  }

  /** The session of an access token; 101013 when it is none of ours, 101014 when it has expired. */
  #sessionOf(accessToken: string, checkExpiry = true): string {
    let known = this.#tokens.get(accessToken);
    if (!known) {
      const m = /^([0-9a-f-]{36})\.(\d{1,16})\.([\w-]{43})$/.exec(accessToken);
      if (!m || !this.#signer.check(`${m[1]}.${m[2]}`, m[3]!)) throw fail('invalidToken');
      known = { sessionID: m[1]!, until: Number(m[2]) };
      if (this.#tokens.size >= rememberedMax) this.#tokens.clear();
      this.#tokens.set(accessToken, known);
    }
    if (checkExpiry && known.until < Date.now()) throw fail('tokenExpired');
    return known.sessionID;
  }

  /** Who acts, from the address `ip`. 101012 without a credential is the mount's; here: 101013, 101014, 101018 for a token from elsewhere. */
  async actor(accessToken: string, ip: string): Promise<Actor> {
    const tokenID = this.apiTokens.idOf(accessToken);
    const key = tokenID === undefined ? this.#sessionOf(accessToken) : accessToken;
    const known = this.#actors.get(key);
    let actor: Actor | null;
    // without the notices of other processes nothing that is remembered can be trusted
    if (known && known.until > performance.now() && this.#listener.isUp()) actor = known.actor;
    else {
      const generation = this.#generation;
      actor = await (tokenID === undefined ? this.#load(key) : this.#loadToken(tokenID, key));
      if (this.#actors.size >= rememberedMax) this.#actors.clear();
      // no longer than its time is: that holds from the moment on
      const keptMs = Math.min(actorCacheMs, actor?.endsInMs ?? Infinity);
      if (generation === this.#generation) this.#actors.set(key, { actor, until: performance.now() + keptMs });
    }
    if (!actor) throw fail('invalidToken');
    if (!isFrom(actor, ip)) throw networkRefused();
    if (actor.token) this.apiTokens.use(actor.token, ip);
    return actor;
  }

  /** Whoever is about to sign in. @throws permissionDenied where its operator lets nobody in from there */
  async mayEnter(db: Db, accountID: number, ip: string, refused: () => Promise<unknown>): Promise<void> {
    const actor = await this.acting(db, accountID);
    if (!actor || isFrom(actor, ip)) return;
    await refused();
    throw networkRefused();
  }

  async #loadToken(id: number, token: string): Promise<Actor | null> {
    const found = await this.apiTokens.find(this.#database.doors, id, token);
    const actor = found && (await this.acting(this.#database.doors, found.accountID));
    return actor ? this.#narrowed(actor, found) : null;
  }

  /** Acts by a token: no more than it says, and no more than its owner holds. */
  #narrowed(actor: Actor, { id, name, permissionKeys, siteIDs, networks, until }: LiveToken): Actor {
    const keys = permissionKeys.filter(
      key => actor.permissions.has(key) && (siteIDs === null || this.#siteKeysOf(actor.area).includes(key)),
    );
    return { ...actor, permissions: new Set(keys), sessionID: `token ${id}`, token: { id, name, siteIDs, networks, until } };
  }

  async #load(sessionID: string, db: Db = this.#database.doors, door = 0): Promise<Actor | null> {
    const found = await row<Acting & { openerID: string | null }>(
      db,
      sql`select ${actingColumns}, s."openerID"
          from session s join account a on a.id = s."accountID" and a."deletedAt" is null ${withRoots}
            left join account p on p.id = s."proxyID"
          where s.id = ${sessionID} and root."deletedAt" is null and s."endedAt" is null and s."expiredAt" > now()`,
    );
    if (!found) return null;
    if (found.proxyID === null) return this.#actorOf(db, found, sessionID);
    const opener = await this.#opener(db, found.openerID, door + 1);
    // whoever really acts comes from where they may: what the account in whose name they act says of its own people is not about them
    const actor = opener && (await this.#actorOf(db, found, sessionID));
    return actor && { ...actor, networks: opener.networks, endsInMs: leastOf(actor.endsInMs, opener.endsInMs) };
  }

  /**
   * Who acts for an account without a session, with what it holds now: what somebody started goes on while that one may do it, and so may
   * whoever really acts. Null: one of them is gone, or the latter may not. `tokenID`: the API token by which it was started.
   */
  async acting(db: Db, accountID: number, proxyID: number | null = null, tokenID: number | null = null): Promise<Actor | null> {
    if (tokenID !== null) {
      const [token, actor] = [await this.apiTokens.live(db, tokenID), await this.acting(db, accountID, proxyID)];
      return token && actor && this.#narrowed(actor, token);
    }
    if (proxyID !== null && !mayAct(await this.acting(db, proxyID))) return null;
    const found = await row<Acting>(
      db,
      sql`select ${actingColumns} from account a ${withRoots} left join account p on p.id = ${proxyID}
          where a.id = ${accountID} and a."deletedAt" is null and root."deletedAt" is null`,
    );
    return found ? this.#actorOf(db, found, '') : null;
  }

  async #actorOf(db: Db, found: Acting, sessionID: string): Promise<Actor> {
    const all = this.#keysOf(found.auth);
    const held = found.isRoot ? all : (await this.held(db, [found.accountID])).get(found.accountID)!.keys;
    const actor = actorOf(found, held, sessionID);
    const licence = actor.clientID === null ? undefined : await this.#licences?.of(db, actor.clientID);
    return { ...actor, licence: licence && inForceOf(licence) };
  }

  /** Who opened a session by `proxy`, with the networks of whoever really acts; null: gone, or may not any more. */
  async #opener(db: Db, openerID: string | null, door = 1): Promise<Actor | null> {
    if (openerID === null || door > doorsMax) return null;
    const opener = await this.#load(openerID, db, door);
    return mayAct(opener) && opener.isRoot ? opener : null;
  }

  /** What accounts hold now. */
  held(db: Db, accountIDs: readonly number[]): Promise<Map<number, Held>> {
    return heldBy(db, accountIDs, this.#keysOf);
  }

  /** The same for an API token; whoever asks comes from `ip`. */
  async refreshToken(area: Area, given: { accessToken: string; refreshToken: string }, ip: string): Promise<Rotated | Reused> {
    try {
      return await this.apiTokens.rotate(given, ip, async (db, accountID) => {
        const owner = await this.acting(db, accountID);
        if (owner?.area !== area) throw fail('refreshTokenFailed');
        if (owner.status !== 'normal') throw fail('accountNotEnabled');
        if (!isFrom(owner, ip)) throw networkRefused();
        await this.changed(db);
      });
    } finally {
      this.#forget();
    }
  }

  /** Rotates a refresh token, in a transaction of its own; any fault is 101016, but 101018 for whoever comes from elsewhere: nothing is rotated. `reused`: the family has ended. */
  async refresh(area: Area, given: { accessToken: string; refreshToken: string }, from: From): Promise<Tokens | Reused> {
    const { id, secret } = splitRefresh(given.refreshToken, 'refreshTokenFailed');
    if (this.#ownerOf(given.accessToken, 'refreshTokenFailed') !== id) throw fail('refreshTokenFailed');
    const { doors } = this.#database;
    // a family that ends stays ended: so it is told after the commit
    const answer = await doors.transaction().execute(async tx => this.#rotate(tx, area, id, secret, from));
    if ('reused' in answer) this.#forget();
    return answer;
  }

  async #rotate(db: Db, area: Area, id: string, secret: string, from: From): Promise<Tokens | Reused> {
    const session = await this.#find(db, id);
    if (!session || session.endedAt || session.auth !== area || Date.parse(session.expiredAt) < Date.now())
      throw fail('refreshTokenFailed');
    if (session.status !== 'normal') throw fail('accountNotEnabled');
    const isProxied = session.proxyID !== null;
    const acts = await (isProxied ? this.#opener(db, session.openerID) : this.acting(db, session.accountID));
    if (!acts) throw fail('refreshTokenFailed');
    if (!isFrom(acts, from.ip)) throw networkRefused();
    const hash = sha256(secret);
    const tokens = (next: string): Tokens => ({
      accessToken: this.#access(id),
      refreshToken: `${id}.${next}`,
      tokenType: transport.tokenType,
    });
    if (timingSafeEqual(hash, session.refreshHash)) {
      const next = this.#newRefresh(id);
      await sql`update session set "previousHash" = "refreshHash", "previousUntil" = now() + ${`${successorMs} milliseconds`}::interval,
          "refreshHash" = ${sha256(next)}, successor = ${this.#box.seal(next)}, "usedAt" = now(),
          address = ${from.ip}, "userAgent" = ${agentOf(from)},
          "expiredAt" = ${new Date(Date.now() + refreshTokenMs)} where id = ${id}`.execute(db);
      return tokens(next);
    }
    const isPrevious = session.previousHash && timingSafeEqual(hash, session.previousHash);
    if (isPrevious && session.successor && session.previousUntil && Date.parse(session.previousUntil) > Date.now())
      return tokens(this.#box.open(session.successor));
    // A guess that was never ours ends nothing. What was ours and comes again is a copy in other hands: the family ends.
    if (!this.#wasOurs(id, secret)) throw fail('refreshTokenFailed');
    await this.end(db, id);
    return { reused: { accountID: session.accountID, proxyID: session.proxyID, token: null } };
  }

  #find(db: Db, id: string): Promise<SessionRow | undefined> {
    return row<SessionRow>(
      db,
      sql`select s.*, a.auth, ${statusOf} as status from session s join account a on a.id = s."accountID" and a."deletedAt" is null ${withRoots}
          where s.id = ${id} for update of s`,
    );
  }

  #ownerOf(accessToken: string, error: 'refreshTokenFailed' | 'revokeTokenFailed'): string {
    try {
      return this.#sessionOf(accessToken, false);
    } catch {
      throw fail(error);
    }
  }

  /**
   * Ends a session; 101015 when the credentials do not belong together. Works for paused accounts too.
   * @returns whose it was, and who acted in their name
   */
  async close(
    area: Area,
    given: { accessToken: string; refreshToken: string },
  ): Promise<Pick<SessionRow, 'accountID' | 'proxyID'>> {
    const id = this.#ownerOf(given.accessToken, 'revokeTokenFailed');
    const refresh = splitRefresh(given.refreshToken, 'revokeTokenFailed');
    const closed = await this.#database.doors.transaction().execute(async db => {
      const session = await this.#find(db, id);
      const hash = sha256(refresh.secret);
      const fits =
        session &&
        refresh.id === id &&
        session.auth === area &&
        [session.refreshHash, session.previousHash].some(h => h && timingSafeEqual(hash, h));
      if (!fits) throw fail('revokeTokenFailed');
      await this.end(db, id);
      return session;
    });
    this.#forget();
    return closed;
  }

  /** Ends a session, and those that were opened from it. */
  async end(db: Db, id: string): Promise<void> {
    await this.#end(db, sql`s.id = ${id}`);
  }

  /** Ends every session of an account, what was opened from them, and what waits (session-end.ts); the one that asks stays. */
  endAll(db: Db, accountID: number, except: string | null = null): Promise<number> {
    this.#changedIn.add(db);
    return endAllSessions(db, accountID, except);
  }

  /** Ends every other session of an account and what was opened from them, and logins that wait; what was opened from this one stays. */
  async endOthers(db: Db, accountID: number, own: string): Promise<number> {
    await sql`delete from login where "accountID" = ${accountID}`.execute(db);
    return this.#end(db, sql`s."accountID" = ${accountID} and s.id <> ${own}`);
  }

  /** Ends what an account opened by `proxy`; its own sessions stay. */
  endOpened(db: Db, accountID: number): Promise<number> {
    return this.#end(db, sql`s."accountID" = ${accountID}`, sql`"accountID" <> ${accountID}`);
  }

  #end(db: Db, first: Sql, which?: Sql): Promise<number> {
    this.#changedIn.add(db);
    return endSessions(db, first, which);
  }

  /** Tells every process that what it remembers of accounts may be wrong, once `db` has committed. */
  async changed(db: Db): Promise<void> {
    this.#changedIn.add(db);
    await tellChanged(db);
  }

  /** The transaction is through: this process need not wait for its own notice. */
  committed(db: Db): void {
    if (this.#changedIn.has(db)) this.#forget();
  }
}
