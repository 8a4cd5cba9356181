/**
 * Node facts → the text of nginx.conf. `renderNginx` is pure apart from reading the template (edge/nginx/nginx.conf) once.
 *
 * It says nothing about any site: what a domain does is a record (records.ts). With other facts nginx is reloaded; dictionaries survive.
 *
 * What the caller prepares before nginx starts:
 *   <run>/ctl 0700 of the caller (holds ctl.sock), <run>/back 0700 of `user` (holds back.sock), <cacheDir>, <logDir>, <tempDir>;
 *   <run>/default.crt and default.key, when httpsPorts is not empty (`selfSigned()` of host/certificates.ts), and before nginx 1.23.2 the files
 *   of `ticketFiles`, 80 random bytes each; `quicKeyFile`, 32, with `http3`.
 * A socket left by a killed nginx must be removed first: nginx does not start on one.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessLogFormat } from '#contract/edge/log.ts';
import { nodeLogDefaults, type nodeLogLevels } from '#contract/limits.ts';
import { edgeFolder } from './edge-folder.ts';
import { grpcFailed, grpcLocation } from './grpc.ts';
import { listenAt, type ListenFacts, listensOf, type ZonePort } from './listen.ts';
import { type FleetFacts, relayValues } from './relays.ts';
import { sampled } from './sampled.ts';
import { type Trust, trustLocations } from './trusts.ts';
import { cpuMask, path, whole } from './words.ts';

export interface NodeFacts extends ListenFacts {
  /** absolute; sockets, pid file, default certificate */
  run: string;
  /** absolute; edge/lua of this checkout */
  luaDir: string;
  /** absolute; nginx's temporary files: request bodies, answers on their way into the cache */
  tempDir: string;
  cacheDir: string;
  /** absolute; access.log and error.log */
  logDir: string;
  /** absolute path of the file written by records.ts `snapshot`; it need not exist */
  snapshot: string;
  /** default: as many as there are cores */
  workers?: number | undefined;
  /** numbers of the CPUs its workers stay on; default: all */
  cpus?: readonly number[] | undefined;
  /** account of the workers. Leave out when nginx is not started by root; it must be able to enter the folders above. */
  user?: string;
  /**
   * First part of every request id: new at each start of nginx (not needed at a reload), so that ids never repeat on a node.
   * 1 to 12 characters of [0-9a-z].
   */
  epoch: string;
  /** which life of the cache it is, in front of every key (cache-age.ts); default: none, the first */
  cacheAge?: string;
  accessLog?:
    | {
        /** default 0: each line is written at once, because a line in a worker's buffer dies with the worker */
        bufferKb?: number;
        /** default 1 */
        flushSeconds?: number;
      }
    | false;
  /** size of the cache on disk, MB (default 10,240) */
  cacheSizeMb?: number | undefined;
  /** so many files the cache may make, at least 8,000 (default: as many as fit its size) */
  cacheFiles?: number | undefined;
  /** the cache gives way when less than this is free on its disk, MB (default 512) */
  cacheLeavesFreeMb?: number;
  /** an object nobody asked for so long is dropped, hours (default 168) */
  cacheInactiveHours?: number;
  /** memory for the records, MB; twice their size (default 256) */
  recordsMb?: number | undefined;
  /** memory for certificates, MB: 2 KB each, with a key of RSA 4 (default 64) */
  certificatesMb?: number | undefined;
  /** of nginx: three numbers (default: that of Debian 12) */
  release?: Release | undefined;
  /** visitors may speak HTTP/2 (default true) */
  http2?: boolean | undefined;
  /** visitors may speak HTTP/3 at the usual ports of https (default false): only where nginx has it */
  http3?: boolean | undefined;
  /** nginx was built with HTTP/3 */
  hasHTTP3?: boolean | undefined;
  /** how it knows the other nodes of its zone; undefined: it asks no relay and is none */
  fleet?: FleetFacts | undefined;
  /** by which authorities certificates of origins are verified (default: none) */
  trusts?: readonly Trust[] | undefined;
  /** longest request body, MB (default 1024; 0: any) */
  bodyMb?: number;
  /** where Debian keeps nginx's modules (default /usr/lib/nginx/modules) */
  modulesDir?: string;
  /** nginx has the filter for brotli (default true); without it answers are compressed by gzip alone */
  brotli?: boolean;
  /** connections of a worker, with visitors and origins and between the halves (default 16,384) */
  connections?: number;
  /** open files per worker; default: the limit nginx is started with. Raising that takes root. */
  openFiles?: number;
  /** default: notice */
  errorLevel?: (typeof nodeLogLevels)[number];
  /** one request of so many is told whole in sampled.log; 0 or undefined: none */
  sampling?: number;
}

