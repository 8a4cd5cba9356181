/** Who answers for names, and the zones they lead into. */
import { sql } from 'kysely';
import { writeSetting } from '#server/system/settings.ts';
import { KnotDriver } from '#server/resolution/knot.ts';
import { zonesOf } from '#server/resolution/load.ts';
import { GeoData } from '#server/resolution/geo/data.ts';
import { testFolder } from '#system/engines.ts';
import { NameServer } from '#system/name-server.ts';
import { next } from '../generate.ts';
import { part } from '../list-rows.ts';
import { cityOf, mmdb } from '../../geo-files.ts';
import type { Rig, Rows } from '../world.ts';

/** Data of nobody but the guards. */
const geo = new GeoData(testFolder('guards-geo'), { hasPackages: false });
const keeping = async (rig: Rig): Promise<void> => void (rig.api.services.geo = geo);

const mmdbFile = () => ({
  name: 'a.mmdb',
  type: 'application/octet-stream',
  bytes: new Uint8Array(mmdb({ '198.51.100.0/24': cityOf('AS', 'TW') })),
});

let server: Promise<NameServer> | undefined;
/** The name server that comes with an installation. */
async function answering(rig: Rig): Promise<void> {
  server ??= NameServer.start();
  rig.api.services.knot = (await server).service;
}

/** As a name server of an operator's own is told of. */
const ofBind = () => ({
  server: `192.0.2.54:${1000 + next()}`,
  keyName: `key-${next()}`,
  algorithm: 'hmacSHA512',
  credentials: Buffer.from(`secret ${next()}`).toString('base64'),
});

/** Somebody came into the answers of a group. */
const cameTo = (rig: Rig, groupID: number) =>
  rig.insert('answerChange', { groupID, lineID: 1, version: 1, change: 'came', UID: 'n-1', name: 'n', reason: 'assigned' });

const copied = () => ({
  address: '192.0.2.56',
  port: 1000 + next(),
  keyName: `copy-${next()}`,
  algorithm: 'hmacSHA384',
  credentials: Buffer.from(`secret ${next()}`).toString('base64'),
});

/** They stand on the line already. */
const onLine: NonNullable<Rows['stage']>[string] = async (rig, _world, body, ids) => {
  for (const one of body['ids'] as number[])
    await sql`insert into "lineVirtualNode" ("groupID", "lineID", "virtualNodeID") values (${ids['g']}, ${ids['l']}, ${one})`.execute(
      rig.api.database.db,
    );
};
/** One that leads elsewhere has one record. */
const empty: NonNullable<Rows['stage']>[string] = async (rig, _world, _body, ids) => {
  await sql`delete from "virtualNodeRecord" where "virtualNodeID" = ${ids['id']}`.execute(rig.api.database.db);
};

