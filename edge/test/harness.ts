/**
 * A real edge for tests: nginx in the foreground as a child, in a folder of its own, and an origin whose answers the test
 * scripts. `await using edge = await startEdge()` ends both.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { connect, createServer as createTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach } from 'node:test';
import { needsTicketFiles, type NodeFacts, quicKeyFile, releaseOf, renderNginx, ticketFiles } from '#agent/render/nginx.ts';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { domainRecords, type EdgeRecord, type Judge, frame, recordsOf, snapshot } from '#agent/render/records.ts';
import { selfSigned } from '#host/certificates.ts';
import type { DomainDocument, SiteDocument } from '#contract/edge/document.ts';
import { type DocumentOf, isEmpty, keyOf, type PartKind, partKinds } from '#contract/edge/kinds/index.ts';

export interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: string;
  /** the connection ended without an answer */
  dropped: boolean;
}

export interface Ask {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string;
  port?: number;
  /** address the visitor comes from, of 127.0.0.0/8 */
  from?: string;
  /** address of the edge */
  to?: string;
}

/** One request on a connection of its own. */
export function ask(port: number, host: string, path: string, options: Ask = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        host: options.to ?? '127.0.0.1',
        port: options.port ?? port,
        path,
        method: options.method ?? 'GET',
        headers: {
          host,
          ...(options.body === undefined ? {} : { 'content-length': Buffer.byteLength(options.body) }),
          ...options.headers,
        },
        agent: false,
        ...(options.from ? { localAddress: options.from } : {}),
      },
      response => {
        let body = '';
        response.setEncoding('latin1');
        response.on('data', piece => (body += piece));
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body, dropped: false }));
        response.on('error', reject);
      },
    );
    request.on('error', error =>
      /socket hang up|ECONNRESET/.test(`${error.message} ${(error as NodeJS.ErrnoException).code}`)
        ? resolve({ status: 0, headers: {}, body: '', dropped: true })
        : reject(error),
    );
    request.setTimeout(15_000, () => request.destroy(new Error(`no answer to ${host}${path}`)));
    request.end(options.body);
  });
}

/**
 * Bytes as they are, on a connection of their own → status of each answer, everything received, and whether the edge ended the
 * connection: closed it or said `Connection: close` (nginx lingers before it does). One that is kept open is watched for `quietMs`.
 */
export function raw(port: number, bytes: string | Buffer, quietMs = 1000) {
  return new Promise<{ statuses: number[]; text: string; closed: boolean }>((resolve, reject) => {
    let text = '';
    const bodiless = String(bytes).startsWith('HEAD ');
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes),
    );
    const end = (closed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      const statuses = [...text.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(match => Number(match[1]));
      resolve({ statuses, text, closed });
    };
    const timer = setTimeout(() => end(false), quietMs);
    socket.on('data', piece => {
      text += piece.toString('latin1');
      const last = text.slice(text.lastIndexOf('HTTP/1.1 '));
      const [head, body] = last.split('\r\n\r\n', 2);
      const length = /^content-length: (\d+)/im.exec(head!)?.[1];
      if (/^connection: close/im.test(head!) && body !== undefined && length && (bodiless || body.length >= Number(length)))
        end(true);
    });
    socket.on('end', () => end(true));
    socket.on('error', error => ((error as NodeJS.ErrnoException).code === 'ECONNRESET' ? end(true) : reject(error)));
  });
}

export interface Seen {
  method: string;
  url: string;
  headers: http.IncomingHttpHeaders;
  rawHeaders: string[];
  body: string;
}

export type Script = (request: Seen, response: http.ServerResponse) => void;

/** An origin. `script` answers; default: 200, `<name> <count>`, fresh for a minute. `seen` holds what it was asked. */
export async function startOrigin(name = 'origin', listen = '127.0.0.1') {
  const seen: Seen[] = [];
  const origin = {
    name,
    seen,
    script: ((_, response) => {
      response.setHeader('cache-control', 'max-age=60');
      response.end(`${name} ${seen.length}`);
    }) as Script,
    port: 0,
    server: undefined as unknown as http.Server,
    async [Symbol.asyncDispose]() {
      origin.server.closeAllConnections();
      if (origin.server.listening) await new Promise(done => origin.server.close(done));
    },
  };
  origin.server = http.createServer({ maxHeaderSize: 65_536 }, (request, response) => {
    let body = '';
    request.setEncoding('latin1');
    request.on('data', piece => (body += piece));
    request.on('end', () => {
      const one = { method: request.method!, url: request.url!, headers: request.headers, rawHeaders: request.rawHeaders, body };
      seen.push(one);
      origin.script(one, response);
    });
  });
  origin.port = await freePort(listen);
  origin.server.listen(origin.port, listen);
  await once(origin.server, 'listening');
  return origin;
}
export type Origin = Awaited<ReturnType<typeof startOrigin>>;