export type { ZonePort };

export type Release = readonly [number, number, number];
const debian12: Release = [1, 22, 1];
/** What `nginx -v` says of itself. */
export function releaseOf(said: string): Release | undefined {
  const found = /nginx\/(\d+)\.(\d+)\.(\d+)/.exec(said);
  return found ? [Number(found[1]), Number(found[2]), Number(found[3])] : undefined;
}
/** What `nginx -V` says of itself. */
export const builtWithHTTP3 = (said: string) => said.includes('--with-http_v3_module');
const isAtLeast = (release: Release, wanted: Release) => {
  const i = release.findIndex((part, at) => part !== wanted[at]);
  return i < 0 || release[i]! > wanted[i]!;
};

/** Beneath `run`: random bytes, the same as long as the node lives. */
export const quicKeyFile = 'quic.key';
/** Beneath `run`: with the first tickets are made, the second opens those of before it was made. */
export const ticketFiles = ['ticket.key', 'ticket-before.key'] as const;
/**
 * Whether nginx is told its ticket keys: before 1.23.2 it makes some at each reload, and forgets the sessions of before; later ones keep
 * and change them in the memory that the session cache is in.
 */
export const needsTicketFiles = (release: Release = debian12) => !isAtLeast(release, [1, 23, 2]);

/** Forward secrecy and authenticated ciphers alone; what TLS 1.3 has is all of that kind. */
const ciphers = ['128-GCM-SHA256', '256-GCM-SHA384']
  .flatMap(name => [`ECDHE-ECDSA-AES${name}`, `ECDHE-RSA-AES${name}`])
  .concat('ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305')
  .join(':');
const tlsLines = (run: string, release: Release) => [
  `ssl_certificate "${run}/default.crt";`,
  `ssl_certificate_key "${run}/default.key";`,
  'ssl_client_hello_by_lua_block { tls.hello() }',
  'ssl_certificate_by_lua_block { tls.certificate() }',
  'ssl_protocols TLSv1.2 TLSv1.3;',
  `ssl_ciphers ${ciphers};`,
  '# In our order, but who puts ChaCha20 first computes AES slowly, and gets it.',
  'ssl_prefer_server_ciphers on;',
  'ssl_conf_command Options PrioritizeChaCha;',
  '# Early data can be sent again by whoever saw it: there is none, over TCP and over QUIC, so no method needs 425.',
  'ssl_early_data off;',
  'ssl_session_cache shared:tls:10m;',
  'ssl_session_timeout 1d;',
  ...(needsTicketFiles(release) ? ticketFiles.map(name => `ssl_session_ticket_key "${run}/${name}";`) : []),
];

/** By HTTP/3; `reuseport`, so that each worker has a socket of its own and a connection stays with it. */
const quicLines = (listen: string, run: string) => [
  listen,
  'http3 on;',
  '# The same after a reload: who goes on with a connection of before is told that it is no more.',
  `quic_host_key "${run}/${quicKeyFile}";`,
  '# Several datagrams in one call of the system: without it 100 KB cost five times as much as over HTTP/2.',
  'quic_gso on;',
];
/** A day; told at the ports that are its own, and by our own pages as well. A zone's other ports have origins and visitors of their own. */
const altSvc = `add_header Alt-Svc $edge_alt_svc always;`;

