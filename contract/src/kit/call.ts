/**
 * The declaration of a call. The key is its line in calls.md: `'DELETE /domains'` under a base such as
 * `/{area}/site/{siteID}`. Server, console, OpenAPI, permission matrix and guards are readers of these tables.
 */
import type * as z from 'zod/mini';
import type { ErrorName } from '../errors.ts';
import type { Licensed } from '../limits-licences.ts';
import { type Area, areas } from './areas.ts';

export { type Area, areas };
export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof methods)[number];

export interface CallDef {
  query?: z.ZodMiniType;
  body?: z.ZodMiniType;
  /** Shape of the answer; left out: an empty object. */
  answer?: z.ZodMiniType;
  /** How the answer is sent; `json` unless said. */
  as?: 'json' | 'text' | 'csv' | 'sse';
  /** Of a `csv`: it is made while the reader takes it, however long it is. Each account may have few of them open, and is refused one more. */
  inPieces?: true;
  /** Key asked of the caller; default `resource.view` for GET, else `resource.edit`. null: any signed-in account. */
  permission?: string | null;
  /** `any`: session or API token; `session`: a person; `public`: nobody is asked; `node`: signed by a node's own key. */
  auth?: 'any' | 'session' | 'public' | 'node';
  /** Whether an audit row is written; default for all but GET. `refused`: it changes nothing that a line would tell, and a wrong password is told. */
  audit?: boolean | 'refused';
  /**
   * It decides where secrets go: the root account itself says it, with its own password and a code (`presence()` in its body, kit/present.ts;
   * what asks is kit/presence.ts of the server). No token, no sub-account, nobody in its name.
   */
  present?: true;
  /** Errors of the catalogue this call may answer beyond the ones every call may. */
  errors?: readonly ErrorName[];
  /** For the people of the installation's owner alone, the first operator; others are told 101018. */
  owner?: true;
  /**
   * false: goes on when the operator's licence has ended, is missing or illegal. Of calls that change something all others but deletions
   * are refused then (101019, 101022, 900001).
   */
  licence?: false;
  /**
   * What it edits is counted against the operator's licence: where there is more of it than the licence allows, it is refused, unless it
   * deletes. Of calls below a domain nobody need say it. false: makes, enables or disables, and asks for its room itself.
   */
  limited?: Licensed | false;
  /** Areas of this call, where they are fewer than the group's. */
  areas?: readonly Area[];
  /**
   * What it makes or removes belongs to a row of its path (the kind of that row): it heeds `If-Match` with that row's version, as every PUT
   * and PATCH heeds its row's, and answers the new one as `ETag`.
   */
  partOf?: string;
  /** The body is form data with files; `bodyLimit` bounds each file. */
  upload?: boolean;
  /** Largest body in bytes, where it is not the usual 1 MB. */
  bodyLimit?: number;
}

export interface GroupOptions {
  base: string;
  areas?: readonly Area[];
  resource: string;
  /** The resource whose key is asked in an area, where it is another than `resource`. */
  permission?: Partial<Record<Area, string>>;
  auth?: CallDef['auth'];
  /** What its calls tell and change is of sites that the caller sees, although no site stands in their path. */
  ofSites?: true;
  licence?: false;
  /** Its calls lead to a session, or to another second factor: 101013 and 101014 have their second reading there (§8). */
  isWayIn?: true;
  limited?: Licensed;
  /** What is still missing of what its calls promise: they are mounted, and go on counting as not yet built. */
  pending?: string;
}

export interface Group<B extends string = string, D extends Defs = Defs> extends GroupOptions {
  base: B;
  defs: D;
}
export type Defs = Record<`${Method} ${string}`, CallDef>;

/** What a folder exports: a group, or what brings its own (a setting one for each level, a module one). */
export type Declared = Group | { calls: Group | Record<string, Group> };
export type GroupsOf<T> = T extends Group ? T : T extends { calls: infer C } ? (C extends Group ? C : C[keyof C]) : never;
export function groupsOf(declared: Declared): readonly Group[] {
  if ('defs' in declared) return [declared];
  return isGroup(declared.calls) ? [declared.calls] : Object.values(declared.calls);
}
const isGroup = (calls: Group | Record<string, Group>): calls is Group => 'defs' in calls && typeof calls['base'] === 'string';

