/**
 * What TLS costs: CPU of one nginx worker per handshake and per request, the edge with 100,000 certificates in its dictionary against
 * plain nginx with a static one. `npm run bench -- tls`
 *
 * EC, TLS 1.3 with X25519, the leaf and one authority above it on both sides, the same sessions and tickets. Sides take turns as in
 * edge-hit, the worker on one core, whoever asks (this very process) on the other; only the worker's CPU counts. Hot: 900 names, which a
 * worker keeps parsed. Uniform: names in random order, no two of a turn alike, so nearly every handshake parses a pair. Resumed: by ticket.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { createHash, generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { certificateRecords } from '#agent/render/certificate.ts';
import { needsTicketFiles, ticketFiles } from '#agent/render/nginx.ts';
import { domainRecords, type EdgeRecord } from '#agent/render/records.ts';
import { issue, makeAuthority } from '#host/certificates.ts';
import { domain, freePort, onLoopback, site, siteRecords, startEdge, startOrigin, until } from '../../edge/test/harness.ts';

const certificates = Number(process.env.BENCH_CERTIFICATES ?? 100_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const handshakes = Number(process.env.BENCH_HANDSHAKES ?? 1200);
const requests = Number(process.env.BENCH_REQUESTS ?? 40_000);
const hotNames = 900;
const connections = 16;

/** At most so many times plain nginx's CPU */
const targets = {
  'full handshake, 900 hot names': 1.1,
  'full handshake, uniform': 1.5,
  'resumed handshake': 1.08,
  'HTTP/2, cached 1 KB': 1.15,
} as const;
/** The edge keeps cache files open. This is how it stands to a plain nginx that does so too. */
const tuned = 'HTTP/2, plain with open_file_cache';

const nameOf = (n: number) => `d${n}.tls.test`;

/** One authority, and leaves that differ in name and serial; of keys there are 16, as making them is what takes long. */
function makeCertificates() {
  const signer = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const above = new X509Certificate(makeAuthority('Bench', signer));
  const keys = Array.from({ length: 16 }, () => generateKeyPairSync('ec', { namedCurve: 'P-256' }));
  const issuer = { hash: createHash('sha256').update(above.raw).digest('hex'), der: above.raw.toString('base64') };
  const keyTexts = keys.map(({ privateKey }) => privateKey.export({ format: 'der', type: 'sec1' }).toString('base64'));
  const leaf = (n: number) => issue(above, signer, keys[n % keys.length]!.publicKey, [nameOf(n)]);
  const records = (n: number) =>
    certificateRecords(
      {
        v: 1,
        rev: 1,
        id: n,
        site: 1 + (n % 1000),
        leaf: new X509Certificate(leaf(n)).raw.toString('base64'),
        issuers: [issuer],
        type: 'ec',
        key: keyTexts[n % keys.length]!,
      },
      ({ key }) => key,
    );
  /** PEM, for plain nginx */
  const plain = (n: number) => ({
    chain: leaf(n) + above.toString(),
    key: keys[n % keys.length]!.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  });
  return { records, plain };
}

function recordsOf(originPort: number, made: ReturnType<typeof makeCertificates>): EdgeRecord[] {
  const list: EdgeRecord[] = [];
  for (let id = 1; id <= 1000; id++) list.push(...siteRecords(site(id)));
  for (let n = 1; n <= certificates; n++) {
    const [above, own] = made.records(n);
    if (n === 1) list.push(above!);
    const shown = domain(n, nameOf(n), [originPort], { site: 1 + (n % 1000), certificate: n, owner: 1 + (n % 1000) });
    list.push(own!, ...domainRecords(shown, () => [], onLoopback));
  }
  return list;
}

const plainConf = (folder: string, port: number, httpPort: number, originPort: number, keepOpen: boolean) => `
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 8192; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 10000;
  ${keepOpen ? 'open_file_cache max=2000 inactive=60s; open_file_cache_valid 60s; open_file_cache_min_uses 2;' : ''}
  client_body_temp_path ${folder}/t1; proxy_temp_path ${folder}/t2; fastcgi_temp_path ${folder}/t3; uwsgi_temp_path ${folder}/t4; scgi_temp_path ${folder}/t5;
  proxy_buffer_size 16k; proxy_buffers 8 16k; proxy_busy_buffers_size 32k; proxy_http_version 1.1;
  proxy_cache_path ${folder}/cache levels=1:2 keys_zone=z:16m max_size=256m inactive=1h use_temp_path=off;
  ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:tls:10m; ssl_session_timeout 1d; ssl_prefer_server_ciphers off;
  ${needsTicketFiles() ? ticketFiles.map(name => `ssl_session_ticket_key ${folder}/${name};`).join(' ') : ''}
  upstream origin { server 127.0.0.1:${originPort}; keepalive 8; }
  server {
    listen 127.0.0.1:${httpPort};
    listen 127.0.0.1:${port} ssl http2;
    ssl_certificate ${folder}/chain.pem; ssl_certificate_key ${folder}/leaf.key;
    server_name _;
    location / { proxy_pass http://origin; proxy_set_header Host $host; proxy_set_header Connection ""; proxy_cache z; add_header X-Cache $upstream_cache_status; }
  }
}`;

