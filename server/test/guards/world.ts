/** Tenants with rows of every kind, and requests that are right for them. */
import { createUser } from '@nats-io/nkeys';
import { sql } from 'kysely';
import type { Area, Group, Mounted } from '#contract/kit/call.ts';
import { permissionKeys } from '#contract/kit/call.ts';
import { createBusKeys } from '#server/bus/credentials.ts';
import { joinNode, renewalText, renewNode } from '#server/bus/join.ts';
import { holdLogin } from '#server/account/session.ts';
import type { Implementation } from '#server/kit/implement.ts';
import { newToken, sha256 } from '#server/kit/crypto.ts';
import type { NodeGate } from '#server/kit/services.ts';
import type { Table } from '#server/kit/table.ts';
import { row } from '#server/store/db.ts';
import { type Api, password, type Person } from '../harness.ts';
import { generate, idSlots, next, sendable, type Slot } from './generate.ts';

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
}

/**
 * Makes a row of a kind. A kind is the name of its table; `customer` and `member` are accounts seen from a site.
 * Rows that the same path's POST makes (`POST /x` answers ids, `DELETE /x` takes them) need no line here.
 */
const factories: Record<string, (rig: Rig, world: World, area: Area) => Promise<number>> = {
  account: async (rig, { name, people }, area) => {
    if (area === 'admin') return (await rig.api.account('client', `${name}-${next()}@test.test`)).id;
    const root = people[area];
    const parentClient = area === 'user' ? people.client.id : undefined;
    return (await rig.api.account(area, `${name}-${next()}@test.test`, { rootID: root.id, parentClient })).id;
  },
  customer: async (_rig, { people }) => people.user.id,
  member: async (rig, { name, people }) =>
    (await rig.api.account('user', `${name}-${next()}@test.test`, { rootID: people.user.id, parentClient: people.client.id })).id,
  role: (rig, { name, people }, area) =>
    rig.insert('role', {
      rootID: people[area].id,
      name: `${name}-${next()}`,
      permissionKeys: [permissionKeys(rig.mount.groups, area)[0]!],
    }),
  zone: (rig, { name, people }) => rig.insert('zone', { clientID: people.client.id, name: `${name}-${next()}` }),
  group: async (rig, world) =>
    rig.insert('group', {
      clientID: world.people.client.id,
      zoneID: await rig.at(world, 'zone'),
      name: `${world.name}-${next()}`,
    }),
  line: async () => 1,
  node: async (rig, world) => rig.node(world, await rig.at(world, 'zone')),
  product: async (rig, world) =>
    rig.insert('product', {
      clientID: world.people.client.id,
      groupID: await rig.at(world, 'group'),
      name: `${world.name}-${next()}`,
    }),
  site: async (rig, world) =>
    rig.insert('site', {
      clientID: world.people.client.id,
      userID: world.people.user.id,
      productID: await rig.at(world, 'product'),
      siteName: `${world.name}-${next()}`,
    }),
  domain: async (rig, world) => {
    const id = await rig.insert('domain', { siteID: await rig.at(world, 'site'), domainName: `${world.name}-${next()}.test` });
    await rig.insert('upstream', { domainID: id, address: '192.0.2.251' });
    return id;
  },
  upstream: async (rig, world) =>
    rig.insert('upstream', { domainID: await rig.at(world, 'domain'), address: `${world.name}-${next()}.origin.test` }),
};
/** Kinds that belong to nobody. */
const shared = new Set(['line']);
/** Where a field's name does not tell its kind. */
const kindOfField: Record<string, string> = {
  siteID: 'site',
  siteIDs: 'site',
  siteId: 'site',
  sites: 'site',
  userID: 'customer',
  userIDs: 'member',
  zoneID: 'zone',
  groupID: 'group',
  productID: 'product',
  roleID: 'role',
  accountID: 'account',
  domainIDs: 'domain',
  nodeIDs: 'node',
};
/** Where the path does not tell either. */
const kindOfCall: Record<string, string> = { 'POST /{area}/proxy': 'account' };
/** Kinds below the row that a path parameter names: a sibling's row is as unknown as a stranger's. */
const parentParam: Record<string, string> = { domain: 'siteID', upstream: 'domainID' };

