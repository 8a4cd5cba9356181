/** What a handler is given, and how its transaction ends: revisions, outbox, audit row, notice. */
import { type DocumentKind, kinds } from '#contract/edge/kinds/index.ts';
import { sql } from 'kysely';
import { brokenOf, type Fail, type MultipleError, fail, Fail as Failure, multipleErrors } from '#contract/errors.ts';
import type { Language } from '#contract/kit/text.ts';
import { hidden, hiddenOther, isHidden } from '#contract/kit/hidden.ts';
import type { Actor } from './actor.ts';
import { AuditFolds, pathOnly } from './audit-folds.ts';
import {
  type AuditLine,
  AuditRoom,
  boundedBody,
  boundedChanges,
  cut,
  fewChanges,
  type KeptChange,
  payerOf,
  touchedBy,
  weightOf,
} from './audit-room.ts';
import { expectRow } from './stale.ts';
import { onUndone } from './untangled.ts';
import { type Change, type Effects, touch } from './effects.ts';
import { Store } from './store.ts';
import type { Table } from './table.ts';
import { type Database, type Db, row } from '../store/db.ts';
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
    this.effects = { holds: init.holds ?? false, changes: [], documents: new Map(), expected: init.expected, open: new Set() };
    this.actor = init.actor;
    this.db = init.db;
    this.language = init.language;
    this.reqID = init.reqID;
    this.ip = init.ip;
    this.services = init.services;
  }

  /** The rows of a table that this actor may touch; `parents` pins columns to the ids of the path. */
  store<R extends Record<string, unknown>>(target: Table<R>, parents: Record<string, number> = {}): Store<R> {
    return new Store<R>(this.db, this.actor, target, parents, this.effects, this.services.sealing);
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
      // released too, or whoever tries around this would go back to here alone
      await sql`rollback to savepoint item`.execute(this.db);
      await sql`release savepoint item`.execute(this.db);
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
   * a savepoint of its own. Rows that are named by their ids: removal.ts, which tells those that are not there in the same way.
   */
  async each<T>(items: readonly T[], target: (item: T) => string, act: (item: T) => Promise<void>): Promise<void> {
    const failed: MultipleError[] = [];
    // an id said twice is one id
    const all = new Set(items);
    for (const item of all) {
      const error = await this.attempt(() => act(item));
      if (!error) continue;
      // one item alone fails as itself
      if (all.size === 1) throw error;
      const { code, params } = error;
      // what is said of one of several is said of all to whom it happened: a code's own text, unless a rule says it of the call as a whole
      const rule = brokenOf(error);
      const broken = error.name === 'parameter' || rule?.path === '' ? rule : undefined;
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

  /** Of what was done a task goes on, which whoever asked follows. */
  with(taskID: number): Partial {
    return new Partial(new Failure(this.failure.name, { errorData: this.failure.errorData, extra: { taskID } }));
  }
}

/** Raises the revisions of the sites whose documents changed and puts the documents into the outbox. */
export async function publish(db: Db, effects: Pick<Effects, 'documents'>): Promise<void> {
  if (!effects.documents.size) return;
  const all = [...effects.documents.values()];
  const ids = (on: (typeof kinds)[DocumentKind]['on']) => all.filter(({ kind }) => kinds[kind].on === on);
  const [site, zone, node] = [ids('site'), ids('zone').map(({ id }) => id), ids('node').map(({ id }) => id)];
  const below = (on: 'domain' | 'module' | 'certificate' | 'port') => {
    const [names, rows] = [ids(on).map(({ kind }) => kind), ids(on).map(({ id }) => id)];
    return sql`select d.kind, x.id, x."siteID" from unnest(${names}::text[], ${rows}::bigint[]) as d(kind, id) join ${sql.table(on)} x on x.id = d.id`;
  };
  await sql`
    with touched(kind, id, "siteID") as (
      select kind, id, id from unnest(${site.map(({ kind }) => kind)}::text[], ${site.map(({ id }) => id)}::bigint[]) as t(kind, id)
      union all ${below('domain')} union all ${below('module')} union all ${below('certificate')} union all ${below('port')}
    ), raised as (
      update site set revision = nextval('revision'), "changedAt" = clock_timestamp() where id in (select "siteID" from touched)
      returning id, revision
    ), zoned as (
      update zone set revision = nextval('revision') where id = any(${zone}) returning id, revision
    )
    insert into outbox (kind, "entityID", "siteID", "zoneID", revision)
      select t.kind, t.id, t."siteID", null::bigint, r.revision from touched t join raised r on r.id = t."siteID"
      union all select 'zone', z.id, null::bigint, z.id, z.revision from zoned z
      union all select 'node', n.id, null::bigint, n."zoneID", nextval('revision') from node n where n.id = any(${node})`.execute(
    db,
  );
}

/** Who did what nobody did: in the audit, to everybody who may read the line. */
export const theHouse = 'Breakwater';
/** What one server has written, and counted, of the day; by its database. */
const days = new WeakMap<Database, { room: AuditRoom; folds: AuditFolds }>();
export function auditDay(database: Database) {
  let day = days.get(database);
  if (!day) days.set(database, (day = { room: new AuditRoom(), folds: new AuditFolds() }));
  return day;
}

/** One line for each call that may change something, in the same transaction as the change; one for each that was refused; one for each sign-in. */
export async function audit({ database }: Pick<Services, 'database'>, db: Db, line: AuditLine): Promise<void> {
  const { actor } = line;
  const { room, folds } = auditDay(database);
  const kept = boundedChanges(line.changes);
  let touched = touchedBy(kept);
  let { url } = line;
  let body = JSON.stringify(boundedBody(redact(line.body ?? null, { names: line.confidential })));
  let changes = JSON.stringify(redactChanges(kept));
  const fixed = [line.reqID, actor.email, actor.proxyName, line.method, line.permission, line.ip, line.reason];
  const isIdle = !line.changes.length && !line.isKept;
  const take = (weight: number, kind: 'whole' | 'idle' | 'short') => {
    const payer = payerOf(line);
    if (!room.take(payer, weight, kind)) return false;
    // what is undone with its call has taken nothing of the day
    onUndone(db, () => room.give(payer, weight, kind));
    return true;
  };
  if (!take(weightOf([...fixed, url, body, changes, ...touched]), isIdle ? 'idle' : 'whole')) {
    if (isIdle) return folds.add({ ...line, body: null, changes: [] });
    [url, body, changes] = [pathOnly(url), 'null', JSON.stringify(redactChanges(boundedChanges(line.changes, 0)))];
    if (!take(weightOf([...fixed, url, changes, ...touched]), 'short')) {
      const few = fewChanges(line.changes);
      [changes, touched] = [JSON.stringify(redactChanges(few)), touchedBy(few)];
    }
  }
  await sql`
    insert into audit ("reqID", "accountID", "accountName", "proxyID", "proxyName", "clientID", "userID", area, method, url, permission, body, changes, ip,
      status, "durationMs", reason, touched, "tokenID", "tokenName")
    values (${line.reqID}, ${actor.accountID}, ${actor.email}, ${actor.proxyID}, ${actor.proxyName}, ${actor.clientID}, ${line.userID ?? (actor.area === 'user' && actor.accountID ? actor.rootID : null)},
      ${actor.area}, ${line.method}, ${url}, ${line.permission}, ${body}::jsonb, ${changes}::jsonb, ${line.ip}, ${line.status},
      ${Math.round(line.durationMs)}, ${line.reason ?? null}, ${touched.length ? touched : null},
      ${actor.token?.id ?? null}, ${actor.token?.name ?? null})`.execute(db);
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

/** Headers that let somebody in: what a customer sends to its origin with each request. Their value is a secret by their name. */
const secretHeaders =
  /auth|cookie|token|secret|key|password|(?:^|[-_])(?:pass|pin|otp|sid|pwd)|passw|signature|credential|jwt|session|bearer|sso|csrf|xsrf|saml/i;
interface Redaction {
  /** of fields that are marked in the contract */
  names?: ReadonlySet<string> | undefined;
  /** nothing is cut */
  isWhole?: boolean;
}
/** What was sent, or what a row held, without what must never be written down, and without what is too long to read. */
export function redact(value: unknown, how: Redaction = {}, depth = 0): unknown {
  const { names, isWhole = false } = how;
  if (Array.isArray(value)) return (isWhole ? value : value.slice(0, 100)).map(item => redact(item, how, depth + 1));
  if (typeof value === 'string') return !isWhole && value.length > 2000 ? cut(value, 2001) : value;
  if (value === null || typeof value !== 'object' || value instanceof Date || (!isWhole && depth > 6)) return value;
  const { name } = value as { name?: unknown };
  const isSecret = (key: string) => names?.has(key) || (key === 'value' && typeof name === 'string' && secretHeaders.test(name));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      // that it was taken away is no secret
      isSecret(key) && item !== null && item !== '' ? hidden : redact(item, how, depth + 1),
    ]),
  );
}
/** Where in what was sent the mark of a secret stands: it would take the secret's place. */
export function marksIn(sent: unknown, path = ''): { path: string; rule: 'wrongFormat' }[] {
  if (sent === null || typeof sent !== 'object') return [];
  const at = (key: string | number) => (path ? `${path}.${key}` : String(key));
  if (Array.isArray(sent)) return sent.flatMap((one, index) => marksIn(one, at(index)));
  const isSecret = 'name' in sent && typeof sent.name === 'string' && secretHeaders.test(sent.name);
  return Object.entries(sent).flatMap(([key, value]) =>
    isSecret && key === 'value' && isHidden(value) ? [{ path: at(key), rule: 'wrongFormat' as const }] : marksIn(value, at(key)),
  );
}

