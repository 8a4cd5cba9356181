/** What the process is told by its environment. */
import type { Services } from './kit/services.ts';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dnsProviders } from '#contract/limits.ts';
import { pinOf } from '#host/certificates.ts';
import { settingOf } from '#host/secrets.ts';
import { environmentRanges } from '#contract/rules/address-policy.ts';
import { toldURL } from './bus/address.ts';
import type { BusKeys } from './bus/credentials.ts';
import { type AnalyticsOptions, analyticsOptions } from './store/analytics/client.ts';
import { Networks } from './kit/networks.ts';
import { knotPaths } from './resolution/knot-launcher.ts';
import { updateKeyName } from './resolution/names.ts';
import { publishable } from './resolution/published.ts';
import { type BusTls, busTlsOf, isLoopback } from './bus/tls.ts';

export const serviceNames = ['api', 'work', 'ingest', 'bus'] as const;
export type ServiceName = (typeof serviceNames)[number];

export interface Settings {
  services: Set<ServiceName>;
  databaseUrl: string;
  clickhouse: AnalyticsOptions | undefined;
  natsUrl: string | undefined;
  /** where nodes are told that the bus is */
  toldUrl: string | undefined;
  natsCreds: string | undefined;
  natsKeys: BusKeys | undefined;
  busTls: BusTls | undefined;
  installationKey: Buffer;
  /** of loopback; what other machines reach is `outer` */
  port: number;
  publicURL: string;
  /** where console and API listen for other machines, with TLS */
  outer: { host: string; port: number; cert: string; key: string } | undefined;
  /** how other machines are told to come; undefined: they cannot */
  told: Told | undefined;
  /** whose X-Forwarded-For is believed */
  trustedProxies: Networks;
  /** who, beside this machine, may read /metrics and /openapi.json */
  metricsAllow: Networks;
  /** whose disk is watched */
  dataFolder: string | undefined;
  /** whether data of where addresses are that come with the program count */
  hasPackagedGeo: boolean;
  /** other processes whose checks are told with ours: name and address */
  peers: [name: string, url: string][];
  /** ranges in which origins may lie although they are not public */
  originAllow: string[];
  /** loopback ports of what runs beside us on this machine */
  ownPorts: number[];
  /** an authority of one's own (ACME); undefined: the public ones alone */
  acme: { directory: string; ca: string | undefined } | undefined;
  acmeAt: Services['acmeAt'];
  /** folder of what joining nodes download (`npm run bundle`) */
  bundleFolder: string;
  /** how a site's DNS accounts are reached */
  dns: DnsSettings;
  /** the embedded name server; undefined: there is none */
  knot: Services['knot'];
  /** vendors whose licence files are believed beside our own: public keys */
  licenceKeys: string[];
  /** this start shows the demo */
  demo: boolean;
}

function required(name: string, env: NodeJS.ProcessEnv): string {
  const value = settingOf(name, env);
  if (!value) throw new Error(`${name} is not set; \`npm start\` sets it, or see docs/handbook/running.md`);
  return value;
}

function geoOf(said: string): boolean {
  if (said !== 'packaged' && said !== 'own') throw new Error(`BREAKWATER_GEO must be packaged or own; “${said}” is neither.`);
  return said === 'packaged';
}

/** BREAKWATER_ACME_DIRECTORY and the file BREAKWATER_ACME_CA. */
function acmeOf(env: NodeJS.ProcessEnv): Settings['acme'] {
  const directory = env['BREAKWATER_ACME_DIRECTORY'];
  if (!directory) return undefined;
  if (!URL.canParse(directory) || new URL(directory).protocol !== 'https:')
    throw new Error('BREAKWATER_ACME_DIRECTORY must be an https address, such as https://ca.example/acme/directory.');
  const file = env['BREAKWATER_ACME_CA'];
  return { directory, ca: file ? readFileSync(file, 'utf8') : undefined };
}