/** Below the ephemeral range, so that no outgoing connection sits on it. */
const [firstPort, portsEnd] = (process.env.TEST_PORTS ?? '20000-32000').split('-').map(Number) as [number, number];
const taken = new Set<number>();
export async function freePort(address = '127.0.0.1'): Promise<number> {
  for (;;) {
    const port = firstPort + Math.floor(Math.random() * (portsEnd - firstPort));
    if (taken.has(port)) continue;
    const server = createTcp();
    const free = await new Promise<boolean>(resolve => {
      server.once('error', () => resolve(false));
      server.listen(port, address, () => server.close(() => resolve(true)));
    });
    if (!free) continue;
    taken.add(port);
    return port;
  }
}

/** Until `check` gives something truthy; fails after `seconds`. */
export async function until<T>(what: string, check: () => T | Promise<T>, seconds = 60): Promise<Exclude<T, false | undefined>> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const value = await check();
    if (value) return value as Exclude<T, false | undefined>;
    if (performance.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
    await new Promise(next => setTimeout(next, 5));
  }
}

export function domain(id: number, host: string, ports: number[], change: Partial<DomainDocument> = {}): DomainDocument {
  const upstreams = ports.map(port => ({
    address: '127.0.0.1',
    port,
    weight: 1,
    backup: false,
    protocol: 'http' as const,
    maxFails: 1,
    failTimeout: 10,
  }));
  return { v: 1, rev: 1, id, site: 1, host, enabled: true, balance: 'roundRobin', originHost: '', upstreams, ...change };
}

/** A site with its parts, as tests think of it. */
export type WholeSite = Omit<SiteDocument, 'parts' | PartKind> & { [K in PartKind]: DocumentOf<K>[K & keyof DocumentOf<K>] };
export function site(id: number, change: Partial<WholeSite> = {}): WholeSite {
  // each of them a list
  const lists = Object.fromEntries(partKinds.map(kind => [kind, []])) as unknown as Pick<WholeSite, PartKind>;
  return { v: 1, rev: 1, id, state: 'normal', expires: 0, gen: 1, ...lists, ...change };
}

/** Its records, in order; a part that is empty is deleted. */
export function siteRecords(whole: WholeSite): EdgeRecord[] {
  const { v, rev, id } = whole;
  const documents = partKinds.map(kind => [kind, { v, rev, id, gen: 0, [kind]: whole[kind] }] as const);
  const there = documents.filter(([kind, document]) => !isEmpty(kind, document));
  const rest = Object.fromEntries(Object.entries(whole).filter(([name]) => !partKinds.includes(name as PartKind)));
  const judge: Judge = () => ({ allowed: true });
  return [
    ...there.flatMap(([kind, document]) => recordsOf(kind, document, () => [], judge)),
    ...recordsOf('site', { ...rest, parts: there.map(([kind]) => kind) }, () => [], judge),
    ...documents.flatMap(([kind, document]) => (isEmpty(kind, document) ? [{ key: keyOf(kind, document), value: null }] : [])),
  ];
}

const loopback = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8', '::1'], own: [] });
/** Origins of these tests listen on loopback, so that is what is allowed here. */
export const onLoopback: Judge = (address, port) => loopback.judge(address, port);

/** Of the nginx that is installed here. */
const release = releaseOf(spawnSync('nginx', ['-v'], { encoding: 'utf8' }).stderr);

export interface EdgeOptions extends Partial<NodeFacts> {
  records?: EdgeRecord[];
  /** folder to use instead of a new one; it is kept */
  folder?: string;
}

