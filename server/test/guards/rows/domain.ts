/** Domains and their origins. */
import { after } from 'node:test';
import { sql } from 'kysely';
import { selfSigned } from '#host/certificates.ts';
import { readPair } from '#server/domain/certificate/pem.ts';
import { row } from '#server/store/db.ts';
import { FakeAuthority } from '../../acme-fake.ts';
import { keyID, secret, startFake } from '../../dns-fakes.ts';
import { next } from '../generate.ts';
import { type Finds, type ListRows, part } from '../list-rows.ts';
import type { Rig, Rows, World } from '../world.ts';

const times: Record<string, Finds> = {
  createdStart: ['2030-01-01T00:00:00Z', { createdAt: '2030-01-01T00:00:00Z' }, { createdAt: '2029-12-31T23:59:59Z' }],
  createdEnd: ['2002-01-01T00:00:00Z', { createdAt: '2001-12-31T23:59:59Z' }, { createdAt: '2002-01-01T00:00:00Z' }],
  updatedStart: ['2030-01-01T00:00:00Z', { updatedAt: '2030-01-01T00:00:00Z' }, { updatedAt: '2029-12-31T23:59:59Z' }],
  updatedEnd: ['2002-01-01T00:00:00Z', { updatedAt: '2001-12-31T23:59:59Z' }, { updatedAt: '2002-01-01T00:00:00Z' }],
};

let authority: Promise<FakeAuthority> | undefined;
after(async () => (await authority)?.stop());
/** Every operator has credentials of ZeroSSL, which takes any. */
async function zeroSSLTakes(rig: Rig): Promise<void> {
  const { db } = rig.api.database;
  const { directory, ca } = await (authority ??= new FakeAuthority().start());
  rig.api.services.acmeAt = { zeroSSL: directory, ca };
  await sql`delete from "zeroSSL"`.execute(db);
  await sql`insert into "zeroSSL" ("clientID", "eabKID", "eabHmacKey")
    select id, 'kid', ${rig.api.services.sealing.seal('zeroSSL.eabHmacKey', 'a'.repeat(43))} from account
    where auth = 'client' and "isRoot" and "deletedAt" is null`.execute(db);
}

/** A number that no port here has. */
const portOf = () => 10_000 + (next() % 40_000);
type WantedPort = { port?: number; scheme?: string };
/** One site has a number once: both rows are given another. */
const numbers: NonNullable<ListRows['sort']>[string] = async ({ rig, found, other }) => {
  const [first, last] = [portOf(), portOf()].sort((a, b) => a - b);
  for (const [id, port] of [
    [other, first],
    [found, last],
  ])
    await sql`update port set port = ${port} where id = ${id}`.execute(rig.api.database.db);
  return [first, last];
};
/** The zone of the site has the port that is wished for, and the product its layer. */
async function opened(rig: Rig, world: World, { port, scheme }: WantedPort) {
  const { db } = rig.api.database;
  const siteID = await rig.at(world, 'site');
  await sql`update product set "portType" = '7+4' where id = (select "productID" from site where id = ${siteID})`.execute(db);
  if (port && scheme)
    await sql`insert into "zonePort" ("zoneID", port, scheme) select g."zoneID", ${port}, ${scheme} from site s
      join product p on p.id = s."productID" join "group" g on g.id = p."groupID" where s.id = ${siteID} on conflict do nothing`.execute(
      db,
    );
}

/** Who is asked what an account holds; it ends with the process. */
let provider: ReturnType<typeof startFake> | undefined;
/** For every domain that is made here. */
const pair = selfSigned('*.test');

