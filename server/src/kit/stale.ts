/**
 * Two people and one row (decisions.md, Wire): a change may say which version of the row its maker saw (`If-Match`). Was the row changed
 * since in what this change names, nothing is done: the answer names the fields that differ, what they hold now, and who changed them.
 */
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { Fail, failFields } from '#contract/errors.ts';
import { type Db, row } from '../store/db.ts';
import type { Actor } from './actor.ts';

type Row = Record<string, unknown>;

/** `If-Match: "7"`; undefined where the caller does not say, or takes any version (`*`). 101003 for what is no version. */
export function versionSeen(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const found = /^\s*"(\d{1,9})"\s*$/.exec(header);
  if (!found) throw failFields([{ path: 'If-Match', rule: 'wrongFormat' }]);
  return Number(found[1]);
}

/** What 409 tells beside the fields: the console puts both states side by side. */
export interface Stale {
  version: number;
  /** of the fields that differ, as they are now */
  now: Row;
  /** null where it was done by somebody whose name this caller does not learn, or is no longer known */
  by: string | null;
  at: string | null;
}

/** As JSON has it: what is stored comes back with its keys in another order, and times as text. */
const plain = (value: unknown): unknown => (value === undefined ? null : JSON.parse(JSON.stringify(value)));

/** The name of a row in the audit. */
export const touchedName = (table: string, id: number) => `${table}:${id}`;

/** What of a request's effects is known here. */
interface Expects {
  expected?: number | undefined;
}

/** Compares the version the caller saw, once: with the row that a call changes first. `before` carries `version` (or `rowVersion`) and `id`. */
export async function expectRow(db: Db, effects: Expects, actor: Actor, table: string, before: Row, wanted: Row): Promise<void> {
  const { expected } = effects;
  if (expected === undefined) return;
  effects.expected = undefined;
  const version = Number(before['rowVersion'] ?? before['version']);
  if (version === expected) return;
  const names = Object.keys(wanted).filter(
    name => name !== 'id' && wanted[name] !== undefined && !isDeepStrictEqual(plain(wanted[name]), plain(before[name])),
  );
  // what is wished for is what is there
  if (!names.length) return;
  const last = await row<{ accountName: string | null; userID: number | null; createdAt: string }>(
    db,
    sql`select "accountName", "userID", "createdAt" from audit
        where touched @> array[${touchedName(table, Number(before['id']))}]::text[] order by id desc limit 1`,
  );
  // a customer reads its own people's lines alone
  const mayKnow = actor.area !== 'user' || last?.userID === actor.rootID;
  const extra: Stale = {
    version,
    now: Object.fromEntries(names.map(name => [name, before[name] ?? null])),
    by: mayKnow ? (last?.accountName ?? null) : null,
    at: last?.createdAt ?? null,
  };
  throw new Fail('parameter', { status: 409, errorData: names.map(path => ({ path, rule: 'stale' })), extra });
}