/** What of an answer one person sees who may read it by this permission: whoever may only look sees no secret in it, there or removed. */
export const seenBy = <T>({ permissions }: Pick<Actor, 'permissions'>, permission: string | null, values: T): T =>
  permission === null || !permission.endsWith('.view') || permissions.has(permission.replace(/\.view$/, '.edit'))
    ? values
    : // of the same shape: texts stand for texts
      (redact(values, { isWhole: true }) as T);
/** Whole, as people may put them back. */
const redactChanges = (changes: readonly KeptChange[]) =>
  changes.map(({ before, after, of: _of, under, ...change }) => {
    const shown = after && redact(after, { isWhole: true });
    return {
      ...change,
      ...(change.more !== undefined && under !== undefined && { under }),
      ...(before && { before: redact(before, { isWhole: true }) }),
      ...(after && { after: before ? renewed(before, after, shown) : shown }),
    };
  });
/** `shown` is `after` without its secrets; those that are others than before are told as such. */
function renewed(before: unknown, after: unknown, shown: unknown): unknown {
  if (shown === hidden && before !== undefined && before !== null) return after === before ? hidden : hiddenOther;
  if (typeof shown !== 'object' || shown === null) return shown;
  const at = (value: unknown, key: string) => (value as Record<string, unknown> | null | undefined)?.[key];
  const into = ([key, item]: [string, unknown]) => [key, renewed(at(before, key), at(after, key), item)] as const;
  const entries = Object.entries(shown).map(into);
  return Array.isArray(shown) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}