/** Rows and bodies of calls that no schema tells. */
const special: Record<string, (rig: Rig, world: World, area: Area, ids: Record<string, number>) => Promise<unknown>> = {
  'POST /{area}/verify': async (_rig, { people }, area) => ({ email: people[area].email, password }),
  'POST /{area}/login': async (rig, { people }, area) => ({
    ...(await holdLogin(rig.api.database.db, people[area].id)),
    login2FAType: undefined,
    email: people[area].email,
  }),
  'PATCH /{area}': async (rig, { people }, area) => {
    const { accessToken, refreshToken } = await rig.api.sessions.open(rig.api.database.db, people[area].id);
    return { accessToken, refreshToken };
  },
  'DELETE /{area}': async (rig, world, area) => special['PATCH /{area}']!(rig, world, area, {}),
  'POST /{area}/account': async (rig, world, area) => ({
    email: `${world.name}-${next()}@test.test`,
    name: world.name,
    auth: area === 'admin' ? 'client' : area,
    language: 'en_US',
    // an admin makes roots, and those have no role
    ...(area === 'admin' ? {} : { roleID: await rig.fresh(world, 'role', area) }),
  }),
  'PUT /{area}/account/role': async (rig, world, area) => ({
    // a role is for somebody of the same tree
    accountID:
      area === 'admin'
        ? (await rig.api.account('admin', `${world.name}-${next()}@test.test`, { rootID: world.people.admin.id })).id
        : await rig.fresh(world, 'account', area),
    roleID: await rig.fresh(world, 'role', area),
  }),
  'PATCH /{area}/password': async () => ({ oldPassword: password, password }),
  'PUT /{area}/account/password': async (rig, world, area) => ({ id: await factories['account']!(rig, world, area), password }),
  'DELETE /{area}/site/{siteID}/domainsByNames': async (rig, world) => {
    const id = await rig.fresh(world, 'domain', 'user');
    return {
      names: [(await row<{ n: string }>(rig.api.database.db, sql`select "domainName" as n from domain where id = ${id}`))!.n],
    };
  },
  'DELETE /{area}/site/{siteID}/setting/urlCache': async (rig, world) => {
    const id = await rig.at(world, 'domain');
    const name = (await row<{ n: string }>(rig.api.database.db, sql`select "domainName" as n from domain where id = ${id}`))!.n;
    return { type: 1, urls: [`http://${name}/x`] };
  },
  'POST /node/join': async (rig, world) => ({ ...(await rig.joinBody(world)) }),
  'POST /node/credentials': async (rig, world) => {
    const { user, ...body } = await rig.joinBody(world, true);
    const joined = await rig.gate.join(body);
    const time = Date.now();
    const signature = Buffer.from(user!.sign(new TextEncoder().encode(renewalText(joined.nodeID, time)))).toString('base64');
    return { nodeID: joined.nodeID, time, signature };
  },
};
/** What must be so before a call can succeed. */
const stage: Record<
  string,
  (rig: Rig, world: World, body: Record<string, unknown>, ids: Record<string, number>) => Promise<void>
> = {
  'PATCH /client/group/{g}/line/{l}/nodes': async (rig, _world, body, ids) => {
    for (const node of body['ids'] as number[])
      await sql`insert into "lineNode" ("groupID", "lineID", "nodeID") values (${ids['g']}, 1, ${node})`.execute(
        rig.api.database.db,
      );
  },
  'POST /client/nodes/initialize': async (rig, _world, body) => {
    await sql`update node set "zoneID" = null where id = any(${body['ids']})`.execute(rig.api.database.db);
  },
};

export interface Request {
  ids: Record<string, number>;
  body: unknown;
}

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
    if (!make) throw new Error(`no rows of kind ${kind}: add a factory to server/test/guards/world.ts`);
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
    if (kindOfCall[call.key]) return kindOfCall[call.key]!;
    if (name === 'id' || name === 'ids') {
      const made = this.sibling(call);
      if (made) return made;
      const words = call.path.split('/').reverse();
      const word = words.find(one => factories[one] || factories[one.replace(/s$/, '')]);
      if (word) return factories[word] ? word : word.replace(/s$/, '');
    }
    throw new Error(
      `${call.key}: what does ${slot.path.join('.')} name? Say so in kindOfField or kindOfCall of server/test/guards/world.ts, and a factory if its rows are new.`,
    );
  }

  async id(call: Mounted, kind: string | Mounted, world: World, ids: Record<string, number>, token?: string): Promise<number> {
    const area = call.area ?? 'user';
    if (typeof kind === 'string') return this.fresh(world, kind, area);
    const body = await this.body(kind, world, ids);
    const reply = await this.api.call('POST', pathOf(kind, ids), {
      token: token ?? world.people[area].token,
      ...sendable(kind, body),
    });
    if (reply.status !== 200) throw new Error(`${kind.key} made no row: ${reply.text} ${this.api.failures.splice(0).join(' ')}`);
    return reply.body.ids[0];
  }

  async ids(call: Mounted, world: World): Promise<Record<string, number>> {
    const ids: Record<string, number> = {};
    for (const param of call.params) {
      const kind = this.tableOf(call, param).table;
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
    return { ids, body };
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
    join: body => joinNode(api().database.pool, authority, body),
    renew: body => renewNode(api().database.pool, authority, body),
    notify: async () => {},
  };
}