/** Declares the calls of one resource. */
export function calls<const B extends string, const D extends Defs>(options: GroupOptions & { base: B }, defs: D): Group<B, D> {
  for (const key of Object.keys(defs))
    if (!/^(GET|POST|PUT|PATCH|DELETE) (\/[^\s]*)?$/.test(key)) throw new Error(`not 'METHOD /path': ${key}`);
  for (const [key, def] of Object.entries(defs) as [string, CallDef][])
    // as declared
    if (def.present && (def.auth ?? options.auth) !== 'session') throw new Error(`${key}: who is present is a person`);
  return { ...options, defs };
}

type Names<P extends string> = P extends `${string}{${infer N}}${infer R}` ? N | Names<R> : never;
/** `/{area}/site/{siteID}` → `{siteID: number}`: every path parameter is a positive integer. */
export type Params<P extends string> = { [N in Exclude<Names<P>, 'area'>]: number };

type Join<K, B extends string> = K extends `${infer M} ${infer P}` ? `${M} ${B}${P}` : never;
type Part<D, K extends string> = D extends Record<K, infer T> ? T : undefined;
type In<T> = T extends z.ZodMiniType ? z.input<T> : undefined;
type Out<T> = T extends z.ZodMiniType ? z.output<T> : undefined;
type AnswerOf<D> =
  Part<D, 'as'> extends 'sse'
    ? Part<D, 'answer'> extends infer E
      ? AsyncIterable<E extends z.ZodMiniType ? z.output<E> : unknown>
      : never
    : Part<D, 'as'> extends 'text' | 'csv'
      ? string | FileText
      : Part<D, 'answer'> extends infer A
        ? A extends z.ZodMiniType
          ? z.output<A>
          : Record<never, never>
        : never;

/** Text with the name under which it is saved; what is too much for one piece comes in as many as there are. */
export interface FileText {
  name: string;
  text: string | AsyncIterable<string>;
}

/** What one call takes and gives, as plain types. */
export interface CallType<P, Q, B, A, QO = Q, BO = B> {
  params: P;
  query: Q;
  body: B;
  answer: A;
  queryOut: QO;
  bodyOut: BO;
}

type TypeOf<D, P extends string> = CallType<
  Params<P>,
  In<Part<D, 'query'>>,
  In<Part<D, 'body'>>,
  AnswerOf<D>,
  Out<Part<D, 'query'>>,
  Out<Part<D, 'body'>>
>;

/** The calls of a group, by their full key: `'GET /{area}/site/{siteID}/domains'`. */
export type ApiOf<G> =
  G extends Group<infer B, infer D> ? { [K in keyof D as Join<K, B>]: TypeOf<D[K], `${B}${K & string}`> } : never;

/** The same by the key as it is declared: `'GET /domains'`. */
export type CallsOf<G> = G extends Group<infer B, infer D> ? { [K in keyof D]: TypeOf<D[K], `${B}${K & string}`> } : never;

/** One mounted call: a declaration in one area. */
export interface Mounted {
  /** the key with its base, areas not expanded */
  key: string;
  method: Method;
  /** with the area filled in: `/user/site/{siteID}/domains` */
  path: string;
  area?: Area;
  params: string[];
  permission: string | null;
  auth: 'any' | 'session' | 'public' | 'node';
  audit: boolean;
  /** a refusal leaves an audit row; so does each call that leaves one */
  auditsRefusals: boolean;
  /** creates, enables or edits something of an operator's or its customers': it takes a licence in force */
  takesLicence: boolean;
  /** heeds `If-Match` */
  heeds: boolean;
  /** what it edits of that which a licence counts */
  limited: Licensed | undefined;
  def: CallDef;
  group: Group;
}

