/** What the house itself keeps: tasks. */
import { sql } from 'kysely';
import { part } from '../list-rows.ts';
import { next } from '../generate.ts';
import type { Rig, Rows, World } from '../world.ts';

const newTask = (rig: Rig, world: World, area: 'user' | 'client' | 'admin') =>
  rig.insert('task', {
    kind: 'copyModule',
    resource: 'modules',
    rootID: world.people[area].id,
    accountID: world.people[area].id,
    input: '{}',
    // the guard of strangers looks for the name
    about: JSON.stringify({ name: world.name, count: 1 }),
  });

const newAnnouncement = (rig: Rig, { name, people }: World) =>
  rig.insert('announcement', { clientID: people.client.id, title: `${name}-${next()}`, content: 'x', orderNum: 1 });

const newBrand = (rig: Rig, { name, people }: World) =>
  rig.insert('brand', { clientID: people.client.id, hostname: `${name.toLowerCase()}-${next()}.test`, title: name });
/** one pixel */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const image = () => ({ name: 'a.png', type: 'image/png', bytes: new Uint8Array(png) });

export const systemRows: Rows = {
  make: { task: newTask, announcement: newAnnouncement, brand: newBrand },
  operatorWide: ['POST /client/setting/announcement', 'POST /client/setting/logo'],
  kindOfCall: {
    'DELETE /client/setting/logos': 'brand',
    'GET /client/setting/logos': 'brand',
    'PUT /client/setting/logo': 'brand',
  },
  bodies: {
    'PUT /client/setting/system/restrictGroupCIDRs': async () => ({ cidrs: ['0.0.0.0/0', '::/0'] }),
    'PUT /client/setting/system/outgoingURL': async (_rig, { name }) => ({ outgoingURL: `https://${name.toLowerCase()}.test` }),
    'PUT /{area}/setting/tg': async () => ({ enable: true, token: `123456789:${'a'.repeat(35)}`, chatID: '-100' }),
  },
  values: {
    hostname: () => `guard-${next()}.test`,
    logo: image,
    favicon: image,
    backgroundImage: image,
    sidebarLogo: image,
    sidebarSimpleLogo: image,
  },
  stage: {
    'PUT /{area}/task/{taskID}/cancel': async (rig, _world, _body, { taskID }) =>
      void (await sql`update task set state = 'waiting', "endedAt" = null where id = ${taskID}`.execute(rig.api.database.db)),
    'PUT /{area}/task/{taskID}/retry': async (rig, _world, _body, { taskID }) =>
      void (await sql`update task set state = 'failed', "endedAt" = now() where id = ${taskID}`.execute(rig.api.database.db)),
  },
  lists: {
    'GET /client/setting/announcements': {
      kind: 'announcement',
      make: newAnnouncement,
      filters: { keyword: part('title', 'content') },
    },
    'GET /client/setting/logos': { kind: 'brand', make: newBrand, filters: { keyword: part('hostname', 'title') } },
    'GET /user/announcements': { kind: 'announcement', make: newAnnouncement },
    'GET /{area}/tasks': {
      kind: 'task',
      make: newTask,
      filters: {
        state: ['failed', { state: 'failed' }, {}],
        siteID: async ({ rig, world, found }) => {
          const siteID = await rig.fresh(world, 'site', 'client');
          await sql`update task set "siteID" = ${siteID} where id = ${found}`.execute(rig.api.database.db);
          return siteID;
        },
      },
    },
  },
};
