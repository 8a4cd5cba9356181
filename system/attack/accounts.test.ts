/**
 * Who may act as whom (threat model, B): every call that acts on an account × people of two operators × people, against
 * an oracle that knows nothing of the product but a drawn tree. Which calls those are comes from the table of calls: one
 * that is new and unclassified fails here.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { groups } from '#contract/index.ts';
import { type Area, mounted, permissionKeys } from '#contract/kit/call.ts';
import { row } from '#server/store/db.ts';
import { idSlots } from '../../server/test/guards/generate.ts';
import { Api, type Person, type Reply } from '../../server/test/harness.ts';

type Body = Record<string, unknown>;
/** What each call that names an account does with it. */
const acting: Record<string, ((id: number, emptyRole: number) => Body)[]> = {
  'PUT /{area}/account': [id => ({ id, name: 'taken over' }), id => ({ id, status: 'pause' })],
  'PUT /{area}/account/password': [id => ({ id, password: 'set by somebody' })],
  'DELETE /{area}/account': [id => ({ ids: [id] })],
  'PUT /{area}/account/role': [(accountID, roleID) => ({ accountID, roleID })],
  'POST /{area}/proxy': [id => ({ id })],
  'POST /{area}/account/resendEmail': [id => ({ id })],
  'PUT /client/{clientId}/zones': [() => ({ zoneIDs: [] })],
};
/** Show sites to an account, or hide them from it. */
const sharing: Record<string, (userID: number, siteID: number) => Body> = Object.fromEntries(
  ['POST /client', 'DELETE /client', 'POST /user', 'DELETE /user'].map(key => [
    `${key}/site/users`,
    (userID: number, siteID: number) => ({ userIDs: [userID], siteIDs: [siteID] }),
  ]),
);
/** Calls on a role act on all who hold it. */
const onRoles: Record<string, (name: string) => Body | undefined> = {
  'PUT /{area}/role/{id}': name => ({ name, permissionKeys: [] }),
  'DELETE /{area}/role/{id}': () => undefined,
};
/** Calls that name an account or a role and do not act on it, with the reason. */
const harmless: Record<string, string> = {
  'GET /{area}/accounts': 'a list, narrowed to one operator',
  'GET /{area}/account/{id}/subs': 'a list',
  'GET /client/{clientId}/zones': 'a list that only the root of the tree reads',
  'GET /{area}/roles': 'a list, of which some are asked for by their ids',
  'POST /admin/license/issuing':
    'orders a licence for an operator of the vendor’s: who else’s is unknown, see server/test/licences.test.ts',
  'GET /admin/license/{userId}/order': 'what an operator holds, as far as it is the vendor’s',
  'GET /client/extraTrafficPlans': 'a list, narrowed to one operator',
  'GET /client/traffic/monthlyUsages': 'a list, narrowed to one operator',
  'POST /client/extraTrafficPlan': 'what a customer has beside its product: none is entered or changed by it',
  'PUT /admin/license/{userId}/order': 'what an operator may have: no account is entered or changed by it',
  'POST /client/site': 'sells a site to a customer: the site is the operator’s',
  'POST /{area}/account':
    'makes an account: nobody’s yet; which role it may get, and who sets its password, see server/test/accounts.test.ts',
};
const namesAccount = /^(account|user|client|owner|operator|customer|member|role)(s|IDs?|Ids?)?$/;