/** Every call of every group, one per area. */
export function* mounted(groups: readonly Group[]): Generator<Mounted> {
  for (const group of groups)
    for (const [key, def] of Object.entries(group.defs) as [keyof Defs, CallDef][]) {
      const [method, path] = key.split(' ') as [Method, string];
      const full = group.base + path;
      for (const area of full.includes('{area}') ? (def.areas ?? group.areas ?? areas) : [undefined])
        yield {
          key: `${method} ${full}`,
          method,
          path: area ? full.replace('{area}', area) : full,
          area:
            area ?? areas.find(name => full.startsWith(`/${name}/`) || full === `/${name}`) ?? onlyOf(def.areas ?? group.areas),
          params: [...full.matchAll(/\{(\w+)\}/g)].map(m => m[1]!).filter(name => name !== 'area'),
          permission: permissionOf(group, def, method, area),
          auth: def.auth ?? group.auth ?? 'any',
          audit: isAudited(def, method),
          auditsRefusals: def.audit === 'refused' || isAudited(def, method),
          takesLicence: takesLicence(group, def, method, area ?? onlyOf(group.areas)),
          heeds: method === 'PUT' || method === 'PATCH' || def.partOf !== undefined,
          limited: limitedBy(group, def, method, area ?? onlyOf(group.areas)),
          def,
          group: group as Group,
        };
    }
}

const isAudited = ({ audit }: CallDef, method: Method): boolean => audit !== 'refused' && (audit ?? method !== 'GET');

/** Whose call it is, where its path does not say so. */
const onlyOf = (named: readonly Area[] = []): Area | undefined => (named.length === 1 ? named[0] : undefined);

function limitedBy(group: Group, def: CallDef, method: Method, area?: Area): Licensed | undefined {
  if (!takesLicence(group, def, method, area)) return undefined;
  return (def.limited ?? group.limited ?? (group.base.includes('/{domainID}') ? 'domains' : undefined)) || undefined;
}

/** What the vendor does, and what nobody signed in does, is no operator's. */
function takesLicence(group: Group, def: CallDef, method: Method, area?: Area): boolean {
  const auth = def.auth ?? group.auth ?? 'any';
  return (
    (def.licence ?? group.licence) !== false &&
    isAudited(def, method) &&
    method !== 'DELETE' &&
    (auth === 'any' || auth === 'session') &&
    area !== 'admin'
  );
}

function permissionOf(group: Group, def: CallDef, method: Method, area?: Area) {
  const auth = def.auth ?? group.auth;
  if (auth === 'public' || auth === 'node') return null;
  if (def.permission !== undefined) return def.permission;
  const resource = (area && group.permission?.[area]) ?? group.resource;
  return `${resource}.${method === 'GET' ? 'view' : 'edit'}`;
}

const keysFound = new WeakMap<readonly Group[], Map<string, readonly string[]>>();
const isAmong: Readonly<Record<'all' | 'grantable' | 'sites', (call: Mounted) => boolean>> = {
  all: () => true,
  grantable: ({ def }) => !def.present,
  sites: ({ params, group }) => params.includes('siteID') || group.ofSites === true,
};
/** The keys of those of its calls, in order. A table never changes, and its keys are asked for at every request. */
function keysOf(groups: readonly Group[], area: Area, which: 'all' | 'grantable' | 'sites'): readonly string[] {
  const ofTable = keysFound.get(groups) ?? new Map<string, readonly string[]>();
  keysFound.set(groups, ofTable);
  const known = ofTable.get(`${which} ${area}`);
  if (known) return known;
  const keys = new Set<string>();
  for (const call of mounted(groups))
    if (call.area === area && call.permission && isAmong[which](call)) keys.add(call.permission);
  const found = [...keys].sort();
  ofTable.set(`${which} ${area}`, found);
  return found;
}

/** Every permission key that some call of the area asks for: the matrix of roles is derived from the table. */
export const permissionKeys = (groups: readonly Group[], area: Area): string[] => [...keysOf(groups, area, 'all')];

/** Those of them that one may give to somebody else: a call that only the root may make, itself (`present`), is nobody else's by any key. */
export const grantableKeys = (groups: readonly Group[], area: Area): ReadonlySet<string> =>
  new Set(keysOf(groups, area, 'grantable'));

/** Those of them that reach nothing but sites and what hangs on them: what an API token may hold that is for some sites alone. */
export const siteKeys = (groups: readonly Group[], area: Area): string[] => [...keysOf(groups, area, 'sites')];