async function startPlain(originPort: number, { chain, key }: { chain: string; key: string }, keepOpen = false) {
  const folder = mkdtempSync(join(tmpdir(), 'plain-'));
  const [port, httpPort] = [await freePort(), await freePort()];
  mkdirSync(join(folder, 'cache'));
  writeFileSync(join(folder, 'chain.pem'), chain);
  writeFileSync(join(folder, 'leaf.key'), key, { mode: 0o600 });
  for (const name of ticketFiles) writeFileSync(join(folder, name), randomBytes(80), { mode: 0o600 });
  writeFileSync(join(folder, 'nginx.conf'), plainConf(folder, port, httpPort, originPort, keepOpen));
  const command = ['-p', folder, '-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf'), '-g', 'daemon off;'];
  const child = spawn('nginx', command, { stdio: 'inherit' });
  const exited = once(child, 'exit');
  await until('plain nginx answers', () =>
    fetch(`http://127.0.0.1:${httpPort}/`).then(
      () => true,
      () => false,
    ),
  );
  return {
    port,
    worker: workerOf(child.pid!),
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The first child of the master is the worker; cache manager and loader follow. */
function workerOf(master: number): number {
  const children = readFileSync(`/proc/${master}/task/${master}/children`, 'utf8').trim().split(' ').map(Number);
  const worker = children.find(pid => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('nginx: worker'))!;
  execFileSync('taskset', ['-pc', '0', String(worker)], { stdio: 'ignore' });
  return worker;
}

const cpu = (pid: number) => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
const ownMemory = (pid: number) => Number(/^Private_Dirty:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1]);

interface Side {
  port: number;
  /** process id of the worker */
  worker: number;
}

/** One connection: a handshake and a tidy end. `ticket`: also a request, so that the session is there. */
function shake(port: number, servername: string, session?: Buffer, ticket = false): Promise<Buffer | undefined> {
  return new Promise((done, fail) => {
    let given: Buffer | undefined;
    const socket: TLSSocket = connect(
      // the certificate is not judged, which would be this side's CPU
      { host: '127.0.0.1', port, servername, session, rejectUnauthorized: false, ecdhCurve: 'X25519', minVersion: 'TLSv1.3' },
      () => {
        if (socket.isSessionReused() !== (session !== undefined))
          return socket.destroy(new Error(`${servername}: ${session ? 'not ' : ''}resumed`));
        if (ticket) socket.write(`GET /1k HTTP/1.1\r\nHost: ${servername}\r\nConnection: close\r\n\r\n`);
        else socket.end();
      },
    );
    socket.on('session', text => (given ??= text));
    socket.on('error', fail);
    socket.on('close', () => done(given));
    socket.resume();
  });
}

