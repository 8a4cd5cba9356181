/** Tenants with rows of every kind, and requests that are right for them. */
import { createUser } from '@nats-io/nkeys';
import { sql } from 'kysely';
import type { Area, Group, Mounted } from '#contract/kit/call.ts';
import { permissionKeys } from '#contract/kit/call.ts';
import { createBusKeys } from '#server/bus/credentials.ts';
import { gateOf } from '#server/bus/gate.ts';
import type { Implementation } from '#server/kit/implement.ts';
import { newToken, sha256 } from '#server/kit/crypto.ts';
import type { NodeGate } from '#server/kit/services.ts';
import type { Table } from '#server/kit/table.ts';
import { row } from '#server/store/db.ts';
import type { Api, Person } from '../harness.ts';
import { generate, idSlots, next, sendable, type Slot, teach, type Values } from './generate.ts';
import type { ListRows } from './list-rows.ts';
import { accountRows } from './rows/account.ts';
import { analyticsRows } from './rows/analytics.ts';
import { cacheRows } from './rows/cache.ts';
import { domainRows } from './rows/domain.ts';
import { licenceRows } from './rows/licence.ts';
import { moduleRows } from './rows/module.ts';
import { nodeRows } from './rows/node.ts';
import { protectRows } from './rows/protect.ts';
import { mailRows } from './rows/mail.ts';
import { oidcRows } from './rows/oidc.ts';
import { resolutionRows } from './rows/resolution.ts';
import { siteRows } from './rows/site.ts';
import { siteLists } from './site-lists.ts';
import { systemRows } from './rows/system.ts';
import { trafficRows } from './rows/traffic.ts';

export interface Mount {
  groups: readonly Group[];
  implementations: readonly Implementation[];
  params: Record<string, Table>;
}

/** One line of rows: zone → group → product → site → domain → origin, with the people they belong to. */
export interface World {
  /** stands in every text of its rows */
  name: string;
  people: Record<Area, Person>;
  rows: Map<string, number>;
  /** of the walk its rows were made for */
  round?: number;
}

/** What the guards have to know of a folder's resources. Each folder says it in a file of its own below `rows/`. */
export interface Rows {
  /**
   * Makes a row of a kind. A kind is the name of its table; `customer` and `member` are accounts seen from a site.
   * Rows that the same path's POST makes (`POST /x` answers ids, `DELETE /x` takes them) need no line here.
   */
  make?: Record<string, (rig: Rig, world: World, area: Area) => Promise<number>>;
  /** Kinds that belong to nobody. */
  shared?: readonly string[];
  /** POSTs whose rows are every sub-account's of the operator that has the key: they hang on no zone and no site. */
  operatorWide?: readonly string[];
  /** Where a field's name does not tell its kind. */
  kindOfField?: Record<string, string>;
  /** Where the path does not tell either; by key, or by method and path where it is another in each area. */
  kindOfCall?: Record<string, string>;
  /** Kinds below the row that a path parameter names: a sibling's row is as unknown as a stranger's. */
  parentParam?: Record<string, string>;
  /** What a call is asked for, where it answers nothing without. */
  queries?: Record<string, (rig: Rig, world: World, area: Area) => Promise<Record<string, string | number>>>;
  /** Rows and bodies of calls that no schema tells. */
  bodies?: Record<string, (rig: Rig, world: World, area: Area, ids: Record<string, number>) => Promise<unknown>>;
  /** What must be so before a call can succeed. */
  stage?: Record<string, (rig: Rig, world: World, body: Record<string, unknown>, ids: Record<string, number>) => Promise<void>>;
  /** What the lists show, find and sort (lists.ts), by call. */
  lists?: Record<string, ListRows>;
  /** What a field of this name holds, where its schema alone does not say (generate.ts). */
  values?: Values;
}

const folders: readonly Rows[] = [
  accountRows,
  analyticsRows,
  cacheRows,
  domainRows,
  licenceRows,
  moduleRows,
  nodeRows,
  protectRows,
  mailRows,
  oidcRows,
  resolutionRows,
  siteRows,
  systemRows,
  trafficRows,
];
const all = <K extends keyof Rows>(what: K) =>
  Object.assign({}, ...folders.map(folder => folder[what] ?? {})) as Exclude<NonNullable<Rows[K]>, readonly string[]>;
const factories = all('make');
const kindOfField = all('kindOfField');
const kindOfCall = all('kindOfCall');
const parentParam = all('parentParam');
const special = all('bodies');
const queries = all('queries');
const stage = all('stage');
const ofSites = siteLists.map(({ call, table, row }): [string, ListRows] => [
  call,
  { kind: table, make: async (rig, world) => rig.insert(table, { ...row(), siteID: await rig.at(world, 'site') }) },
]);
export const lists: Record<string, ListRows> = { ...Object.fromEntries(ofSites), ...all('lists') };
const operatorWide = new Set(folders.flatMap(folder => folder.operatorWide ?? []));
export const isOperatorWide = (call: Mounted): boolean => operatorWide.has(call.key);
const shared = new Set(folders.flatMap(folder => folder.shared ?? []));
teach(all('values'));

