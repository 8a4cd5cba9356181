/** Domains and their origins. */
import { sql } from 'kysely';
import { selfSigned } from '#agent/render/self-signed.ts';
import { readPair } from '#server/domain/certificate/pem.ts';
import { row } from '#server/store/db.ts';
import { keyID, secret, startFake } from '../../dns-fakes.ts';
import { next } from '../generate.ts';
import { type Finds, part } from '../list-rows.ts';
import type { Rows } from '../world.ts';

const times: Record<string, Finds> = {
  createdStart: ['2030-01-01T00:00:00Z', { createdAt: '2030-01-01T00:00:00Z' }, { createdAt: '2029-12-31T23:59:59Z' }],
  createdEnd: ['2002-01-01T00:00:00Z', { createdAt: '2001-12-31T23:59:59Z' }, { createdAt: '2002-01-01T00:00:00Z' }],
  updatedStart: ['2030-01-01T00:00:00Z', { updatedAt: '2030-01-01T00:00:00Z' }, { updatedAt: '2029-12-31T23:59:59Z' }],
  updatedEnd: ['2002-01-01T00:00:00Z', { updatedAt: '2001-12-31T23:59:59Z' }, { updatedAt: '2002-01-01T00:00:00Z' }],
};

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
    upstream: async (rig, world) =>
      rig.insert('upstream', { domainID: await rig.at(world, 'domain'), address: `${world.name}-${next()}.origin.test` }),
  },
  kindOfField: { domainIDs: 'domain', dnsID: 'siteDNS' },
  kindOfCall: {
    'POST /client/autoCertificates/renew': 'autoCertificate',
    'PUT /{area}/site/{siteID}/setting/dns': 'siteDNS',
    'DELETE /{area}/site/{siteID}/setting/dns': 'siteDNS',
  },
  parentParam: { domain: 'siteID', autoCertificate: 'domainID', certificate: 'siteID', siteDNS: 'siteID', upstream: 'domainID' },
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
  },
  values: {
    domainName: owner => `${owner}-${next()}.test`,
    hsts: () => ({ enabled: true, maxAge: 60 + next(), includeSubDomains: false, preload: false }),
    portMap: () => ({ enabled: true, http: null, https: 1024 + next() }),
    certificate: () => pair.certificate,
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