const publicAuthorities = ['letsEncrypt', 'zeroSSL'] as const;
/** BREAKWATER_ACME_AT: authority=directory, comma-separated. */
function acmeAtOf(env: NodeJS.ProcessEnv): Settings['acmeAt'] {
  const text = env['BREAKWATER_ACME_AT'];
  if (!text) return undefined;
  const file = env['BREAKWATER_ACME_CA'];
  const at: NonNullable<Settings['acmeAt']> = { ca: file ? readFileSync(file, 'utf8') : undefined };
  for (const one of text.split(',')) {
    const [name, url = ''] = one.trim().split(/=(.*)/s);
    const authority = publicAuthorities.find(known => known === name);
    if (!authority || !URL.canParse(url) || new URL(url).protocol !== 'https:')
      throw new Error(`BREAKWATER_ACME_AT: ${one} is not authority=https://…, with one of ${publicAuthorities.join(', ')}.`);
    at[authority] = url;
  }
  return at;
}

/** How another machine finds console and API, and knows that it is them. */
export interface Told {
  /** https, without a path */
  url: string;
  /** PEM of the authority to check it by; undefined: one every machine knows */
  ca: string | undefined;
  /** of the key it shows, as curl takes it; undefined where somebody else may show another */
  pin: string | undefined;
}

