/** Who answers for names, and the zones they lead into. */
import { sql } from 'kysely';
import { NameServer } from '#system/name-server.ts';
import { next } from '../generate.ts';
import type { Rig, Rows } from '../world.ts';

let server: Promise<NameServer> | undefined;
/** The name server that comes with an installation. */
async function answering(rig: Rig): Promise<void> {
  server ??= NameServer.start();
  rig.api.services.knot = (await server).service;
}

export const resolutionRows: Rows = {
  make: {
    // an operator has one of a kind and address: each row has an address of its own
    dnsSetting: (rig, { people }) =>
      rig.insert('dnsSetting', { clientID: people.client.id, driver: 'knot', server: `ns${next()}.test` }),
    cname: async (rig, world) =>
      rig.insert('cname', {
        clientID: world.people.client.id,
        dnsSettingID: await rig.at(world, 'dnsSetting'),
        domainName: `zone-${next()}.example.net`,
      }),
  },
  kindOfCall: {
    'DELETE /client/setting/dns': 'dnsSetting',
    'POST /client/setting/dns/test': 'dnsSetting',
    'PUT /client/setting/dns/cname': 'cname',
    'DELETE /client/setting/dns/cname': 'cname',
    'POST /{area}/site/{siteID}/domains/checkCNAME': 'domain',
  },
  kindOfField: { dnsSettingID: 'dnsSetting' },
  operatorWide: ['POST /client/setting/dns', 'POST /client/setting/dns/cname'],
  bodies: {
    'POST /client/setting/dns/cname': async (rig, world) => ({
      domainName: `zone-${next()}.example.net`,
      dnsSettingID: await rig.at(world, 'dnsSetting'),
      nameServers: ['ns1.example.org'],
      memo: world.name,
    }),
    'PUT /client/setting/dns/cname': async (rig, world) => ({
      id: await rig.fresh(world, 'cname', 'client'),
      disabled: true,
      nameServers: ['ns2.example.org'],
      memo: `${world.name}-${next()}`,
    }),
  },
  stage: {
    'POST /client/setting/dns': async (rig, world) => {
      await answering(rig);
      await sql`update "dnsSetting" set server = ${`ns${next()}.test`} where "clientID" = ${world.people.client.id} and server = ''`.execute(
        rig.api.database.db,
      );
    },
    'POST /client/setting/dns/test': answering,
    // one it answers for keeps it
    'DELETE /client/setting/dns': async (rig, world, body) => {
      await sql`delete from cname where "dnsSettingID" = any(${body['ids']})`.execute(rig.api.database.db);
      // what the account says of itself is as if its rows had been made by calls
      await sql`update account set "dnsType" = 'knot' where id = ${world.people.client.id}`.execute(rig.api.database.db);
    },
  },
  lists: {
    'GET /client/setting/dns': { kind: 'dnsSetting' },
    'GET /client/setting/dns/cnames': { kind: 'cname', filters: { disabled: [true, { disabled: true }, {}] } },
  },
};
