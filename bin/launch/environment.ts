/**
 * Every environment variable of Breakwater, once. From this list come `npm start -- --help`, the environment of each part (a part gets
 * what it is for and nothing else) and the tables of README.md and docs/handbook/running.md; environment.test.ts holds the sources to it.
 */

import { settingOf } from '#host/secrets.ts';

/** Who is handed a variable. `seed` are the short programs of the server: the first accounts, the demo. */
export type Receiver = 'launcher' | 'seed' | 'server' | 'ingest' | 'store' | 'agent';
export type Environment = Record<string, string>;

export interface Variable {
  readonly name: string;
  readonly about: string;
  /** What holds when it is not set, in words. */
  readonly default?: string;
  readonly for: readonly Receiver[];
  /** Its value opens something: it may be given as a file, NAME_FILE, and is handed on in no other way. */
  readonly secret?: true;
  /** It names a file that opens something: each part gets a copy of its own. */
  readonly holds?: 'path of a secret';
  /** The launcher sets it for its parts; a person needs it only to run a part on its own. */
  readonly internal?: true;
}

const v = (
  name: string,
  about: string,
  fallback: string | undefined,
  receivers: string,
  more: Partial<Variable> = {},
): Variable => ({
  name,
  about,
  ...(fallback !== undefined && { default: fallback }),
  for: receivers.split(' ') as Receiver[],
  ...more,
});
const secret = { secret: true } as const;
const path = { holds: 'path of a secret' } as const;
const internal = { internal: true } as const;

