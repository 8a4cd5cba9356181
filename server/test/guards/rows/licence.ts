/** Licences of the vendor, and what operators hold. */
import { sql } from 'kysely';
import { next } from '../generate.ts';
import { part } from '../list-rows.ts';
import type { Rig, Rows, World } from '../world.ts';

const limits = {
  siteLimit: 0,
  nodeLimit: 0,
  zoneLimit: 0,
  domainLimit: 0,
  autoSSLLimit: 0,
  portType: '7' as const,
  nodeMonitorSeconds: 0,
};
const newLicense = (rig: Rig, { name, people }: World) =>
  rig.insert('license', { vendorID: people.admin.id, name: `${name}-${next()}`, ...limits });
const newFile = async (rig: Rig, { name, people }: World) => {
  const serial = `${name}-${next()}`;
  const issuedAt = new Date().toISOString();
  const values = { name: serial, serial, revision: 1, issuedAt, expiredAt: null, installationID: null, ...limits };
  const file = await rig.api.services.licences.sign({ product: 'breakwater', ...values });
  return rig.insert('offlineLicense', { ...values, vendorID: people.admin.id, file });
};
const registered: NonNullable<Rows['stage']>[string] = async (rig, _world, body) =>
  void (await sql`update "offlineLicense" set "installationID" = 'AAAAA-AAAAA-AAAAA-AAAAA', "registeredAt" = now()
    where id = any(${body['ids']})`.execute(rig.api.database.db));

export const licenceRows: Rows = {
  make: {
    license: newLicense,
    offlineLicense: newFile,
    operator: async (rig, { name }) => (await rig.api.account('client', `${name}-operator-${next()}@test.test`)).id,
  },
  shared: ['operator'],
  kindOfField: { licenseID: 'license' },
  kindOfCall: {
    'POST /admin/license/issuing': 'operator',
    'PUT /admin/license/offline': 'offlineLicense',
    'DELETE /admin/license/offline': 'offlineLicense',
    'DELETE /admin/license/offline/register': 'offlineLicense',
    'GET /admin/license/offlines': 'offlineLicense',
    'GET /admin/license': 'license',
    'GET /admin/license/orders': 'operator',
  },
  bodies: {
    'POST /admin/license/issuing': async (rig, world) => ({
      licenseID: await rig.fresh(world, 'license', 'admin'),
      userID: await rig.fresh(world, 'operator', 'admin'),
    }),
    'PUT /offline/license': async (rig, world) => ({
      license: await rig.api.services.licences.sign({
        product: 'breakwater',
        name: world.name,
        serial: `${world.name}-${next()}`,
        revision: 1,
        issuedAt: new Date().toISOString(),
        expiredAt: null,
        installationID: null,
        ...limits,
      }),
    }),
  },
  stage: {
    'DELETE /admin/license/offline/register': registered,
    'PUT /admin/license/{userId}/order': async (rig, _world, _body, { userId }) =>
      void (await sql`insert into "licenseOrder" ("clientID", kind) values (${userId}, 'order') on conflict do nothing`.execute(
        rig.api.database.db,
      )),
  },
  lists: {
    'GET /admin/license': { kind: 'license', make: newLicense, filters: { keyword: part('name') } },
    'GET /admin/license/orders': {
      kind: 'account',
      make: (rig, world) => rig.fresh(world, 'operator', 'admin'),
      filters: { keyword: part('email', 'name') },
    },
    'GET /admin/license/offlines': { kind: 'offlineLicense', make: newFile, filters: { keyword: part('name', 'serial') } },
  },
  values: { installationID: () => 'AAAAA-AAAAA-AAAAA-AAAAA' },
};