const rounds = new WeakMap<Mounted, number>();
/** One of several walks over the table, each of which begins with rows of its own: what one filled has no room for another. */
export function inRound(call: Mounted, round: number): Mounted {
  const copy = { ...call };
  rounds.set(copy, round);
  return copy;
}

export interface Request {
  ids: Record<string, number>;
  body: unknown;
  query: Record<string, string | number>;
}
/** `?a=1&b=2`; nothing where nothing is asked for. */
export const queryText = (query: Record<string, string | number>) => {
  const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
};

/** Makes rows and requests on one server. */
export class Rig {
  readonly api: Api;
  readonly mount: Mount;
  readonly gate: NodeGate;

  constructor(api: Api, mount: Mount, gate: NodeGate) {
    this.api = api;
    this.mount = mount;
    this.gate = gate;
  }

  async insert(table: string, values: Record<string, unknown>): Promise<number> {
    const names = Object.keys(values);
    const made = await row<{ id: number }>(
      this.api.database.db,
      sql`insert into ${sql.table(table)} (${sql.join(names.map(n => sql.ref(n)))}) values (${sql.join(Object.values(values))}) returning id`,
    );
    return made!.id;
  }

  node(world: World, zoneID: number | null): Promise<number> {
    return this.insert('node', {
      clientID: world.people.client.id,
      zoneID,
      name: `${world.name}-${next()}`,
      publicKey: `U${next()}`,
    });
  }

  async joinBody(world: World, keep = false) {
    const user = createUser();
    const token = newToken();
    await sql`insert into "joinToken" (hash, "clientID", "expiredAt") values (${sha256(token)}, ${world.people.client.id}, now() + interval '1 hour')`.execute(
      this.api.database.db,
    );
    const body = {
      token,
      name: `${world.name}-${next()}`,
      publicKey: user.getPublicKey(),
      addresses: ['192.0.2.1'],
      version: '1',
    };
    return keep ? { ...body, user } : { ...body, user: undefined };
  }

  /** A tenant's people. With `of`: other rows of the same people. */
  async world(name: string, of?: Partial<Record<Area, Person>>): Promise<World> {
    const client = of?.client ?? (await this.api.account('client', `${name}-client@test.test`));
    const user = of?.user ?? (await this.api.account('user', `${name}-user@test.test`, { parentClient: client.id }));
    const admin = of?.admin ?? (await this.api.account('admin', `${name}-admin@test.test`));
    return { name, people: { client, user, admin }, rows: new Map() };
  }

  /** The one row of this kind that others hang on. */
  async at(world: World, kind: string, area: Area = 'client'): Promise<number> {
    const known = world.rows.get(`${kind} ${area}`) ?? world.rows.get(kind);
    if (known !== undefined) return known;
    const id = await this.fresh(world, kind, area);
    world.rows.set(kind === 'account' || kind === 'role' ? `${kind} ${area}` : kind, id);
    return id;
  }

  fresh(world: World, kind: string, area: Area): Promise<number> {
    const make = factories[kind];
    if (!make) throw new Error(`no rows of kind ${kind}: add a factory to the folder's file in server/test/guards/rows/`);
    return make(this, world, area);
  }

  tableOf(call: Mounted, param: string): Table {
    const own = this.mount.implementations.find(one => one.group === call.group)?.params[param];
    const found = own ?? this.mount.params[param];
    if (!found) throw new Error(`${call.key}: nobody says which table {${param}} names`);
    return found;
  }

  /** The POST beside a call that makes the rows its `id` and `ids` name. */
  sibling(call: Mounted): Mounted | undefined {
    const key = call.key.replace(/^\w+ /, '');
    const local = key.slice(call.group.base.length);
    const def = call.group.defs[`POST ${local}`];
    const answersIDs = def?.answer && idSlots(def.answer).some(slot => slot.path[0] === 'ids');
    const takesIDs = def?.body && idSlots(def.body).some(slot => slot.path[0] === 'ids');
    return def && answersIDs && !takesIDs ? { ...call, key: `POST ${key}`, method: 'POST', def } : undefined;
  }