export const domainRows: Rows = {
  make: {
    certificate: async (rig, world) => {
      const { privateKey, issuers, notBefore, notAfter, ...read } = readPair(pair.certificate, pair.key);
      return rig.insert('certificate', {
        siteID: await rig.at(world, 'site'),
        sslName: `${world.name}-${next()}`,
        ...read,
        notBefore: notBefore.toISOString(),
        notAfter: notAfter.toISOString(),
        issuers: JSON.stringify(issuers),
        privateKey: rig.api.services.sealing!.seal('certificate.privateKey', privateKey),
      });
    },
    autoCertificate: async (rig, world) => {
      const domainID = await rig.fresh(world, 'domain', 'user');
      await sql`update domain set "autoSSL" = true where id = ${domainID}`.execute(rig.api.database.db);
      return rig.insert('autoCertificate', {
        domainID,
        provider: 'letsEncrypt',
        state: 'success',
        nextAt: '2030-01-01T00:00:00Z',
      });
    },
    siteDNS: async (rig, world) => {
      provider ??= startFake('dnspod');
      rig.api.services.dns = { resolvers: [], apis: { dnspod: (await provider).base } };
      return rig.insert('siteDNS', {
        siteID: await rig.at(world, 'site'),
        provider: 'dnspod',
        keyName: keyID,
        credentials: rig.api.services.sealing!.seal('siteDNS.credentials', secret),
        memo: `${world.name}-${next()}`,
      });
    },
    domain: async (rig, world) => {
      const id = await rig.insert('domain', { siteID: await rig.at(world, 'site'), domainName: `${world.name}-${next()}.test` });
      await rig.insert('upstream', { domainID: id, address: '192.0.2.251' });
      return id;
    },
    port: async (rig, world) => rig.insert('port', { siteID: await rig.at(world, 'site'), port: portOf(), scheme: 'https' }),
    portUpstream: async (rig, world) =>
      rig.insert('portUpstream', { portID: await rig.at(world, 'port'), address: `${world.name}-${next()}.origin.test` }),
    upstream: async (rig, world) =>
      rig.insert('upstream', { domainID: await rig.at(world, 'domain'), address: `${world.name}-${next()}.origin.test` }),
  },
  kindOfField: { domainIDs: 'domain', fromDomainID: 'domain', dnsID: 'siteDNS' },
  kindOfCall: {
    'POST /client/autoCertificates/renew': 'autoCertificate',
    'PUT /{area}/site/{siteID}/setting/dns': 'siteDNS',
    'DELETE /{area}/site/{siteID}/setting/dns': 'siteDNS',
    'DELETE /{area}/site/{siteID}/port/{portID}/upstreams': 'portUpstream',
    'PUT /{area}/site/{siteID}/port/{portID}/upstreams': 'portUpstream',
  },
  stage: {
    'POST /client/setting/system/zeroSSL/test': zeroSSLTakes,
    'POST /{area}/site/{siteID}/ports': async (rig, world, { ports }) => {
      for (const one of ports as WantedPort[]) await opened(rig, world, one);
    },
    'PUT /{area}/site/{siteID}/port/{portID}': (rig, world, body) => opened(rig, world, body),
  },
  parentParam: {
    domain: 'siteID',
    autoCertificate: 'domainID',
    certificate: 'siteID',
    siteDNS: 'siteID',
    upstream: 'domainID',
    port: 'siteID',
    portUpstream: 'portID',
  },
  queries: {
    'GET /{area}/site/{siteID}/setting/dns/domains': async (rig, world) => ({ dnsID: await rig.at(world, 'siteDNS') }),
  },
  bodies: {
    'DELETE /{area}/site/{siteID}/domainsByNames': async (rig, world) => {
      const id = await rig.fresh(world, 'domain', 'user');
      return {
        names: [(await row<{ n: string }>(rig.api.database.db, sql`select "domainName" as n from domain where id = ${id}`))!.n],
      };
    },
  },
  lists: {
    'GET /{area}/site/{siteID}/domains': {
      kind: 'domain',
      filters: {
        keywords: part('domainName'),
        tags: ['red', { tags: ['blue', 'red'] }, { tags: ['reddish'] }],
        cnameStatuses: ['active', { cnameStatus: 'active' }, {}],
        certStatus: ['success', { certStatus: 'success' }, {}],
        forceSSL: [true, { forceSSL: true }, {}],
        ...times,
      },
    },
    'GET /{area}/site/{siteID}/certificates': { kind: 'certificate', filters: { sslName: part('sslName') } },
    'GET /client/autoCertificates': { kind: 'autoCertificate' },
    'GET /{area}/site/{siteID}/setting/dns': { kind: 'siteDNS' },
    'GET /{area}/site/{siteID}/metaCertificates': { kind: 'certificate', filters: { keyword: part('sslName') } },
    'GET /{area}/site/{siteID}/simpleDomains': { kind: 'domain', filters: { keywords: part('domainName') } },
    'GET /{area}/site/{siteID}/metaDomains': { kind: 'domain', filters: { keyword: part('domainName') } },
    'GET /{area}/site/{siteID}/domain/{domainID}/upstreams': { kind: 'upstream' },
    'GET /{area}/site/{siteID}/ports': { kind: 'port', sort: { port: numbers } },
    'GET /{area}/site/{siteID}/port/{portID}/upstreams': { kind: 'portUpstream', filters: { keyword: part('address') } },
  },
  values: {
    domainName: owner => `${owner}-${next()}.test`,
    // names alone
    domains: owner => [`${owner}-${next()}.test`],
    // where every domain that is made here has an origin, and where none has
    from: () => '192.0.2.251',
    to: () => `192.0.3.${next() % 250}`,
    hsts: () => ({ enabled: true, maxAge: 60 + next(), includeSubDomains: false, preload: false }),
    port: portOf,
    portMap: () => ({ enabled: true, http: null, https: 1024 + next() }),
    certificate: () => pair.certificate,
    // what nodes ask origins for
    path: () => `/health${next()}`,
    // it has signed itself
    ca: () => pair.certificate,
    sni: owner => `${owner}-${next()}.test`,
    // where nothing else is set up
    provider: () => 'letsEncrypt',
    server: () => `ns${next()}.example.com`,
    keyName: owner => `${owner}-${next()}.test`,
    credentials: () => Buffer.alloc(32, next()).toString('base64'),
    eabHmacKey: () => `hmac_${String(next()).padStart(20, '0')}`,
    privateKey: () => pair.key,
    originHost: owner => `${owner}.origin.test`,
    address: () => `192.0.2.${(next() % 250) + 1}`,
  },
};
