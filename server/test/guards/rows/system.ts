/** What the house itself keeps: tasks. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { sql } from 'kysely';
import { password } from '../../harness.ts';
import { TxtServer } from '../../txt-server.ts';
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

const backups = {
  ...{ enabled: true, every: 'day', hour: 3, weekday: 7, timezone: 'UTC', target: 'folder', folder: '/srv/backups' },
  ...{
    prefix: 'a/',
    accessKeyID: 'AKIA',
    secretKey: 'only for a guard',
    passphrase: 'only for a guard',
    logs: true,
    keep: 3,
    restoreTest: true,
  },
};
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

let telegram: Server | undefined;
/** Every account has a token, and what answers takes each message. */
const telegramAnswers: NonNullable<Rows['stage']>[string] = async (rig, { people }) => {
  telegram ??= createServer((request, response) => {
    request.resume();
    response.end(JSON.stringify({ ok: true, result: {} }));
  }).listen(0, '127.0.0.1');
  if (!telegram.listening) await once(telegram, 'listening');
  rig.api.services.telegramAPI = `http://127.0.0.1:${(telegram.address() as AddressInfo).port}`;
  const body = { enable: true, token: `123456789:${'a'.repeat(35)}`, chatID: '-100' };
  for (const area of ['client', 'user'] as const)
    await rig.api.call('PUT', `/${area}/setting/tg`, { token: people[area].token, body });
};
let names: Promise<TxtServer> | undefined;
/** Every name is shown to be this operator's. */
export async function namesAreTheirs(rig: Rig, { people }: World): Promise<void> {
  const server = await (names ??= TxtServer.start());
  server.provesTo(rig.api.services, people.client.id);
  rig.api.services.dns = { resolvers: [server.address], apis: {} };
}
after(async () => {
  telegram?.close();
  (await names)?.stop();
});

export const systemRows: Rows = {
  make: { task: newTask, announcement: newAnnouncement, brand: newBrand },
  kindOfCall: {
    'DELETE /client/setting/logos': 'brand',
    'GET /client/setting/logos': 'brand',
    'PUT /client/setting/logo': 'brand',
  },
  operatorWide: ['POST /client/setting/announcement', 'POST /client/setting/logo'],
  bodies: {
    'POST /client/setting/announcement': async (_rig, { name }) => ({ title: `${name}-${next()}`, content: 'x' }),
    'PUT /client/setting/announcement': async (rig, world) => ({
      id: await rig.fresh(world, 'announcement', 'client'),
      title: `${world.name}-${next()}`,
    }),
    'PUT /client/setting/system/restrictGroupCIDRs': async () => ({ cidrs: ['0.0.0.0/0', '::/0'] }),
    'PUT /client/setting/system/log': async () => ({ level: 'warn', sampling: 1000 }),
    'PUT /client/setting/system/outgoingURL': async (_rig, { name }) => ({
      outgoingURL: `https://${name.toLowerCase()}.test`,
      ownPassword: password,
    }),
    // what S3 asks beside: system/backups.test.ts
    'PUT /client/setting/system/DBBackup': async () => ({
      ...backups,
      endpoint: 'https://s3.test',
      region: 'eu',
      bucket: 'vault',
      ownPassword: password,
    }),
    'POST /client/setting/system/DBBackup/run': async () => ({ kind: 'backup' }),
    'PUT /{area}/setting/webhook': async () => ({
      enable: true,
      url: 'https://hooks.test/x',
      secret: 'only for this guard',
      // of those that customers are told, too
      kinds: ['certificateFailed'],
    }),
    'PUT /{area}/setting/tg': async () => ({ enable: true, token: `123456789:${'a'.repeat(35)}`, chatID: '-100' }),
  },
  queries: {
    'GET /client/setting/logo/proof': async () => ({ hostname: 'guard.test' }),
    'GET /client/setting/system/outgoingURL/proof': async () => ({ outgoingURL: 'https://guard.test' }),
  },
  values: {
    // an announcement ends after it starts
    end: (_owner, made) => ('content' in made ? '2037-01-01T00:00:00.000Z' : undefined),
    hostname: () => `guard-${next()}.test`,
    logo: image,
    favicon: image,
    backgroundImage: image,
    sidebarLogo: image,
    sidebarSimpleLogo: image,
  },
  stage: {
    'GET /client/setting/logo/proof': namesAreTheirs,
    'GET /client/setting/system/outgoingURL/proof': namesAreTheirs,
    'POST /client/setting/logo': namesAreTheirs,
    'PUT /client/setting/logo': namesAreTheirs,
    'POST /{area}/setting/tg/test': telegramAnswers,
    'POST /{area}/setting/webhook/test': async (rig, { people }) => {
      const body = { enable: true, url: 'https://hooks.test/x', secret: 'only for this guard', kinds: [] };
      for (const area of ['client', 'user'] as const)
        await rig.api.call('PUT', `/${area}/setting/webhook`, { token: people[area].token, body });
    },
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
    'GET /user/announcements': {
      kind: 'announcement',
      make: newAnnouncement,
      // those of now alone are seen
      sort: {
        start: async () => ['2020-01-01T00:00:00.000Z', '2021-01-01T00:00:00.000Z'],
        end: async () => ['2090-01-01T00:00:00.000Z', '2091-01-01T00:00:00.000Z'],
      },
    },
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
