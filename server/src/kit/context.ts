/** What a handler is given, and how its transaction ends: revisions, outbox, audit row, notice. */
import { type DocumentKind, kinds } from '#contract/edge/kinds/index.ts';
import { sql } from 'kysely';
import { type Fail, type FieldError, type MultipleError, fail, Fail as Failure, multipleErrors } from '#contract/errors.ts';
import type { Language } from '#contract/kit/text.ts';
import type { Actor } from './actor.ts';
import { AuditRoom, boundedBody, boundedChanges, cut } from './audit-room.ts';
import { expectRow, touchedName } from './stale.ts';
import { type Change, type Effects, Store, touch } from './store.ts';
import type { Table } from './table.ts';
import { type Db, row } from '../store/db.ts';
import type { Services } from './services.ts';

export class Context {
  readonly actor: Actor;
  readonly db: Db;
  readonly effects: Effects;
  readonly language: Language;
  readonly reqID: string;
  readonly ip: string;
  readonly services: Services;
  readonly startedAt = performance.now();
  /** what the transaction does after its commit */
  readonly after: (() => void)[] = [];

  /** `holds`: the call may write; `expected`: the version of the row its maker saw (store.ts, Effects) */
  constructor(init: {
    actor: Actor;
    db: Db;
    language: Language;
    reqID: string;
    ip: string;
    services: Services;
    holds?: boolean;
    expected?: number | undefined;
  }) {
    this.effects = { holds: init.holds ?? false, changes: [], documents: new Map(), expected: init.expected };
    this.actor = init.actor;
    this.db = init.db;
    this.language = init.language;
    this.reqID = init.reqID;
    this.ip = init.ip;
    this.services = init.services;
  }

  /** The rows of a table that this actor may touch; `parents` pins columns to the ids of the path. */
  store<R extends Record<string, unknown>>(target: Table<R>, parents: Record<string, number> = {}): Store<R> {
    return new Store<R>(this.db, this.actor, target, parents, this.effects);
  }

  /**
   * Whatever belongs to one root account is changed by one call at a time, and by none once the account is deleted. Calls
   * below a row of a `closed` table hold that row instead, so that changes of different sites do not wait for each other.
   */
  async holdRoot(): Promise<void> {
    const found = await row(
      this.db,
      sql`select 1 from account where id = ${this.actor.rootID} and "deletedAt" is null for no key update`,
    );
    if (!found) throw fail('credentialFailed');
  }

  /** For the audit row: a change that went past the store. */
  note(change: Change) {
    this.effects.changes.push(change);
  }

  /** Refuses a change whose maker saw another version of what it changes; `before` as the wire has it, with its `version` and its owner's id. */
  expect(name: string, before: Record<string, unknown>, wanted: Record<string, unknown>): Promise<void> {
    return expectRow(this.db, this.effects, this.actor, name, before, wanted);
  }

  touch(kind: DocumentKind, id: number) {
    touch(this.effects, kind, id);
  }

  /** What it did is undone when it fails by a rule of the house; answers that failure. */
  async attempt(act: () => Promise<void>): Promise<Failure | undefined> {
    const mark = { changes: this.effects.changes.length, documents: new Map(this.effects.documents), after: this.after.length };
    await sql`savepoint item`.execute(this.db);
    try {
      await act();
      await sql`release savepoint item`.execute(this.db);
      return undefined;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      await sql`rollback to savepoint item`.execute(this.db);
      this.effects.changes.length = mark.changes;
      // nor is anybody told of what did not happen
      this.after.length = mark.after;
      this.effects.documents.clear();
      for (const [key, doc] of mark.documents) this.effects.documents.set(key, doc);
      return error;
    }
  }

  /**
   * Bulk calls work item by item: what succeeds stays, the rest is told as 101009 (decisions.md, Wire). Each item has
   * a savepoint of its own. An unknown id is no business failure: it fails the whole call before anything is done.
   */
  async each<T>(items: readonly T[], target: (item: T) => string, act: (item: T) => Promise<void>): Promise<void> {
    const failed: MultipleError[] = [];
    // an id said twice is one id
    for (const item of new Set(items)) {
      const error = await this.attempt(() => act(item));
      if (!error) continue;
      // one item alone fails as itself
      if (items.length === 1) throw error;
      const { code, params } = error;
      const [broken] = (error.name === 'parameter' ? (error.errorData ?? []) : []) as FieldError[];
      const line = { code, params, ...(broken ? { field: { rule: broken.rule, bounds: broken.bounds } } : {}) };
      const same = failed.find(({ targets: _targets, ...one }) => JSON.stringify(one) === JSON.stringify(line));
      if (same) same.targets.push(target(item));
      else failed.push({ ...line, targets: [target(item)] });
    }
    if (failed.length) throw new Partial(multipleErrors(failed));
  }
}

