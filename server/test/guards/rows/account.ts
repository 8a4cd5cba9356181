/** Accounts and roles. */
import { permissionKeys } from '#contract/kit/call.ts';
import { holdLogin } from '#server/account/session.ts';
import { password } from '../../harness.ts';
import { sql } from 'kysely';
import { next } from '../generate.ts';
import { part } from '../list-rows.ts';
import type { Rig, Rows } from '../world.ts';

export const accountRows: Rows = {
  make: {
    account: async (rig, { name, people }, area) => {
      if (area === 'admin') return (await rig.api.account('client', `${name}-${next()}@test.test`)).id;
      const root = people[area];
      const parentClient = area === 'user' ? people.client.id : undefined;
      return (await rig.api.account(area, `${name}-${next()}@test.test`, { rootID: root.id, parentClient })).id;
    },
    customer: async (_rig, { people }) => people.user.id,
    member: async (rig, { name, people }) =>
      (await rig.api.account('user', `${name}-${next()}@test.test`, { rootID: people.user.id, parentClient: people.client.id }))
        .id,
    apiToken: (rig, { name, people }, area) =>
      rig.insert('apiToken', {
        accountID: people[area].id,
        rootID: people[area].id,
        name: `${name}-${next()}`,
        permissionKeys: [permissionKeys(rig.mount.groups, area)[0]!],
      }),
    role: (rig, { name, people }, area) =>
      rig.insert('role', {
        rootID: people[area].id,
        name: `${name}-${next()}`,
        permissionKeys: [permissionKeys(rig.mount.groups, area)[0]!],
      }),
  },
  kindOfField: { userID: 'customer', userIDs: 'member', roleID: 'role', role: 'role', accountID: 'account', zoneIDs: 'zone' },
  kindOfCall: { 'DELETE /{area}/apiTokens': 'apiToken', 'POST /{area}/proxy': 'account' },
  bodies: {
    'POST /{area}/verify': async (_rig, { people }, area) => ({ email: people[area].email, password }),
    'POST /{area}/login': async (rig, { people }, area) => ({
      ...(await holdLogin(rig.api.database.db, people[area].id)),
      login2FAType: undefined,
      email: people[area].email,
    }),
    'PATCH /{area}': (rig, { people }, area) => tokens(rig, people[area].id),
    'DELETE /{area}': (rig, { people }, area) => tokens(rig, people[area].id),
    'POST /{area}/account': async (rig, world, area) => ({
      email: `${world.name}-${next()}@test.test`,
      name: world.name,
      auth: area === 'admin' ? 'client' : area,
      language: 'en_US',
      // an admin makes roots, and those have no role
      ...(area === 'admin' ? {} : { role: await rig.fresh(world, 'role', area) }),
    }),
    'PUT /{area}/account/role': async (rig, world, area) => ({
      // a role is for somebody of the same tree
      accountID:
        area === 'admin'
          ? (await rig.api.account('admin', `${world.name}-${next()}@test.test`, { rootID: world.people.admin.id })).id
          : await rig.fresh(world, 'account', area),
      roleID: await rig.fresh(world, 'role', area),
    }),
    'POST /{area}/apiToken': async (rig, world, area) => ({
      name: world.name,
      // an admin has no sites
      ...(area === 'admin'
        ? { permissionKeys: ['accounts.view'] }
        : { permissionKeys: ['sites.view'], siteIDs: [await rig.at(world, 'site', area)] }),
      networks: ['127.0.0.0/8'],
      expiredAt: null,
    }),
    'DELETE /{area}/account/session': async (rig, { people }, area) => ({
      sessionID: (await tokens(rig, people[area].id)).refreshToken.split('.')[0],
    }),
    'PATCH /{area}/password': async () => ({ oldPassword: password, password }),
    'PUT /{area}/account/password': async (rig, world, area) => ({ id: await rig.fresh(world, 'account', area), password }),
  },
  lists: {
    'GET /{area}/accounts': {
      kind: 'account',
      filters: {
        name: part('email', 'name'),
        auth: ['user', { auth: 'user' }, { auth: 'client' }],
        status: ['pause', { status: 'pause' }, { status: 'normal' }],
        client: async ({ rig, world, found, other }) => {
          // an operator's own sub-accounts are found by it too, without a word in their rows
          const set = (id: number, to: number | null) =>
            sql`update account set auth = 'user', "parentClient" = ${to} where id = ${id}`.execute(rig.api.database.db);
          await set(found, world.people.client.id);
          await set(other, null);
          return world.people.client.id;
        },
        roleID: async ({ rig, world, found, other }) => {
          const [wanted, another] = [await rig.fresh(world, 'role', 'client'), await rig.fresh(world, 'role', 'client')];
          const set = (id: number, to: number) =>
            sql`update account set "roleID" = ${to} where id = ${id}`.execute(rig.api.database.db);
          await set(found, wanted);
          await set(other, another);
          return wanted;
        },
      },
    },
    'GET /{area}/account/{id}/subs': {
      kind: 'account',
      filters: { name: part('email', 'name') },
      make: async (rig, { name, people }, area, ids) => {
        const auth = area === 'admin' ? 'client' : area;
        const parentClient = area === 'user' ? people.client.id : undefined;
        const below = { rootID: people[auth].id, parentID: ids['id']!, parentClient };
        return (await rig.api.account(auth, `${name}-${next()}@test.test`, below)).id;
      },
    },
    'GET /{area}/roles': { kind: 'role', filters: { name: part('name') } },
    'GET /{area}/apiTokens': { kind: 'apiToken', filters: { name: part('name') } },
    'GET /{area}/metaRoles': { kind: 'role', filters: { keyword: part('name') } },
  },
  values: {
    email: owner => `${owner}-${next()}@test.test`,
    name: owner => `${owner}-${next()}`,
    memo: owner => `${owner} memo`,
    timezone: () => 'Asia/Taipei',
  },
};

async function tokens(rig: Rig, accountID: number) {
  const { accessToken, refreshToken } = await rig.api.sessions.open(rig.api.database.db, accountID);
  return { accessToken, refreshToken };
}