/** BREAKWATER_HOST, BREAKWATER_TLS_PORT, _CERT, _KEY. @throws when it would speak plainly beyond this machine */
function outerOf(env: NodeJS.ProcessEnv): Settings['outer'] {
  const { BREAKWATER_HOST: host, BREAKWATER_TLS_CERT: cert, BREAKWATER_TLS_KEY: key } = env;
  if (!host || isLoopback(host)) return undefined;
  if (!cert || !key)
    throw new Error(
      `BREAKWATER_HOST=${host} would carry passwords plainly: set BREAKWATER_TLS_CERT and BREAKWATER_TLS_KEY, or leave it out.`,
    );
  const port = Number(env['BREAKWATER_TLS_PORT'] ?? 8444);
  return { host, port, cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}
function toldOf(env: NodeJS.ProcessEnv): Told | undefined {
  const { BREAKWATER_PUBLIC_URL: url, BREAKWATER_TLS_CA: caFile, BREAKWATER_TLS_CERT: cert } = env;
  if (!url) return undefined;
  const ca = caFile ? readFileSync(caFile, 'utf8') : undefined;
  return { url, ca, pin: ca && cert ? pinOf(readFileSync(cert, 'utf8')) : undefined };
}

export interface DnsSettings {
  /** asked whether a record can be seen; empty: who has the last word on it */
  resolvers: readonly string[];
  /** addresses of providers' APIs that are not where they usually are */
  apis: Readonly<Partial<Record<DnsApi, string>>>;
}
const dnsApis = dnsProviders.filter(name => name !== 'rfc2136');
export type DnsApi = (typeof dnsApis)[number];
const listOf = (value: string | undefined) => (value ?? '').split(',').flatMap(one => one.trim() || []);
/** BREAKWATER_DNS_RESOLVERS and BREAKWATER_DNS_API. */
function dnsOf(env: NodeJS.ProcessEnv): DnsSettings {
  const resolvers = listOf(env['BREAKWATER_DNS_RESOLVERS']);
  for (const one of resolvers)
    if (!isIP(one.replace(/^\[([^\]]+)\](?::\d{1,5})?$|^([^:]+):\d{1,5}$/, '$1$2')))
      throw new Error(`BREAKWATER_DNS_RESOLVERS: ${one} is no address, such as 192.0.2.53 or 192.0.2.53:5353.`);
  const apis: Partial<Record<DnsApi, string>> = {};
  for (const one of listOf(env['BREAKWATER_DNS_API'])) {
    const [, name, url = ''] = /^(\w+)=(.*)$/.exec(one) ?? [];
    const provider = dnsApis.find(api => api === name);
    if (!provider || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new Error(`BREAKWATER_DNS_API: ${one} is not provider=URL, with one of ${dnsApis.join(', ')}.`);
    apis[provider] = url.replace(/\/$/, '');
  }
  return { resolvers, apis };
}

/** BREAKWATER_DNS, _HOST and _KEY: the launcher sets the key where it starts one. */
function knotOf(env: NodeJS.ProcessEnv): Services['knot'] {
  const key = settingOf('BREAKWATER_DNS_KEY', env);
  const { BREAKWATER_DATA: folder, BREAKWATER_DNS: port, BREAKWATER_DNS_HOST: hosts } = env;
  if (!key || !folder || !port) return undefined;
  return {
    port: Number(port),
    key: { name: updateKeyName, algorithm: 'hmacSHA256', secret: Buffer.from(key, 'base64') },
    ...knotPaths(join(folder, 'dns')),
    addresses: publishable(listOf(hosts)),
  };
}

export function readSettings(args: string[], env: NodeJS.ProcessEnv): Settings {
  const asked = args
    .find(arg => arg.startsWith('--services='))
    ?.slice('--services='.length)
    .split(',') ?? [...serviceNames];
  for (const name of asked)
    if (!serviceNames.includes(name as ServiceName))
      throw new Error(`unknown service ${name}: choose from ${serviceNames.join(', ')}`);
  // it signs nothing: it is not given the key
  const ingestAlone = asked.length === 1 && asked[0] === 'ingest';
  const port = Number(env['BREAKWATER_PORT'] ?? 8080);
  return {
    services: new Set(asked as ServiceName[]),
    databaseUrl: required('DATABASE_URL', env),
    clickhouse: analyticsOptions(env),
    natsUrl: env['NATS_URL'],
    toldUrl: env['NATS_URL'] && toldURL(env['NATS_URL'], env['BREAKWATER_BUS_ADDRESS']),
    natsCreds: env['NATS_CREDS'] && readFileSync(env['NATS_CREDS'], 'utf8'),
    natsKeys: env['NATS_KEYS'] ? (JSON.parse(readFileSync(env['NATS_KEYS'], 'utf8')) as BusKeys) : undefined,
    busTls: busTlsOf(env),
    installationKey: ingestAlone ? Buffer.alloc(0) : readFileSync(required('BREAKWATER_SECRET_FILE', env)),
    port,
    publicURL: env['BREAKWATER_URL'] ?? `http://127.0.0.1:${port}`,
    outer: ingestAlone ? undefined : outerOf(env),
    told: toldOf(env),
    trustedProxies: Networks.of('BREAKWATER_TRUSTED_PROXIES', env['BREAKWATER_TRUSTED_PROXIES']),
    metricsAllow: Networks.of('BREAKWATER_METRICS_ALLOW', env['BREAKWATER_METRICS_ALLOW']),
    dataFolder: env['BREAKWATER_DATA'],
    hasPackagedGeo: geoOf(env['BREAKWATER_GEO'] ?? 'packaged'),
    peers: (env['BREAKWATER_PEERS'] ?? '').split(',').flatMap(one => {
      const [name, url] = one.split('=');
      return name && url ? [[name, url] as [string, string]] : [];
    }),
    originAllow: environmentRanges(env['BREAKWATER_ORIGIN_ALLOW']),
    ownPorts: (env['BREAKWATER_OWN_PORTS'] ?? '').split(',').filter(Boolean).map(Number),
    acme: acmeOf(env),
    acmeAt: acmeAtOf(env),
    bundleFolder: env['BREAKWATER_BUNDLE'] || fileURLToPath(new URL('../../bundle', import.meta.url)),
    dns: dnsOf(env),
    knot: knotOf(env),
    licenceKeys: (env['BREAKWATER_LICENSE_KEYS'] ?? '').split(',').flatMap(one => one.trim() || []),
    demo: env['BREAKWATER_DEMO'] === 'true',
  };
}