  /** What an id names: a kind, or the rows that a call makes. */
  kindOf(call: Mounted, slot: Slot): string | Mounted {
    const name = slot.path.at(-1)!;
    const kind = kindOfField[name];
    if (kind) return kind;
    const told = kindOfCall[`${call.method} ${call.path}`] ?? kindOfCall[call.key];
    if (told) return told;
    // a list is asked for its own rows
    const listed = call.method === 'GET' && name === 'ids' ? lists[call.key]?.kind : undefined;
    if (listed && factories[listed]) return listed;
    if (name === 'id' || name === 'ids') {
      const made = this.sibling(call);
      if (made) return made;
      const words = call.path.split('/').reverse();
      const word = words.find(one => factories[one] || factories[one.replace(/s$/, '')]);
      if (word) return factories[word] ? word : word.replace(/s$/, '');
    }
    throw new Error(
      `${call.key}: what does ${slot.path.join('.')} name? Say so in kindOfField or kindOfCall of the folder's file in server/test/guards/rows/, and a factory if its rows are new.`,
    );
  }

  async id(call: Mounted, kind: string | Mounted, world: World, ids: Record<string, number>, token?: string): Promise<number> {
    const area = call.area ?? 'user';
    if (typeof kind === 'string') return this.fresh(world, kind, area);
    const body = await this.body(kind, world, ids);
    await stage[kind.key]?.(this, world, body as Record<string, unknown>, ids);
    const reply = await this.api.call('POST', pathOf(kind, ids), {
      token: token ?? world.people[area].token,
      ...sendable(kind, body),
    });
    if (reply.status !== 200) throw new Error(`${kind.key} made no row: ${reply.text} ${this.api.failures.splice(0).join(' ')}`);
    return reply.body.ids[0];
  }

  async ids(call: Mounted, world: World): Promise<Record<string, number>> {
    const round = rounds.get(call) ?? 0;
    if ((world.round ?? 0) !== round) world.rows.clear();
    world.round = round;
    const ids: Record<string, number> = {};
    for (const param of call.params) {
      const kind = kindOfTable(this.tableOf(call, param));
      const isVictim = call.method === 'DELETE' && call.path.endsWith(`{${param}}`);
      ids[param] = await (isVictim ? this.fresh(world, kind, call.area ?? 'user') : this.at(world, kind, call.area ?? 'user'));
    }
    return ids;
  }

  async body(call: Mounted, world: World, ids: Record<string, number>): Promise<unknown> {
    const { body: schema } = call.def;
    const told = special[call.key];
    if (told)
      return JSON.parse(
        JSON.stringify(omit(await told(this, world, call.area ?? 'user', ids), schema ? Object.keys(shapeOf(schema)) : [])),
      );
    if (!schema) return undefined;
    const values = new Map<string, unknown>();
    for (const slot of idSlots(schema)) {
      const id = await this.id(call, this.kindOf(call, slot), world, ids);
      values.set(slot.path.join('.'), slot.many ? [id] : id);
    }
    const keys = call.area ? permissionKeys(this.mount.groups, call.area) : [];
    return generate(schema, world.name, path => {
      if (path.at(-1) === 'permissionKeys') return keys.slice(0, 1);
      return values.get(path.join('.'));
    });
  }

  /** A request that should be answered by 200. */
  async request(call: Mounted, world: World): Promise<Request> {
    const ids = await this.ids(call, world);
    const body = await this.body(call, world, ids);
    await stage[call.key]?.(this, world, body as Record<string, unknown>, ids);
    return { ids, body, query: (await queries[call.key]?.(this, world, call.area ?? 'user')) ?? {} };
  }

  isShared(kind: string | Mounted, area: Area | undefined): boolean {
    // an admin may see every account
    const isAccount = typeof kind === 'string' ? kind === 'account' : isAccountCall(kind);
    return (typeof kind === 'string' && shared.has(kind)) || (area === 'admin' && isAccount);
  }
  /** Whether rows of this kind hang on a row of the path. */
  isBelowPath(call: Mounted, kind: string | Mounted): boolean {
    return typeof kind === 'string' ? call.params.includes(parentParam[kind] ?? '-') : kind.params.length > 0;
  }
}

/** Its name, with what is the same in all its rows: `module cors`. */
export const kindOfTable = ({ table, pin = {} }: Table) => [table, ...Object.values(pin)].join(' ');
export const isAccountCall = (call: Mounted) => call.key === 'POST /{area}/account';
const shapeOf = (schema: unknown) => (schema as { _zod: { def: { shape?: object } } })._zod.def.shape ?? {};
const omit = (value: unknown, known: string[]) =>
  Object.fromEntries(Object.entries(value as object).filter(([key]) => known.includes(key)));

/** The path with its ids filled in. */
export const pathOf = (call: Pick<Mounted, 'path'>, ids: Record<string, number | string>) =>
  call.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(ids[name]));

/** Joining as the server does it, without a bus to tell. */
export async function nodeGate(api: () => Api): Promise<NodeGate> {
  const authority = { keys: createBusKeys(), natsUrl: 'nats://127.0.0.1:4222' };
  return {
    ...gateOf({ query: (...given: [never]) => api().database.pool.query(...given) }, authority),
    notify: async () => {},
  };
}