export const variables: readonly Variable[] = [
  v('BREAKWATER_DATA', 'where everything is kept', 'data/ in this folder', 'launcher server ingest'),
  v('BREAKWATER_PORT', 'console and API', '8080', 'launcher server ingest'),
  v(
    'BREAKWATER_HOST',
    'address at which other machines reach console and API, with TLS; 0.0.0.0 or :: for all',
    'none: loopback alone',
    'launcher server',
  ),
  v('BREAKWATER_TLS_PORT', 'port of console and API there', '8444', 'launcher server'),
  v(
    'BREAKWATER_PUBLIC_URL',
    'https address that people and nodes are told; behind a NAT or a proxy, or with a name',
    'https://, BREAKWATER_HOST and BREAKWATER_TLS_PORT',
    'launcher server',
  ),
  v(
    'BREAKWATER_TLS_CERT',
    'path of a certificate (PEM, with those above it) for console and API',
    'one of an authority of our own, made at the first start',
    'launcher server',
    path,
  ),
  v('BREAKWATER_BUNDLE', 'folder of what joining nodes download (`npm run bundle`)', 'bundle/ in this folder', 'server'),
  v('BREAKWATER_TLS_KEY', 'path of the key of that certificate', undefined, 'launcher server', path),
  v(
    'BREAKWATER_TLS_CA',
    'path of the certificate (PEM) of who vouches for it, which nodes check it by',
    'those every machine knows',
    'launcher server',
    path,
  ),
  v('BREAKWATER_EDGE_HTTP', 'the local edge node, HTTP', '8081', 'launcher agent'),
  v('BREAKWATER_EDGE_HTTPS', 'the local edge node, HTTPS', '8443', 'launcher agent'),
  v('BREAKWATER_EDGE_HOST', 'addresses the local edge node listens on, comma-separated', '127.0.0.1,::1', 'launcher agent'),
  v('BREAKWATER_EDGE_RELAY', 'where edges of its zone reach a node that is a relay', '8447', 'agent'),
  v('BREAKWATER_DNS', 'the embedded name server, UDP and TCP', '5353', 'launcher server'),
  v('BREAKWATER_DNS_HOST', 'addresses the embedded name server listens on, comma-separated', '127.0.0.1,::1', 'launcher server'),
  v('BREAKWATER_PASSWORD', 'password of the first accounts', 'made at the first start, printed once', 'launcher seed', secret),
  v(
    'BREAKWATER_BACKUP_PASSPHRASE',
    'passphrase of `breakwater backup` and `breakwater restore`; backups by the clock have theirs from the console',
    'none: backups are not encrypted',
    'launcher',
    secret,
  ),
  v('BREAKWATER_OFFLINE', '`true`: an offline build; the console has no admin area', 'false', 'server'),
  v(
    'BREAKWATER_LICENSE_KEYS',
    'vendors whose licence files are believed beside our own: public keys of 32 bytes in base64url, comma-separated',
    'none',
    'server',
  ),
  v(
    'BREAKWATER_ORIGIN_ALLOW',
    'networks (CIDR, comma-separated) in which origins may lie although they are private or loopback',
    'none',
    'launcher server',
  ),
  v('BREAKWATER_TRUSTED_PROXIES', 'proxies (addresses or CIDR, comma-separated) whose X-Forwarded-For counts', 'none', 'server'),
  v(
    'BREAKWATER_METRICS_ALLOW',
    'who beside loopback may read /metrics and /openapi.json (addresses or CIDR)',
    'nobody',
    'server',
  ),
  v('BREAKWATER_ACME_DIRECTORY', 'directory (https) of a certificate authority of your own, for autoSSL', 'none', 'server'),
  v(
    'BREAKWATER_ACME_AT',
    'directories of public authorities at other addresses (letsEncrypt=URL,zeroSSL=URL), such as those for trying out',
    'their own',
    'server',
  ),
  v(
    'BREAKWATER_ACME_CA',
    'path of the certificate (PEM) that vouches for these addresses',
    'those of the machine',
    'server',
    path,
  ),
  v(
    'BREAKWATER_DNS_RESOLVERS',
    'resolvers (address or address:port, comma-separated) asked whether a proof of a name can be seen, where no DNS gets out',
    'the name servers of the zone',
    'server',
  ),
  v(
    'BREAKWATER_DNS_API',
    'API of a DNS provider at another address (provider=URL, comma-separated), such as a gateway of your own',
    'their own',
    'server',
  ),
  v('BREAKWATER_LOG', 'how much the server says: fatal, error, warn, info, debug, trace', 'info', 'server ingest seed'),
  v('DATABASE_URL', 'a PostgreSQL of your own instead of the embedded one', undefined, 'launcher seed server ingest', secret),
  v('CLICKHOUSE_URL', 'a ClickHouse of your own instead of the embedded store', undefined, 'launcher server ingest', secret),
  v('CLICKHOUSE_USER', 'its user, if the URL names none', 'default', 'server ingest'),
  v('CLICKHOUSE_PASSWORD', 'its password, if the URL holds none', 'none', 'server ingest store', secret),
  v('CLICKHOUSE_DATABASE', 'its database, if the URL names none', 'breakwater', 'server ingest'),
  v('CLICKHOUSE_CLUSTER', 'its cluster: tables are made on all replicas', 'none', 'server ingest'),
  v(
    'NATS_URL',
    'a NATS of your own instead of the embedded one, its servers comma-separated; with NATS_CREDS, NATS_KEYS, NATS_SYSTEM_CREDS (`breakwater bus-config` writes them)',
    undefined,
    'launcher server ingest',
  ),
  v('NATS_CREDS', 'path of the credentials of server and ingest', undefined, 'launcher server ingest', path),
  v('NATS_KEYS', 'path of the keys with which nodes are signed', undefined, 'launcher server', path),
  v('NATS_SYSTEM_CREDS', 'path of the credentials of the system account', undefined, 'launcher server', path),
  v(
    'BREAKWATER_BUS_CA',
    'path of the certificate (PEM) of who vouches for a NATS on another machine',
    'none',
    'launcher server ingest',
    path,
  ),
  v(
    'BREAKWATER_BUS_NAME',
    'name in the certificate of that NATS, if it is not that of its address',
    'none',
    'launcher server ingest',
  ),
  v('BREAKWATER_BUS_HOST', 'address the bus listens on; beyond loopback with TLS', 'that of BREAKWATER_HOST', 'launcher'),
  v('BREAKWATER_BUS_PORT', 'its port, where other machines reach it', '4222', 'launcher'),
  v(
    'BREAKWATER_BUS_ADDRESS',
    'address of the bus that nodes are told: host or host:port, comma-separated for a cluster; the local node uses it too',
    'the host of BREAKWATER_PUBLIC_URL, else BREAKWATER_BUS_HOST; localhost if that is 0.0.0.0 or ::',
    'launcher server',
  ),
  v('BREAKWATER_BUS_CERT', 'path of its certificate (PEM)', 'one of our own authority; on loopback none', 'launcher'),
  v('BREAKWATER_BUS_KEY', 'path of the key of that certificate', undefined, 'launcher', path),
  v(
    'BREAKWATER_GEO',
    'data of where addresses are: packaged (those that come with the program, and an uploaded file in their place) or own (an uploaded file alone)',
    'packaged',
    'server',
  ),
  v('INGEST_FLUSH_LINES', 'lines that ingest inserts at once', 'its own', 'ingest'),
  v('INGEST_FLUSH_MS', 'how long ingest waits for them', 'its own', 'ingest'),

  v('BREAKWATER_URL', 'address of the control plane', 'http://127.0.0.1:8080', 'server agent', internal),
  v(
    'BREAKWATER_PEERS',
    'processes whose checks the server tells with its own: name=address, comma-separated',
    'none',
    'server',
    internal,
  ),
  v('BREAKWATER_SECRET_FILE', 'path of the 32 bytes of the installation', undefined, 'seed server', { ...path, ...internal }),
  v('BREAKWATER_JOIN_TOKEN', 'what a node joins with', undefined, 'agent', { ...secret, ...internal }),
  v('BREAKWATER_DNS_KEY', 'what changes of the embedded name server are signed with', undefined, 'server', {
    ...secret,
    ...internal,
  }),
  v('BREAKWATER_NODE_KEY', 'public key of the local node', undefined, 'seed', internal),
  v('BREAKWATER_NODE_JOINED', '`true`: it joined with that key', undefined, 'seed', internal),
  v('BREAKWATER_NODE_WAS', 'number of the local node, if its key may have been lost', undefined, 'seed', internal),
  v('BREAKWATER_NODE_DATA', 'what a node keeps', undefined, 'agent', internal),
  v('BREAKWATER_AGENT_PORT', 'loopback port of the health of a node', '9180', 'agent', internal),
  v(
    'BREAKWATER_OWN_PORTS',
    'loopback ports of the parts of this machine, at which no origin may lie',
    undefined,
    'server',
    internal,
  ),
  v('BREAKWATER_DEMO', '`true`: the demo runs, and its zone may have origins on loopback', undefined, 'server', internal),
  v('BREAKWATER_DEMO_ORIGIN', 'where the origin of the demo listens', undefined, 'seed', internal),
  v('BREAKWATER_DEMO_ANSWERS', 'the node of the demo is there: its names lead to it', undefined, 'seed', internal),
];