const debianModules = '/usr/lib/nginx/modules';
const brotliModule = 'ngx_http_brotli_filter_module.so';
/** For `brotli` of the facts: whether the module is installed. */
export const hasBrotli = (modulesDir = debianModules) => existsSync(join(modulesDir, brotliModule));

/** Of the cache, where its zone says nothing of the disk. */
export const cacheSizeDefaultMb = 10_240;
/** Keys of so many objects fit one megabyte. */
const keysPerMb = 8000;

/** As many as edge/lua/core/shards.lua counts on. */
const shards = Array.from({ length: 64 }, (_, n) => n);

/** What holds wherever an origin is asked: the back half, and the front half's own way past the cache. */
const originSide = [
  'proxy_ssl_server_name on;',
  'proxy_ssl_name $edge_sni;',
  'proxy_ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3;',
  'proxy_ssl_session_reuse off;',
  'proxy_ignore_headers X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset X-Accel-Expires Cache-Control Expires;',
  'proxy_pass_header Date;',
  'proxy_pass_header Server;',
  'proxy_hide_header Keep-Alive;',
  'proxy_hide_header Proxy-Connection;',
  'proxy_hide_header Proxy-Authenticate;',
  'proxy_hide_header Proxy-Authentication-Info;',
  'proxy_hide_header Proxy-Authorization;',
  'proxy_hide_header TE;',
  'proxy_hide_header Trailer;',
  'proxy_hide_header X-Edge-CC;',
  'proxy_hide_header X-Edge-M;',
  'proxy_hide_header X-Edge-Custom;',
  'proxy_hide_header X-Edge-Relay;',
  'proxy_hide_header X-Edge-Fault;',
];

/** Front half: its own way past the cache. A directive of a kind drops all inherited ones. */
const directSide = (http3: boolean, crowd: string) => [
  ...(http3 ? [altSvc] : []),
  'header_filter_by_lua_block { direct.header() }',
  'error_page 400 413 500 /.edge/refused;',
  'error_page 501 =400 /.edge/refused;',
  'error_page 502 504 = @direct_failed;',
  crowd,
  'error_page 503 = @direct_crowded;',
  'add_header X-Cache $edge_cache always;',
  'add_header X-Request-Id $edge_rid always;',
  'proxy_request_buffering off;',
  '# An event stream passes at once.',
  'proxy_buffering off;',
  'proxy_connect_timeout 5s;',
  'proxy_read_timeout 60s;',
  'proxy_send_timeout 60s;',
  ...originSide,
  'proxy_hide_header X-Cache;',
  'proxy_hide_header X-Request-Id;',
  'proxy_hide_header Alt-Svc;',
  'proxy_set_header Host $edge_host;',
  'proxy_set_header X-Forwarded-For $remote_addr;',
  'proxy_set_header X-Forwarded-Proto $scheme;',
  'proxy_set_header X-Forwarded-Host $host;',
  'proxy_set_header X-Real-IP $remote_addr;',
  'proxy_set_header X-Request-Id $edge_rid;',
  'proxy_set_header X-Edge-Key "";',
  'proxy_set_header X-Edge-CS "";',
  'proxy_set_header X-Edge-Connection "";',
  'proxy_set_header X-Edge-Port "";',
  'proxy_set_header X-Edge-Part "";',
  'proxy_set_header Upgrade "";',
  'proxy_set_header Connection "";',
  'proxy_set_header CDN-Loop $edge_loop;',
];

