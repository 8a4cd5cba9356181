/** Sites. */
import { next } from '../generate.ts';
import { sql } from 'kysely';
import { type Finds, type ListRows, part } from '../list-rows.ts';
import type { Rig, Rows, World } from '../world.ts';

/** A product of its own, in a group and a zone of its own; its site. */
async function apart({ rig, world, found }: { rig: Rig; world: World; found: number }, product: Record<string, unknown> = {}) {
  const { db } = rig.api.database;
  const zoneID = await rig.fresh(world, 'zone', 'client');
  const groupID = await rig.insert('group', { clientID: world.people.client.id, zoneID, name: `g-${next()}` });
  const productID = await rig.insert('product', { clientID: world.people.client.id, groupID, name: `p-${next()}`, ...product });
  await sql`update site set "productID" = ${productID} where id = ${found}`.execute(db);
  return { zoneID, productID };
}
const common: Record<string, Finds> = {
  siteName: part('siteName'),
  tags: ['red', { tags: ['blue', 'red'] }, { tags: ['reddish'] }],
};
const sort: ListRows['sort'] = {
  productID: async pair => {
    const [first, last] = [await apart(pair), await apart(pair)];
    return [first.productID, last.productID];
  },
};

const newRate = async (rig: Rig, world: World) =>
  rig.insert('rate', { siteID: await rig.at(world, 'site'), type: 'site', rate: 1 });

/** The sites of the body are shown to its accounts already. */
const shown: NonNullable<Rows['stage']>[string] = async (rig, _world, { siteIDs, userIDs }) => {
  for (const siteID of siteIDs as number[])
    for (const userID of userIDs as number[])
      await sql`insert into "siteUser" ("siteID", "userID") values (${siteID}, ${userID})`.execute(rig.api.database.db);
};

export const siteRows: Rows = {
  make: {
    rate: newRate,
    site: async (rig, world) =>
      rig.insert('site', {
        clientID: world.people.client.id,
        userID: world.people.user.id,
        productID: await rig.at(world, 'product'),
        siteName: `${world.name}-${next()}`,
      }),
  },
  kindOfField: { parentID: 'site', siteID: 'site', siteIDs: 'site', siteId: 'site', sites: 'site' },
  kindOfCall: {
    'DELETE /{area}/site/{siteID}/setting/rates': 'rate',
    'PUT /client/site/product/change': 'site',
    'PUT /client/site/product/refresh': 'site',
    // of whatever rows they are asked: server/test/history.test.ts asks for those of every list
    'GET /{area}/history': 'site',
    'GET /admin/history': 'account',
  },
  queries: {
    'GET /{area}/history': async (rig, world, area) =>
      area === 'admin'
        ? { resource: '/accounts', id: await rig.at(world, 'account', area) }
        : { resource: '/sites', id: await rig.at(world, 'site') },
    'GET /{area}/history/removed': async (rig, world, area): Promise<Record<string, string | number>> =>
      area === 'admin'
        ? { resource: '/accounts' }
        : { resource: '/site/{siteID}/setting/rates', parentID: await rig.at(world, 'site') },
  },
  parentParam: { rate: 'siteID' },
  stage: {
    'DELETE /user/site/users': shown,
    'DELETE /client/site/users': shown,
    'PUT /client/site/product/refresh': async (rig, _world, { ids }) =>
      void (await sql`update site set "domainLimit" = 7 where id = any(${ids as number[]})`.execute(rig.api.database.db)),
  },
  lists: {
    'GET /client/sites': {
      kind: 'site',
      sort,
      filters: {
        ...common,
        statuses: ['pause', { status: 'pause' }, {}],
        zoneID: async pair => (await apart(pair)).zoneID,
        productName: async pair => {
          const name = `Product%_${next()}`;
          await apart(pair, { name });
          return name.slice(2).toUpperCase();
        },
        portType: async pair => {
          await apart(pair, { portType: '7+4' });
          return '7+4';
        },
      },
    },
    'GET /user/sites': {
      kind: 'site',
      sort,
      filters: {
        ...common,
        status: ['pause', { status: 'pause' }, {}],
        productID: async pair => (await apart(pair)).productID,
      },
    },
    'GET /{area}/site/{siteID}/setting/rates': {
      kind: 'rate',
      make: newRate,
    },
    'GET /client/metaSites': { kind: 'site', filters: { keyword: part('siteName') } },
    'GET /user/metaSites': { kind: 'site', filters: { keyword: part('siteName') } },
  },
  values: {
    types: () => ['text/html'],
    siteName: owner => `${owner}-${next()}`,
    expired: () => new Date(Date.now() + 86_400_000).toISOString(),
  },
};