/** A failure that keeps what its transaction did. */
export class Partial extends Error {
  readonly failure: Fail;
  constructor(failure: Fail) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Raises the revisions of the sites whose documents changed and puts the documents into the outbox. */
export async function publish(db: Db, effects: Pick<Effects, 'documents'>): Promise<void> {
  if (!effects.documents.size) return;
  const all = [...effects.documents.values()];
  const ids = (on: (typeof kinds)[DocumentKind]['on']) => all.filter(({ kind }) => kinds[kind].on === on);
  const [site, zone] = [ids('site'), ids('zone').map(({ id }) => id)];
  const below = (on: 'domain' | 'module') =>
    sql`select ${on}, x.id, x."siteID" from ${sql.table(on)} x where x.id = any(${ids(on).map(({ id }) => id)})`;
  await sql`
    with touched(kind, id, "siteID") as (
      select kind, id, id from unnest(${site.map(({ kind }) => kind)}::text[], ${site.map(({ id }) => id)}::bigint[]) as t(kind, id)
      union all ${below('domain')} union all ${below('module')}
    ), raised as (
      update site set revision = nextval('revision'), "changedAt" = clock_timestamp() where id in (select "siteID" from touched)
      returning id, revision
    ), zoned as (
      update zone set revision = nextval('revision') where id = any(${zone}) returning id, revision
    )
    insert into outbox (kind, "entityID", "siteID", "zoneID", revision)
      select t.kind, t.id, t."siteID", null::bigint, r.revision from touched t join raised r on r.id = t."siteID"
      union all select 'zone', z.id, null::bigint, z.id, z.revision from zoned z`.execute(db);
}

export interface AuditLine {
  reqID: string;
  /** nobody's account: somebody tried an e-mail that nobody has */
  actor: Pick<Actor, 'email' | 'proxyName' | 'clientID' | 'area' | 'rootID'> & { accountID: number | null };
  method: string;
  url: string;
  permission: string | null;
  body: unknown;
  ip: string;
  changes: readonly Change[];
  status: number;
  durationMs: number;
  /** why it was refused, or how somebody signed in */
  reason?: string | undefined;
}

const room = new AuditRoom();
/** One line for each call that may change something, in the same transaction as the change; one for each that was refused; one for each sign-in. */
export async function audit(db: Db, line: AuditLine): Promise<void> {
  const { actor } = line;
  const touched = [...new Set(line.changes.slice(0, 1000).map(({ table, id }) => touchedName(table, id)))];
  let body = JSON.stringify(boundedBody(redact(line.body ?? null)));
  let changes = JSON.stringify(redactChanges(boundedChanges(line.changes)));
  if (!room.take(actor.rootID, body.length + changes.length))
    [body, changes] = ['null', JSON.stringify(boundedChanges(line.changes, 0))];
  await sql`
    insert into audit ("reqID", "accountID", "accountName", "proxyName", "clientID", "userID", area, method, url, permission, body, changes, ip,
      status, "durationMs", reason, touched)
    values (${line.reqID}, ${actor.accountID}, ${actor.email}, ${actor.proxyName}, ${actor.clientID}, ${actor.area === 'user' && actor.accountID ? actor.rootID : null},
      ${actor.area}, ${line.method}, ${line.url}, ${line.permission}, ${body}::jsonb, ${changes}::jsonb, ${line.ip}, ${line.status},
      ${Math.round(line.durationMs)}, ${line.reason ?? null}, ${touched.length ? touched : null})`.execute(db);
}

/** Why a call was refused, without anything that was sent. */
export function reasonOf(failure: Failure): string {
  const fields = Array.isArray(failure.errorData) ? (failure.errorData as { path?: unknown; rule?: unknown }[]) : [];
  // the name of a field that nobody knows is something that was sent
  const told = fields
    .slice(0, 20)
    .flatMap(({ path, rule }) => (typeof rule !== 'string' ? [] : rule === 'unknownKey' ? rule : `${String(path)} ${rule}`));
  return [failure.name, ...told].join('; ').slice(0, 1000);
}

const secretKeys = /^(password|oldPassword|accessToken|refreshToken|onePassKey|vcode|token|privateKey|credentials|secret)$/i;
/** Headers that let somebody in: what a customer sends to its origin with each request. */
const secretHeaders = /auth|cookie|token|secret|key|password|signature|credential/i;
/** The body without what must never be logged, and without what is too long to read. */
export function redact(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return value.slice(0, 100).map(item => redact(item, depth + 1));
  if (typeof value === 'string') return value.length > 2000 ? cut(value, 2001) : value;
  if (value === null || typeof value !== 'object' || depth > 6) return value;
  const { name } = value as { name?: unknown };
  const isSecret = (key: string) =>
    secretKeys.test(key) || (key === 'value' && typeof name === 'string' && secretHeaders.test(name));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, isSecret(key) ? '***' : redact(item, depth + 1)]));
}
const redactChanges = (changes: readonly Change[]) =>
  changes.map(change => ({
    ...change,
    ...(change.before && { before: redact(change.before) }),
    ...(change.after && { after: redact(change.after) }),
  }));