/** Whoever is drawn here exists in the test. `keys: undefined` is a root. */
interface Drawn {
  area: Area;
  parent?: string;
  keys?: string[];
  zones?: string[];
  /** of a root customer: its sites and their zones; of a sub-user: the sites it is shown */
  sites?: Record<string, string> | string[];
}
const every = (area: Area) => permissionKeys(groups, area);
const some = ['accounts.edit', 'accounts.view', 'roles.edit', 'roles.view', 'sites.view'];
const tree: Record<string, Drawn> = {
  admin: { area: 'admin' },
  admin2: { area: 'admin' },
  adminSub: { area: 'admin', parent: 'admin', keys: every('admin') },
  adminSubSub: { area: 'admin', parent: 'adminSub', keys: ['accounts.view'] },
  op: { area: 'client', parent: 'admin' },
  desk: { area: 'client', parent: 'op', keys: some, zones: ['north'] },
  deskClerk: { area: 'client', parent: 'desk', keys: ['sites.view'], zones: ['north'] },
  deskFar: { area: 'client', parent: 'desk', keys: ['sites.view'], zones: ['north', 'south'] },
  deskStrong: { area: 'client', parent: 'desk', keys: ['sites.edit'], zones: ['north'] },
  deskDeep: { area: 'client', parent: 'deskStrong', keys: [], zones: [] },
  sales: { area: 'client', parent: 'op', keys: every('client'), zones: ['north', 'south'] },
  salesClerk: { area: 'client', parent: 'sales', keys: some, zones: ['south'] },
  reader: { area: 'client', parent: 'op', keys: ['accounts.view', 'sites.view'], zones: ['north'] },
  readerSub: { area: 'client', parent: 'reader', keys: [] },
  shop: { area: 'user', parent: 'op', sites: { a: 'north', b: 'south' } },
  shopLead: { area: 'user', parent: 'shop', keys: every('user'), sites: ['a'] },
  shopLeadSub: { area: 'user', parent: 'shopLead', keys: some, sites: ['a'] },
  shopLeadFar: { area: 'user', parent: 'shopLead', keys: some, sites: ['b'] },
  shopOther: { area: 'user', parent: 'shop', keys: some, sites: ['b'] },
  shopOtherStrong: { area: 'user', parent: 'shopOther', keys: ['domains.edit'], sites: ['b'] },
  shopOtherSub: { area: 'user', parent: 'shopOther', keys: ['sites.view'], sites: [] },
  sold: { area: 'user', parent: 'sales', sites: { c: 'south' } },
  soldSub: { area: 'user', parent: 'sold', keys: ['sites.view'], sites: ['c'] },
  soldAbroad: { area: 'user', parent: 'sales', sites: { d: 'east' } },
  deskCustomer: { area: 'user', parent: 'desk', sites: {} },
  rival: { area: 'client', parent: 'admin2' },
  rivalSub: { area: 'client', parent: 'rival', keys: every('client'), zones: [] },
  rivalShop: { area: 'user', parent: 'rival', sites: {} },
  rivalShopSub: { area: 'user', parent: 'rivalShop', keys: every('user'), sites: [] },
};
const names = Object.keys(tree);

// The oracle: a dozen lines over the drawing.
const isRoot = (name: string) => tree[name]!.keys === undefined;
const rootOf = (name: string): string => (isRoot(name) ? name : rootOf(tree[name]!.parent!));
/** the root of the operator whose house this is */
const houseOf = (name: string): string => (tree[name]!.area === 'user' ? rootOf(tree[rootOf(name)]!.parent!) : rootOf(name));
const isAbove = (actor: string, name: string | undefined): boolean =>
  name !== undefined && (tree[name]!.parent === actor || isAbove(actor, tree[name]!.parent));