/** As edge/lua/cache/compression.lua counts on. */
const usualLevel = 5;
const compressionLevels = [1, 2, 3, 4, 5, 6, 7, 8, 9];
/** Up to it brotli's levels 5 to 9 hold less than 2 MB an answer; at nginx's 512k level 9 holds 34 (docs/handbook/figures.md). */
const brotliWindow = '64k';
/** Which answers Lua decides. */
const compression = (brotli: boolean) => [
  'gzip on;',
  'gzip_proxied any;',
  'gzip_min_length 0;',
  'gzip_types *;',
  `gzip_comp_level ${usualLevel};`,
  ...(brotli
    ? [
        'brotli on;',
        'brotli_min_length 0;',
        'brotli_types *;',
        `brotli_window ${brotliWindow};`,
        `brotli_comp_level ${usualLevel};`,
      ]
    : []),
];
/** Where nothing is compressed: the filters' part of it is a tenth of a short answer. */
const noCompression = (brotli: boolean) => ['gzip off;', ...(brotli ? ['brotli off;'] : [])];
/** Wherever nginx passes an origin's answer on that may be compressed. Not where Lua does: the module cannot do both and serve slow readers. */
const broken = (brotli: boolean) => (brotli ? 'body_filter_by_lua_block { return compression.body() }' : '');
const atLevel = (level: number, brotli: boolean) => `location @level_${level} {
            gzip_comp_level ${level};${brotli ? `\n            brotli_comp_level ${level};` : ''}
            rewrite_by_lua_block { back.rewrite(${level}) }
            ${broken(brotli)}
            proxy_pass $edge_scheme://$edge_upstream$edge_uri;
            error_page 502 504 = @other;
            error_page 503 = @crowded;
        }`;

const usualConnections = 16_384;
/** One customer's origins, however slow, keep the others a worker's connections: of these it has one in so many. */
const shareOfParty = 4;
/** At most: with the visitor, the two of the halves, with the origin. */
const connectionsOfRequest = 4;
/** Requests of one customer that a worker asks origins for at a time. */
const crowd = ({ connections = usualConnections }: NodeFacts) =>
  Math.max(1, Math.floor(connections / shareOfParty / connectionsOfRequest));

const template = readFileSync(`${edgeFolder}nginx/nginx.conf`, 'utf8');