async function shakeAll(side: Side, names: readonly string[], sessions?: ReadonlyMap<string, Buffer>) {
  let next = 0;
  const one = async () => {
    while (next < names.length) {
      const name = names[next++]!;
      await shake(side.port, name, sessions?.get(name));
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
}

/** → CPU µs of the worker for each of `count` */
async function measured(side: Side, count: number, work: () => Promise<unknown>) {
  const before = cpu(side.worker);
  await work();
  return (cpu(side.worker) - before) / count;
}

async function loadHttp2(side: Side, count: number) {
  const { stdout } = await promisify(execFile)('taskset', [
    '-c', '1', 'h2load', '-t1', `-c${connections}`, '-m10', `-n${count}`, `--connect-to=127.0.0.1:${side.port}`, `https://${nameOf(5)}:${side.port}/1k`,
  ]); // prettier-ignore
  if (!new RegExp(`${count} succeeded, 0 failed, 0 errored`).test(stdout) || !/protocol: h2/.test(stdout))
    throw new Error(stdout);
}

const median = (list: number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]!;

async function compare(
  name: keyof typeof targets | typeof tuned,
  plain: Side,
  edge: Side,
  turn: (side: Side) => Promise<number>,
) {
  for (const side of [plain, edge]) await turn(side);
  const turns: Record<'plain' | 'edge', number>[] = [];
  for (let i = 0; i < rounds; i++) {
    // Who begins changes, so that a trend of the machine falls on both.
    const first = i % 2 ? edge : plain;
    const one = await turn(first);
    const other = await turn(first === plain ? edge : plain);
    turns.push(first === plain ? { plain: one, edge: other } : { plain: other, edge: one });
  }
  const ratios = turns.map(t => t.edge / t.plain).toSorted((a, b) => a - b);
  const ratio = median(ratios);
  const target = name === tuned ? undefined : targets[name];
  console.log(
    `${name.padEnd(36)} CPU: plain ${median(turns.map(t => t.plain)).toFixed(1)} µs, edge ${median(turns.map(t => t.edge)).toFixed(1)} µs, ` +
      `ratio ${ratio.toFixed(3)} (${ratios[0]!.toFixed(2)}–${ratios.at(-1)!.toFixed(2)}), ` +
      `${target === undefined ? 'for comparison' : `at most ${target}: ${ratio <= target ? 'met' : 'MISSED'}`}; load ${loadavg()[0]!.toFixed(1)}`,
  );
  return { name, ratio, met: target === undefined || ratio <= target };
}

const random = (below: number) => 1 + Math.floor(Math.random() * below);
/** So many different ones of 1 … `below` */
function different(count: number, below: number) {
  const found = new Set<number>();
  while (found.size < Math.min(count, below)) found.add(random(below));
  return [...found];
}

/** Prints one line per case; resolves to the ratios. */
export async function run() {
  await using origin = await startOrigin();
  origin.script = (_, response) => {
    response.setHeader('cache-control', 'max-age=3600');
    response.end('x'.repeat(1024));
  };
  const made = makeCertificates();
  const records = recordsOf(origin.port, made);
  const httpsPort = await freePort();
  await using edge = await startEdge({
    workers: 1,
    recordsMb: 256,
    certificatesMb: Math.max(64, Math.ceil(certificates / 250)),
    accessLog: false,
    httpsPorts: [httpsPort],
    records,
  });
  records.length = 0;
  const { crt } = (await edge.stat()).dictionaries as { crt: { capacity: number; free: number } };
  await using plain = await startPlain(origin.port, made.plain(5));
  await using plainTuned = await startPlain(origin.port, made.plain(5), true);
  const ours = { port: httpsPort, worker: workerOf(edge.pid()) };
  execFileSync('taskset', ['-apc', '1', String(process.pid)], { stdio: 'ignore' });
  console.log(
    `tls: ${certificates} certificates, ${((crt.capacity - crt.free) / certificates).toFixed(0)} bytes each in the dictionary; one worker, ` +
      `${rounds} rounds of ${handshakes} handshakes or ${requests} requests a side, ${connections} connections`,
  );
  const hot = different(hotNames, certificates).map(nameOf);
  const byHot = (side: Side) =>
    measured(side, handshakes, () =>
      shakeAll(
        side,
        Array.from({ length: handshakes }, () => hot[random(hot.length) - 1]!),
      ),
    );
  const uniform = (side: Side) => {
    const names = different(handshakes, certificates).map(nameOf);
    return measured(side, names.length, () => shakeAll(side, names));
  };
  const found = [];
  for (const side of [plain, ours]) await shakeAll(side, hot);
  found.push(await compare('full handshake, 900 hot names', plain, ours, byHot));
  const before = ownMemory(ours.worker);
  found.push(await compare('full handshake, uniform', plain, ours, uniform));
  console.log(
    `${' '.repeat(36)} the worker's own memory: ${before} kB with the hot names, ${ownMemory(ours.worker)} kB after the uniform ones`,
  );
  const sessions = new Map<Side, Map<string, Buffer>>();
  for (const side of [plain, ours]) {
    const of = new Map<string, Buffer>();
    for (const name of hot.slice(0, 100)) of.set(name, (await shake(side.port, name, undefined, true))!);
    sessions.set(side, of);
  }
  const resumed = (side: Side) => {
    const names = Array.from({ length: handshakes }, () => hot[random(100) - 1]!);
    return measured(side, handshakes, () => shakeAll(side, names, sessions.get(side)));
  };
  found.push(await compare('resumed handshake', plain, ours, resumed));
  for (const side of [plain, plainTuned, ours]) await loadHttp2(side, 1000);
  const http2 = (side: Side) => measured(side, requests, () => loadHttp2(side, requests));
  found.push(await compare('HTTP/2, cached 1 KB', plain, ours, http2));
  found.push(await compare(tuned, plainTuned, ours, http2));
  return found;
}

if (import.meta.main) {
  const found = await run();
  if (found.some(one => !one.met)) process.exitCode = 1;
}