const zonesOfSites = (name: string): string[] => {
  const all = tree[rootOf(name)]!.sites as Record<string, string>;
  return isRoot(name) ? Object.values(all) : (tree[name]!.sites as string[]).map(site => all[site]!);
};
const isWithin = (actor: string, target: string) => {
  const [a, t] = [tree[actor]!, tree[target]!];
  if (a.area === 'user') return (t.sites as string[]).every(site => (a.sites as string[]).includes(site));
  const needed = t.area === 'client' ? (t.zones ?? []) : t.area === 'user' ? zonesOfSites(target) : [];
  return needed.every(zone => a.zones?.includes(zone));
};
function mayAct(actor: string, target: string): boolean {
  const [a, t] = [tree[actor]!, tree[target]!];
  if (actor === target) return false;
  if (a.area === 'admin' && isRoot(actor)) return t.area !== 'admin' || rootOf(target) === actor;
  if (!isAbove(actor, target)) return false;
  if (isRoot(actor)) return true;
  return isWithin(actor, target) && (t.keys ?? every(t.area)).every(key => a.keys!.includes(key));
}
function sees(actor: string, target: string): boolean {
  const { area } = tree[actor]!;
  if (area === 'admin') return true;
  if (area === 'client') return tree[target]!.area !== 'admin' && houseOf(target) === rootOf(actor);
  return rootOf(target) === rootOf(actor);
}
/** A site of the target's tree that the actor sees. */
function sharable(actor: string, target: string): string | undefined {
  if (tree[target]!.area !== 'user') return undefined;
  const all = Object.entries(tree[rootOf(target)]!.sites as Record<string, string>);
  const { area, sites, zones } = tree[actor]!;
  return all.find(
    ([site, zone]) => isRoot(actor) || (area === 'user' ? (sites as string[]).includes(site) : zones?.includes(zone)),
  )?.[0];
}
type Verdict = 'done' | 'denied' | 'unknown';
function expected(key: string, permission: string, actor: string, target: string): Verdict {
  const { keys } = tree[actor]!;
  if (keys && !keys.includes(permission)) return 'denied';
  // a root shares out its zones among its own people, and nobody else does
  if (key.endsWith('/zones'))
    return isRoot(target) || rootOf(target) !== rootOf(actor) ? 'unknown' : isRoot(actor) ? 'done' : 'denied';
  if (key.endsWith('/proxy') && !isRoot(actor)) return 'denied';
  if (!sees(actor, target) || (sharing[key] && tree[target]!.area !== 'user')) return 'unknown';
  if (!mayAct(actor, target)) return 'denied';
  // a role is of one tree: in another it is as unknown as a stranger's
  if (key.endsWith('/role') && rootOf(target) !== rootOf(actor)) return 'unknown';
  if (sharing[key] && !sharable(actor, target)) return 'unknown';
  return 'done';
}
/** May the actor change the role that `holder` holds and `maker` made? Nobody: the root did. */
function expectedOfRole(actor: string, holder: string, maker: string | undefined): Verdict {
  const { keys } = tree[actor]!;
  if (keys && !keys.includes('roles.edit')) return 'denied';
  if (rootOf(actor) !== rootOf(holder)) return 'unknown';
  if (!keys) return 'done';
  const isItsOwn = maker === actor || isAbove(actor, maker);
  const within = isAbove(actor, holder) && isWithin(actor, holder) && tree[holder]!.keys!.every(key => keys.includes(key));
  return isItsOwn && within ? 'done' : 'denied';
}
function verdictOf(reply: Reply, key = ''): string {
  if (reply.status === 200 || reply.body?.code === 205003) return 'done';
  // nobody has set a mail server here, and only whoever may act is told so, or asked to wait
  if (key.endsWith('/resendEmail') && (reply.body?.code === 101020 || reply.status === 429)) return 'done';
  // the installation's owner is deleted by nobody, and only whoever may act is told so
  if (key === 'DELETE /{area}/account' && reply.body?.errorData?.[0]?.rule === 'ownerStays') return 'done';
  if (reply.status === 403 && reply.body.code === 101018) return 'denied';
  if (reply.status === 404 && reply.body.code === 101003) return 'unknown';
  return reply.text;
}

let api: Api;
const people = new Map<string, Person>();
const emptyRoles = new Map<string, number>();
const siteIDs = new Map<string, number>();

async function insert(table: string, values: Record<string, unknown>): Promise<number> {
  const columns = Object.keys(values).map(name => sql.ref(name));
  return (await row<{ id: number }>(
    api.database.db,
    sql`insert into ${sql.table(table)} (${sql.join(columns)}) values (${sql.join(Object.values(values))}) returning id`,
  ))!.id;
}

