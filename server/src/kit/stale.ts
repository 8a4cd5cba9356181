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
export const plain = (value: unknown): unknown => (value === undefined ? null : JSON.parse(JSON.stringify(value)));

/** The name of a row in the audit. */
export const touchedName = (table: string, id: number) => `${table}:${id}`;

/** Whom a line of the audit is about. */
export interface Who {
  area: string | null;
  clientID: number | null;
  userID: number | null;
}
/** Everybody learns who of its own people and of those below it was: a customer its own, an operator its own and its customers', an admin all. */
export const mayKnow = (actor: Actor, { area, clientID, userID }: Who): boolean =>
  actor.area === 'admin' ||
  (actor.area === 'client' ? area !== 'admin' && clientID !== null && clientID === actor.clientID : userID === actor.rootID);

/** The name of what is stored beside a row and belongs to it, in the audit: who changed it changed the row, in none of its columns. */
export const partsName = (name: string) => `${name}/parts`;
/** The name of rows of a table that hang on one row, in lines of the audit that do not name each: `module:5/redirect`. */
export const moreName = (table: string, parent = '') => `${parent}/${table}`;
/** Of a table whose rows hang on none: by whose they are. Operator and customer: `/site@3.7`. */
export const ofTenant = (name: string, ids: string) => `${name}@${ids}`;
/** The same for all customers of one operator: a line has no room for hundreds. */
export const widerName = (name: string) => name.replace(/^(\/[^@]*@\d+)\.\d+$/, '$1');

/** What of a request's effects is known here. */
interface Expects {
  expected?: number | undefined;
}

/**
 * Compares the version the caller saw, once: with the row that a call changes first. `before` carries `version` (or `rowVersion`) and `id`.
 * `follows`: what of `wanted` nobody sent. `parts`: what else of the row the call would change, by the field that wishes for it, as it is now.
 */
export async function expectRow(
  db: Db,
  effects: Expects,
  actor: Actor,
  table: string,
  before: Row,
  wanted: Row,
  {
    follows = [],
    parts = () => ({}),
  }: { follows?: readonly string[] | undefined; parts?: (() => Row | Promise<Row>) | undefined } = {},
): Promise<void> {
  const { expected } = effects;
  if (expected === undefined) return;
  effects.expected = undefined;
  const version = Number(before['rowVersion'] ?? before['version']);
  if (version === expected) return;
  const names = Object.keys(wanted).filter(
    name =>
      name !== 'id' &&
      !follows.includes(name) &&
      wanted[name] !== undefined &&
      !isDeepStrictEqual(plain(wanted[name]), plain(before[name])),
  );
  const now = { ...Object.fromEntries(names.map(name => [name, before[name] ?? null])), ...(await parts()) };
  const differing = Object.keys(now);
  // what is wished for is what is there
  if (!differing.length) return;
  const name = touchedName(table, Number(before['id']));
  const last = await row<Who & { accountName: string | null; createdAt: string }>(
    db,
    sql`select "accountName", area, "clientID", "userID", "createdAt" from audit
        where touched && array[${name}, ${partsName(name)}]::text[] order by id desc limit 1`,
  );
  const extra: Stale = {
    version,
    now,
    by: last && mayKnow(actor, last) ? last.accountName : null,
    at: last?.createdAt ?? null,
  };
  throw new Fail('parameter', { status: 409, errorData: differing.map(path => ({ path, rule: 'stale' })), extra });
}