export const resolutionRows: Rows = {
  make: {
    answerChange: async (rig, world) => cameTo(rig, await rig.at(world, 'group')),
    // an operator has one of a kind and address: each row has an address of its own
    dnsSetting: (rig, { people }) =>
      rig.insert('dnsSetting', { clientID: people.client.id, driver: 'knot', server: `ns${next()}.test` }),
    cname: async (rig, world) =>
      rig.insert('cname', {
        clientID: world.people.client.id,
        dnsSettingID: await rig.at(world, 'dnsSetting'),
        domainName: `zone-${next()}.example.net`,
      }),
    dnsSecondary: (rig, { people }) =>
      rig.insert('dnsSecondary', {
        clientID: people.client.id,
        address: '192.0.2.55',
        keyName: `copy-${next()}`,
      }),
    virtualNode: async (rig, world) =>
      rig.insert('virtualNode', {
        clientID: world.people.client.id,
        zoneID: await rig.at(world, 'zone'),
        name: `${world.name}-${next()}`,
      }),
    virtualNodeRecord: async (rig, world) =>
      rig.insert('virtualNodeRecord', {
        virtualNodeID: await rig.at(world, 'virtualNode'),
        nodeID: await rig.node(world, await rig.at(world, 'zone')),
        ipVersion: 'ipv4',
      }),
  },
  parentParam: { virtualNodeRecord: 'id' },
  kindOfCall: {
    'PUT /client/setting/dns': 'dnsSetting',
    'DELETE /client/setting/dns': 'dnsSetting',
    'POST /client/setting/dns/test': 'dnsSetting',
    'PUT /client/setting/dns/secondary': 'dnsSecondary',
    'DELETE /client/setting/dns/secondary': 'dnsSecondary',
    'PUT /client/setting/dns/cname': 'cname',
    'DELETE /client/setting/dns/cname': 'cname',
    'POST /client/setting/dns/cname/preview': 'cname',
    'POST /{area}/site/{siteID}/domains/checkCNAME': 'domain',
    'DELETE /client/virtualNode/{id}/record': 'virtualNodeRecord',
    'GET /client/virtualNode/{id}/records': 'virtualNode',
  },
  kindOfField: { dnsSettingID: 'dnsSetting' },
  operatorWide: ['POST /client/setting/dns/secondary', 'POST /client/setting/dns', 'POST /client/setting/dns/cname'],
  bodies: {
    'POST /client/setting/dns/secondary': async (_rig, world) => ({ ...copied(), memo: world.name }),
    'PUT /client/setting/dns/secondary': async (rig, world) => ({
      id: await rig.fresh(world, 'dnsSecondary', 'client'),
      ...copied(),
      memo: `${world.name}-${next()}`,
    }),
    'POST /client/setting/dns': async (_rig, world) => ({ ...ofBind(), driver: 'rfc2136', memo: world.name }),
    'PUT /client/setting/dns': async (rig, world) => ({
      id: await rig.insert('dnsSetting', {
        clientID: world.people.client.id,
        driver: 'rfc2136',
        server: `192.0.2.53:${1000 + next()}`,
        keyName: 'before',
      }),
      ...ofBind(),
      memo: `${world.name}-${next()}`,
    }),
    'PUT /client/setting/dns/geoData/source': async () => ({
      url: 'https://geo.test/city.mmdb',
      headerName: 'X-Key',
      header: `key-${next()}`,
      every: 'week',
    }),
    'POST /client/virtualNode/{id}/record/cname': async () => ({ target: `elsewhere-${next()}.example.org` }),
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
  values: { file: mmdbFile },
  queries: { 'GET /client/setting/dns/geoData/place': async () => ({ address: '198.51.100.1' }) },
  stage: {
    'PATCH /client/group/{g}/line/{l}/virtualNodes': onLine,
    'DELETE /client/group/{g}/line/{l}/virtualNodes': onLine,
    'POST /client/virtualNode/{id}/record/cname': empty,
    'POST /client/setting/dns': async (rig, world) => {
      await answering(rig);
      await sql`update "dnsSetting" set server = ${`ns${next()}.test`} where "clientID" = ${world.people.client.id} and server = ''`.execute(
        rig.api.database.db,
      );
    },
    'POST /client/setting/dns/test': answering,
    // it has the zone
    'POST /client/setting/dns/cname/preview': async (rig, _world, body) => {
      await answering(rig);
      const zones = (await zonesOf(rig.api.database.db, sql`c.id = ${body['id']}`)).map(({ zone }) => zone);
      await new KnotDriver((await server!).service).prepare(zones, zones, async () => () => []);
    },
    'GET /client/setting/dns/geoData/place': keeping,
    'POST /client/setting/dns/geoData/source/refresh': async (rig, { people }) => {
      const { db } = rig.api.database;
      await sql`update task set state = 'cancelled', "endedAt" = now() where kind = 'geoRefresh' and "endedAt" is null`.execute(
        db,
      );
      await sql`insert into "geoSource" ("clientID", url) values (${people.client.id}, 'https://geo.test/city.mmdb') on conflict do nothing`.execute(
        db,
      );
    },
    'POST /client/setting/dns/geoData': keeping,
    'DELETE /client/setting/dns/geoData': async rig => {
      await keeping(rig);
      (await geo.take(mmdb({ '198.51.100.0/24': cityOf('AS', 'JP') }))).count();
      await writeSetting(rig.api.database.db, null, 'geoData', geo.state.current!.own);
    },
    // of every domain it is known that it leads elsewhere
    'DELETE /client/setting/dns/cname': async (rig, world) => {
      await sql`insert into "cnameSeen" ("domainID") select d.id from domain d join site s on s.id = d."siteID" where s."clientID" = ${world.people.client.id}
        on conflict ("domainID") do update set "isUnknown" = false, "checkedAt" = clock_timestamp()`.execute(rig.api.database.db);
    },
    // one it answers for keeps it
    'DELETE /client/setting/dns': async (rig, world, body) => {
      await sql`delete from cname where "dnsSettingID" = any(${body['ids']})`.execute(rig.api.database.db);
      // what the account says of itself is as if its rows had been made by calls
      await sql`update account set "dnsType" = 'knot' where id = ${world.people.client.id}`.execute(rig.api.database.db);
    },
  },
  lists: {
    'GET /client/group/{g}/answers': {
      kind: 'answerChange',
      make: (rig, _world, _area, ids) => cameTo(rig, ids['g']!),
    },
    'GET /client/virtualNodes': {
      kind: 'virtualNode',
      filters: {
        keyword: part('name', 'memo'),
        zoneID: async ({ rig, world, found }) => {
          const zoneID = await rig.fresh(world, 'zone', 'client');
          await sql`update "virtualNode" set "zoneID" = ${zoneID} where id = ${found}`.execute(rig.api.database.db);
          return zoneID;
        },
      },
    },
    'GET /client/virtualNode/{id}/records': { kind: 'virtualNodeRecord' },
    'GET /client/group/{g}/line/{l}/virtualNodes': {
      kind: 'virtualNode',
      make: async (rig, world, _area, ids) => {
        const one = await rig.fresh(world, 'virtualNode', 'client');
        await rig.insert('lineVirtualNode', { groupID: ids['g'], lineID: ids['l'], virtualNodeID: one });
        return one;
      },
    },
    'GET /client/setting/dns/secondaries': { kind: 'dnsSecondary' },
    'GET /client/setting/dns': { kind: 'dnsSetting' },
    'GET /client/setting/dns/cname/meta': { kind: 'cname', filters: { keyword: part('domainName') } },
    'GET /client/setting/dns/cnames': { kind: 'cname', filters: { disabled: [true, { disabled: true }, {}] } },
  },
};