/** @throws RangeError when a fact cannot stand in a configuration (a path with a quote, an epoch with other characters …) */
export function renderNginx(facts: NodeFacts): string {
  const release = facts.release ?? debian12;
  const http2 = facts.http2 ?? true;
  const http3 = facts.http3 === true && facts.httpsPorts.length > 0;
  // a parameter of `listen` until 1.25.1
  const http2Directive = isAtLeast(release, [1, 25, 1]);
  const log = facts.accessLog ?? {};
  const listens = listensOf(facts, http2 && !http2Directive ? 'ssl http2' : 'ssl');
  const brotli = facts.brotli ?? true;
  const trusts = facts.trusts ?? [];
  const modulesDir = facts.modulesDir ?? debianModules;
  if (!/^[0-9a-z]{1,12}$/.test(facts.epoch)) throw new RangeError(`not an epoch: ${facts.epoch}`);
  if (!/^[0-9a-z]{0,16}$/.test(facts.cacheAge ?? '')) throw new RangeError(`not an age of the cache: ${facts.cacheAge}`);
  if (facts.user !== undefined && !/^[a-z_][a-z0-9_-]*$/.test(facts.user)) throw new RangeError(`not a user: ${facts.user}`);
  for (const { name } of trusts) if (!/^[a-z0-9]+$/.test(name)) throw new RangeError(`not a name of a trust: ${name}`);
  if (Buffer.byteLength(facts.run) > runMax)
    throw new RangeError(`longer than ${runMax} bytes, too long for a socket: ${facts.run}`);
  const values: Record<string, string> = {
    shards: [...shards.slice(1).map(n => `origin_http_${n}`), ...shards.map(n => `origin_https_${n}`)]
      .map(
        name =>
          `upstream ${name} {\n        server 0.0.0.1;\n        balancer_by_lua_block { back.balance() }\n        keepalive 16;\n        keepalive_timeout 60s;\n    }`,
      )
      .join('\n    '),
    originSide: originSide.join('\n        '),
    ...relayValues(facts, port => listenAt(facts, [port], 'ssl default_server'), noCompression(brotli), path),
    directSide: directSide(http3, `limit_conn crowd ${crowd(facts)};`).join('\n            '),
    noCompression: noCompression(brotli).join('\n            '),
    user: facts.user === undefined ? '' : `user ${facts.user};`,
    openFiles: facts.openFiles === undefined ? '' : `worker_rlimit_nofile ${whole(facts.openFiles)};`,
    workers: facts.workers === undefined ? 'auto' : whole(facts.workers),
    affinity: facts.cpus ? ` worker_cpu_affinity auto ${cpuMask(facts.cpus)};` : '',
    modules: path(modulesDir),
    brotliModule: brotli ? `load_module "${path(modulesDir)}/${brotliModule}";` : '',
    hasBrotli: String(brotli),
    // where visitors over http are sent to
    httpsPort: whole(facts.httpsPorts.includes(443) ? 443 : (facts.httpsPorts[0] ?? 0)),
    compression: compression(brotli).join('\n        '),
    broken: broken(brotli),
    grpc: [undefined, ...trusts]
      .map(trust =>
        grpcLocation(
          { head: [...(http3 ? [altSvc] : []), `limit_conn crowd ${crowd(facts)};`, ...noCompression(brotli)], trust },
          path,
        ),
      )
      .concat(grpcFailed)
      .join('\n        '),
    trustNames: trusts.map(({ name }) => `"${name}"`).join(', '),
    trusts: trusts.map(one => trustLocations(one, broken(brotli), path)).join('\n        '),
    levels: compressionLevels.map(level => atLevel(level, brotli)).join('\n        '),
    run: path(facts.run),
    lua: path(facts.luaDir),
    temp: path(facts.tempDir),
    cache: path(facts.cacheDir),
    logs: path(facts.logDir),
    snapshot: path(facts.snapshot),
    errorLevel: facts.errorLevel ?? nodeLogDefaults.level,
    sampled: sampled(facts.sampling ?? nodeLogDefaults.sampling, path(facts.logDir)),
    epoch: facts.epoch,
    connections: whole(facts.connections ?? usualConnections),
    crowd: String(crowd(facts)),
    cacheAge: facts.cacheAge ?? '',
    records: whole(facts.recordsMb ?? 256),
    certificates: whole(facts.certificatesMb ?? 64),
    cacheSize: whole(facts.cacheSizeMb ?? cacheSizeDefaultMb),
    cacheLeaves: whole(facts.cacheLeavesFreeMb ?? 512),
    // An object is rarely below 16 KB.
    cacheKeys: whole(
      Math.min(
        Math.max(8, Math.ceil((facts.cacheSizeMb ?? cacheSizeDefaultMb) / 128)),
        // without room for one more key nginx gives up the object that was asked for least lately
        Math.max(1, Math.floor((facts.cacheFiles ?? Infinity) / keysPerMb)),
      ),
    ),
    inactive: whole(facts.cacheInactiveHours ?? 168),
    body: whole(facts.bodyMb ?? 1024),
    logFormat: accessLogFormat('edge', facts.fleet !== undefined),
    accessLog:
      log === false
        ? 'access_log off;'
        : `access_log "${path(facts.logDir)}/access.log" edge${log.bufferKb ? ` buffer=${whole(log.bufferKb)}k flush=${whole(log.flushSeconds ?? 1)}s` : ''};`,
    altSvc: http3 ? altSvc : '',
    altSvcMap: http3
      ? `map "$https:$server_port" $edge_alt_svc {\n        ${facts.httpsPorts
          .map(port => `"on:${whole(port)}" 'h3=":${whole(port)}"; ma=86400';`)
          .join('\n        ')}\n        default "";\n    }`
      : '',
    ...listens.lines,
    tls: listens.speaksTLS
      ? [
          ...(http2Directive ? [`http2 ${http2 ? 'on' : 'off'};`] : []),
          ...tlsLines(path(facts.run), release),
          ...(http3 ? quicLines(listenAt(facts, facts.httpsPorts, 'quic reuseport'), path(facts.run)) : []),
        ].join('\n        ')
      : '',
  };
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`edge/nginx/nginx.conf asks for {{${name}}}, which nobody gives`);
    return value;
  });
}

/** Longest address of a unix socket that the kernel takes, less `/back/back.sock` and the final zero byte. */
const runMax = 92;