/** What belongs to the machine: every part gets it, as far as it is set. */
export const machine: readonly string[] = [
  'PATH',
  'LANG',
  'LC_ALL',
  'TZ',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_OPTIONS',
  'NODE_COMPILE_CACHE',
];

/** The environment of a part: what of `given` is for it, and what the machine gives. Everything else stays behind. */
export function environmentFor(receiver: Receiver, given: NodeJS.ProcessEnv, own: NodeJS.ProcessEnv = process.env): Environment {
  const mine = variables.filter(one => one.for.includes(receiver)).map(({ name }) => [name, given[name]] as const);
  const entries = [...machine.map(name => [name, own[name]] as const), ...mine];
  return Object.fromEntries(entries.filter((entry): entry is readonly [string, string] => Boolean(entry[1])));
}

/** What a person set, secrets also as files: handed on to the parts unless the launcher decides otherwise. */
export function handedOn(own: NodeJS.ProcessEnv): Environment {
  const entries = variables
    .filter(one => !one.internal)
    .map(one => [one.name, one.secret ? settingOf(one.name, own) : own[one.name]]);
  return Object.fromEntries(entries.filter(([, value]) => value)) as Environment;
}

/** The list for a terminal. */
export function helpText(): string {
  const width = Math.max(...variables.map(({ name }) => name.length)) + 2;
  return variables
    .filter(one => !one.internal)
    .map(one => `  ${one.name.padEnd(width)}${one.about}${one.default ? `  [${one.default}]` : ''}`)
    .join('\n');
}

/** The list for the handbook. */
export function table(): string {
  const rows = variables.map(
    one =>
      `| \`${one.name}\` | ${one.about}${one.secret ? `; a secret, also as \`${one.name}_FILE\`` : ''} | ${one.default ?? ''} | ${one.internal ? 'set for the parts: ' : ''}${one.for.join(', ')} |`,
  );
  return ['| variable | what | default | who gets it |', '|---|---|---|---|', ...rows].join('\n');
}