before(async () => {
  api = await Api.start();
  const { db } = api.database;
  for (const [name, one] of Object.entries(tree)) {
    const root = isRoot(name) ? undefined : people.get(rootOf(name))!;
    const house = one.area === 'user' ? people.get(houseOf(name))!.id : undefined;
    const person = await api.account(one.area, `${name.toLowerCase()}@test.test`, {
      ...(root ? { rootID: root.id } : {}),
      ...(one.keys ? { keys: one.keys } : {}),
      ...(one.parent && one.area !== 'client' ? { parentID: people.get(one.parent)!.id } : {}),
      ...(one.area === 'client' && one.keys ? { parentID: people.get(one.parent!)!.id } : {}),
      parentClient: house,
      // the depth says nothing: everybody is as deep as everybody else
      grade: 1,
    });
    people.set(name, person);
    if (!root) emptyRoles.set(name, await insert('role', { rootID: person.id, name: 'empty', permissionKeys: [] }));
  }
  const op = people.get('op')!.id;
  const products = new Map<string, number>();
  for (const zone of ['north', 'south', 'east']) {
    const zoneID = await insert('zone', { clientID: op, name: zone });
    const groupID = await insert('group', { clientID: op, zoneID, name: zone });
    products.set(zone, await insert('product', { clientID: op, groupID, name: zone }));
    for (const name of names.filter(one => tree[one]!.zones?.includes(zone)))
      await sql`insert into "zoneAccount" values (${zoneID}, ${people.get(name)!.id})`.execute(db);
  }
  for (const root of names.filter(name => tree[name]!.area === 'user' && isRoot(name)))
    for (const [siteName, zone] of Object.entries(tree[root]!.sites as Record<string, string>)) {
      const siteID = await insert('site', {
        clientID: op,
        userID: people.get(root)!.id,
        productID: products.get(zone)!,
        siteName,
      });
      siteIDs.set(siteName, siteID);
      for (const name of names.filter(
        one => !isRoot(one) && rootOf(one) === root && (tree[one]!.sites as string[]).includes(siteName),
      ))
        await sql`insert into "siteUser" values (${siteID}, ${people.get(name)!.id})`.execute(db);
    }
  for (const table of ['account', 'role', 'session', 'siteUser', 'zoneAccount'])
    await sql`create table ${sql.table(`${table}Before`)} as select * from ${sql.table(table)}`.execute(db);
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

/** The house as it was. */
async function restore(): Promise<void> {
  const { db } = api.database;
  await sql`update account a set "deletedAt" = b."deletedAt", "parentID" = b."parentID", status = b.status, name = b.name, "roleID" = b."roleID",
      "lockedBy" = b."lockedBy", password = b.password from "accountBefore" b where b.id = a.id`.execute(db);
  await sql`update role r set "makerID" = b."makerID", "permissionKeys" = b."permissionKeys", "deletedAt" = b."deletedAt" from "roleBefore" b where b.id = r.id`.execute(
    db,
  );
  await sql`delete from "siteUser"`.execute(db);
  await sql`insert into "siteUser" select * from "siteUserBefore"`.execute(db);
  await sql`insert into "zoneAccount" select * from "zoneAccountBefore" on conflict do nothing`.execute(db);
  await sql`delete from session where id not in (select id from "sessionBefore")`.execute(db);
  await sql`update session set "endedAt" = null`.execute(db);
  await api.changed();
}

const calls = [...mounted(groups)];

describe('which calls act on an account', () => {
  test('every call that names one, or a role, is classified, and nothing else is', () => {
    const naming = calls.filter(call => {
      const slots = [call.def.body, call.def.query].flatMap(schema => (schema ? idSlots(schema) : []));
      const fields = [...slots.map(slot => slot.path.at(-1)!), ...call.params];
      return ['accounts', 'roles'].includes(call.group.resource) ? fields.length : fields.some(field => namesAccount.test(field));
    });
    const classified = [acting, sharing, onRoles].flatMap(Object.keys);
    const known = new Set([...classified, ...Object.keys(harmless)]);
    const unknown = [...new Set(naming.map(call => call.key))].filter(key => !known.has(key));
    assert.deepEqual(unknown, [], 'say in `acting` or `harmless` what these calls do with an account');
    const mountedKeys = new Set(calls.map(call => call.key));
    for (const key of [...classified, ...Object.keys(harmless)]) assert.ok(mountedKeys.has(key), key);
  });
});

test('every call that acts on an account × who asks × whose account: as the tree says', { timeout: 300_000 }, async () => {
  const wrong: string[] = [];
  const seen = { done: 0, denied: 0, unknown: 0 };
  for (const call of calls.filter(one => acting[one.key] ?? sharing[one.key]))
    for (const make of acting[call.key] ?? [sharing[call.key]!])
      for (const actor of names.filter(name => tree[name]!.area === call.area)) {
        const ask = async (target: string) => {
          const wanted = expected(call.key, call.permission!, actor, target);
          const named = sharing[call.key] ? siteIDs.get(sharable(actor, target) ?? 'a')! : emptyRoles.get(rootOf(actor))!;
          const body = make(people.get(target)!.id, named);
          const path = call.path.replace('{clientId}', String(people.get(target)!.id));
          const got = verdictOf(await api.call(call.method, path, { token: people.get(actor)!.token, body }), call.key);
          seen[wanted]++;
          if (got !== wanted) wrong.push(`${call.method} ${call.path} by ${actor} on ${target}: ${got} instead of ${wanted}`);
          return got;
        };
        // what is refused changes nothing: all at once. What is done is undone before the next.
        const may = names.filter(target => expected(call.key, call.permission!, actor, target) === 'done');
        const mayNot = names.filter(target => !may.includes(target));
        const got = await Promise.all(mayNot.map(ask));
        if (got.includes('done')) await restore();
        for (const target of may) {
          await ask(target);
          await restore();
        }
      }
  assert.deepEqual(wrong, [], `${wrong.length} wrong\n${wrong.slice(0, 40).join('\n')}`);
  // each verdict was really met
  for (const [verdict, n] of Object.entries(seen)) assert.ok(n > 100, `${verdict}: ${n}`);
});

test('every call on a role × who asks × who holds it × who made it', { timeout: 300_000 }, async () => {
  const { db } = api.database;
  const wrong: string[] = [];
  const seen = { done: 0, denied: 0, unknown: 0 };
  const subs = names.filter(name => !isRoot(name));
  const roleOf = new Map<string, number>();
  for (const name of subs)
    roleOf.set(
      name,
      (await row<{ roleID: number }>(db, sql`select "roleID" from account where id = ${people.get(name)!.id}`))!.roleID,
    );
  const makerOf = async (role: number) =>
    (await row<{ makerID: number | null }>(db, sql`select "makerID" from role where id = ${role}`))!.makerID;
  for (const holder of subs)
    for (const maker of [undefined, ...subs.filter(name => rootOf(name) === rootOf(holder))]) {
      const role = roleOf.get(holder)!;
      const makerID = maker === undefined ? null : people.get(maker)!.id;
      const make = async () => {
        await sql`update role set "makerID" = ${makerID} where id = ${role}`.execute(db);
        await api.changed();
      };
      for (const call of calls.filter(one => onRoles[one.key])) {
        const actors = names.filter(
          name =>
            tree[name]!.area === call.area &&
            // who may not touch any role, and who is of another tree, is asked once
            (maker === undefined ||
              (rootOf(name) === rootOf(holder) && (tree[name]!.keys ?? ['roles.edit']).includes('roles.edit'))),
        );
        const ask = async (actor: string) => {
          const wanted = expectedOfRole(actor, holder, maker);
          const path = call.path.replace('{id}', String(role));
          const body = onRoles[call.key]!(`role-${people.get(holder)!.id}`);
          const got = verdictOf(
            await api.call(call.method, path, { token: people.get(actor)!.token, ...(body ? { body } : {}) }),
          );
          seen[wanted]++;
          if (got !== wanted)
            wrong.push(
              `${call.method} by ${actor}, held by ${holder}, made by ${maker ?? 'the root'}: ${got} instead of ${wanted}`,
            );
          return got;
        };
        await make();
        const may = actors.filter(actor => expectedOfRole(actor, holder, maker) === 'done');
        const got = await Promise.all(actors.filter(actor => !may.includes(actor)).map(ask));
        if (got.includes('done')) await restore();
        for (const actor of may) {
          await make();
          await ask(actor);
          assert.equal(await makerOf(role), makerID, 'an edit makes nobody the maker');
          await restore();
        }
      }
      await restore();
    }
  assert.deepEqual(wrong, [], `${wrong.length} wrong\n${wrong.slice(0, 40).join('\n')}`);
  for (const [verdict, n] of Object.entries(seen)) assert.ok(n > 50, `${verdict}: ${n}`);
});

test('the list says beforehand what the calls will say', async () => {
  for (const actor of names.filter(name => !tree[name]!.keys || tree[name]!.keys.includes('accounts.view'))) {
    const { area, token } = people.get(actor)!;
    const { data } = (await api.call('GET', `/${area}/accounts?pageSize=500`, { token })).body as {
      data: { id: number; actAsDenied: string | null }[];
    };
    for (const one of data) {
      const target = names.find(name => people.get(name)!.id === one.id)!;
      assert.equal(one.actAsDenied === null, mayAct(actor, target), `${actor} on ${target}: ${one.actAsDenied}`);
    }
  }
});