export async function startEdge(options: EdgeOptions = {}) {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'edge-'));
  // One loopback test run is one user: nobody else may enter the folder anyway.
  for (const name of ['ctl', 'back', 'temp', 'cache', 'log']) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  const port = options.httpPorts?.[0] ?? (await freePort());
  const { records, folder: _, ...facts } = options;
  const config: NodeFacts = {
    run: folder,
    luaDir: new URL('../lua', import.meta.url).pathname,
    tempDir: join(folder, 'temp'),
    cacheDir: join(folder, 'cache'),
    logDir: join(folder, 'log'),
    snapshot: join(folder, 'snapshot.bin'),
    httpPorts: [port],
    httpsPorts: [],
    listen: ['127.0.0.1', '::1'],
    workers: 2,
    epoch: 'test',
    recordsMb: 16,
    certificatesMb: 16,
    release,
    cacheSizeMb: 256,
    accessLog: { bufferKb: 4, flushSeconds: 1 },
    ...(process.getuid?.() === 0 ? { user: 'root' } : {}),
    ...facts,
  };
  if (config.httpsPorts.length) {
    const { certificate, key } = selfSigned('edge.test');
    writeFileSync(join(folder, 'default.crt'), certificate);
    writeFileSync(join(folder, 'default.key'), key, { mode: 0o600 });
    writeFileSync(join(folder, quicKeyFile), randomBytes(32), { mode: 0o600 });
    if (needsTicketFiles(release))
      for (const name of ticketFiles)
        if (!existsSync(join(folder, name))) writeFileSync(join(folder, name), randomBytes(80), { mode: 0o600 });
  }
  writeFileSync(join(folder, 'nginx.conf'), renderNginx(config));
  if (records)
    writeFileSync(
      join(folder, 'snapshot.bin'),
      Buffer.concat([
        ...snapshot(
          records.filter(({ value }) => value !== null),
          'start',
        ),
      ]),
    );
  const socket = join(folder, 'ctl/ctl.sock');

  async function start() {
    for (const name of ['ctl/ctl.sock', 'back/back.sock']) rmSync(join(folder, name), { force: true });
    const child = spawn(
      'nginx',
      ['-p', folder, '-e', join(folder, 'log/error.log'), '-c', join(folder, 'nginx.conf'), '-g', 'daemon off;'],
      {
        stdio: ['ignore', 'inherit', 'inherit'],
      },
    );
    const exited = once(child, 'exit');
    await until('nginx answers', async () => {
      if (child.exitCode !== null) throw new Error(`nginx ended: ${errors()}`);
      return existsSync(socket) && (await control('GET', '/stat').catch(() => undefined));
    });
    return { child, exited };
  }

  function errors() {
    return existsSync(join(folder, 'log/error.log')) ? readFileSync(join(folder, 'log/error.log'), 'utf8') : '';
  }

  /** A worker that stands still may be the one that was woken for it: no answer within `limitMs` is an error. */
  function control(method: string, path: string, body?: Buffer, limitMs = 30_000): Promise<{ status: number; body: any }> {
    return new Promise((resolve, reject) => {
      const request = http.request({ socketPath: socket, method, path, agent: false }, response => {
        let text = '';
        response.on('data', piece => (text += piece));
        response.on('end', () => resolve({ status: response.statusCode!, body: text.startsWith('{') ? JSON.parse(text) : text }));
      });
      request.setTimeout(limitMs, () => request.destroy(new Error(`${path}: no answer within ${limitMs} ms`)));
      request.on('error', reject);
      request.end(body);
    });
  }

  let running = await start();

  async function stop(signal: NodeJS.Signals = 'SIGTERM') {
    if (running.child.exitCode === null && running.child.signalCode === null) running.child.kill(signal);
    await running.exited;
  }

  const edge = {
    port,
    folder,
    config,
    control,
    errors,
    pid: () => running.child.pid!,
    ask: (host: string, path: string, asked?: Ask) => ask(port, host, path, asked),
    /** Posts records; returns when every worker serves them. */
    async put(...records: EdgeRecord[]) {
      const answer = await control('POST', '/apply', frame(records));
      if (answer.status !== 200) throw new Error(`apply: ${answer.status} ${JSON.stringify(answer.body)}`);
      // A worker looks at the sequence once per turn of its loop, at most once a millisecond.
      await new Promise(next => setTimeout(next, 2));
      return answer.body;
    },
    async putDocuments(sites: WholeSite[], domains: DomainDocument[]) {
      return edge.put(...sites.flatMap(siteRecords), ...domains.flatMap(doc => domainRecords(doc, () => [], onLoopback)));
    },
    stat: async () => (await control('GET', '/stat')).body,
    /** Log lines as lists of fields, when there are `count` that `wanted` holds for */
    async log(count: number, wanted: (line: string[]) => boolean): Promise<string[][]> {
      return until(`${count} log lines`, () => {
        const lines = readFileSync(join(folder, 'log/access.log'), 'latin1').split('\n').slice(0, -1);
        const found = lines.map(line => line.split('\t')).filter(wanted);
        return found.length >= count ? found : undefined;
      });
    },
    /** Full restart: memory is lost, files stay. */
    async restart() {
      await stop();
      running = await start();
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      if (!options.folder) rmSync(folder, { recursive: true, force: true });
    },
  };
  return edge;
}
export type Edge = Awaited<ReturnType<typeof startEdge>>;

export interface Documents {
  sites: WholeSite[];
  domains: DomainDocument[];
}

/**
 * The stand of most test files: an edge, an origin, and what `documents` makes of the origin's port; `url()` is one that nobody has
 * asked for yet. Each test begins with an origin that has seen nothing; both end with the file.
 */
export async function standing(documents: (port: number) => Documents, options: EdgeOptions = {}) {
  const [edge, origin] = await Promise.all([startEdge(options), startOrigin()]);
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    origin.seen.length = 0;
  });
  const { sites, domains } = documents(origin.port);
  await edge.putDocuments(sites, domains);
  let next = 0;
  return { edge, origin, url: () => `/u${next++}` };
}
