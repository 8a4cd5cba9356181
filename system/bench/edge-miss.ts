/**
 * What a request costs that the cache does not answer: CPU of one nginx worker, the edge against plain nginx that does the same
 * (proxy_pass where nothing is stored, proxy_cache where it is). Both caches lie in memory, because a disk's own time hides the rest.
 * `npm run bench -- edge-miss`
 *
 * The origin is an nginx of its own. Sides take turns as in edge-hit. A cacheable miss has a URL of its own each time.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { domainRecords } from '#agent/render/records.ts';
import { domain, freePort, onLoopback, site, siteRecords, startEdge, until } from '../../edge/test/harness.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const turnSeconds = Number(process.env.BENCH_SECONDS ?? 2);
const connections = 16;

/** name → at most so many times plain nginx's CPU per request; path; Lua for wrk */
const cases = {
  'no-store 1 KB': { most: 1.3, path: '/no-store/1k', script: '' },
  'no-store 100 KB': { most: 1.15, path: '/no-store/100k', script: '' },
  'POST 1 KB': { most: 1.9, path: '/post/1k', script: 'wrk.method = "POST" wrk.body = string.rep("a=b&", 64)' },
  'cacheable 1 KB': { most: 1.8, path: '/cached/1k', script: unique('/cached/1k') },
  'cacheable 100 KB': { most: 1.4, path: '/cached/100k', script: unique('/cached/100k') },
} as const;

/** Each request asks for another object. */
function unique(path: string) {
  return `local n, seed = 0, os.time() * 1000 + math.floor(os.clock() * 1e6) % 1000
request = function() n = n + 1 return wrk.format(nil, "${path}?" .. seed .. "x" .. n) end`;
}

const shm = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const user = process.getuid?.() === 0 ? 'user root;' : '';
const temps = (folder: string) =>
  `client_body_temp_path ${folder}/t1; proxy_temp_path ${folder}/t2; fastcgi_temp_path ${folder}/t3; uwsgi_temp_path ${folder}/t4; scgi_temp_path ${folder}/t5;`;

const originConf = (folder: string, port: number) => `
worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log; ${user}
events { worker_connections 8192; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; keepalive_timeout 600s; open_file_cache max=100; ${temps(folder)}
  server {
    listen 127.0.0.1:${port};
    root ${folder};
    location /no-store/ { alias ${folder}/; add_header Cache-Control no-store; }
    location /cached/ { alias ${folder}/; add_header Cache-Control max-age=3600; }
    location /post/ { return 200 "${'x'.repeat(1024)}"; }
  }
}`;

const plainConf = (folder: string, port: number, originPort: number) => `
worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log; ${user}
events { worker_connections 8192; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; ${temps(folder)}
  proxy_http_version 1.1;
  proxy_cache_path ${folder}/cache levels=1:2 keys_zone=z:64m max_size=64m inactive=1h use_temp_path=off;
  upstream origin { server 127.0.0.1:${originPort}; keepalive 64; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port};
    proxy_set_header Host $host; proxy_set_header Connection "";
    location / { proxy_pass http://origin; }
    location /cached/ { proxy_pass http://origin; proxy_cache z; add_header X-Cache $upstream_cache_status; }
  }
}`;

async function startNginx(folder: string, conf: string, port: number) {
  writeFileSync(join(folder, 'nginx.conf'), conf);
  const log = join(folder, 'error.log');
  const child = spawn('nginx', ['-p', folder, '-e', log, '-c', join(folder, 'nginx.conf'), '-g', 'daemon off;'], {
    stdio: 'inherit',
  });
  const exited = once(child, 'exit');
  await until('nginx answers', () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    ),
  );
  return {
    port,
    worker: workerOf(child.pid!, '0'),
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The first child of the master is the worker; cache manager and loader follow. */
function workerOf(master: number, core: string): number {
  const children = readFileSync(`/proc/${master}/task/${master}/children`, 'utf8').trim().split(' ').map(Number);
  const worker = children.find(pid => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('nginx: worker'))!;
  execFileSync('taskset', ['-pc', core, String(worker)], { stdio: 'ignore' });
  return worker;
}

const cpu = (pid: number) => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;

/** One turn → CPU µs per request */
async function turn(side: { port: number; worker: number }, path: string, script: string, seconds: number) {
  const before = cpu(side.worker);
  const { stdout } = await promisify(execFile)('taskset', [
    '-c', '1', 'wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '-H', 'Host: d1.test', ...(script ? ['-s', script] : []), `http://127.0.0.1:${side.port}${path}`,
  ]); // prettier-ignore
  const used = cpu(side.worker) - before;
  const requests = Number(/(\d+) requests in/.exec(stdout)![1]);
  const wrong = /Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1];
  if (wrong) throw new Error(`${wrong} of ${requests} answers were errors`);
  return used / requests;
}

const median = (list: number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]!;

/** Prints one line per case; resolves to the ratios. */
export async function run() {
  const folder = mkdtempSync(join(shm, 'miss-origin-'));
  writeFileSync(join(folder, '1k'), 'x'.repeat(1024));
  writeFileSync(join(folder, '100k'), 'x'.repeat(100 * 1024));
  const originPort = await freePort();
  await using origin = await startNginx(folder, originConf(folder, originPort), originPort);
  execFileSync('taskset', ['-pc', '1', String(origin.worker)], { stdio: 'ignore' });
  const plainFolder = mkdtempSync(join(shm, 'miss-plain-'));
  mkdirSync(join(plainFolder, 'cache'));
  const plainPort = await freePort();
  await using plain = await startNginx(plainFolder, plainConf(plainFolder, plainPort, originPort), plainPort);
  const edgeFolder = mkdtempSync(join(shm, 'miss-edge-'));
  const records = [...siteRecords(site(1)), ...domainRecords(domain(1, 'd1.test', [originPort]), () => [], onLoopback)];
  await using edge = await startEdge({
    workers: 1,
    cacheSizeMb: 64,
    cacheLeavesFreeMb: 16,
    folder: edgeFolder,
    records,
    accessLog: false,
  });
  const ours = { port: edge.port, worker: workerOf(edge.pid(), '0') };
  console.log(`edge-miss: one worker, wrk -t1 -c${connections}, ${rounds} rounds of ${turnSeconds} s a side, caches in ${shm}`);
  const found = [];
  for (const [name, { most, path, script }] of Object.entries(cases)) {
    const file = script ? join(folder, 'wrk.lua') : '';
    if (script) writeFileSync(file, script);
    for (const side of [plain, ours]) await turn(side, path, file, 1);
    const turns: { plain: number; edge: number }[] = [];
    for (let i = 0; i < rounds; i++) {
      const first = i % 2 ? ours : plain;
      const one = await turn(first, path, file, turnSeconds);
      const other = await turn(first === plain ? ours : plain, path, file, turnSeconds);
      turns.push(first === plain ? { plain: one, edge: other } : { plain: other, edge: one });
    }
    const ratios = turns.map(t => t.edge / t.plain);
    const ratio = median(ratios);
    const range = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
    console.log(
      `${name.padEnd(20)} CPU per request: plain ${median(turns.map(t => t.plain)).toFixed(1)} µs, edge ${median(turns.map(t => t.edge)).toFixed(1)} µs, ` +
        `ratio ${ratio.toFixed(3)} (${range}), at most ${most}: ${ratio <= most ? 'met' : 'MISSED'}`,
    );
    found.push({ name, ratio, met: ratio <= most });
  }
  rmSync(edgeFolder, { recursive: true, force: true });
  return found;
}

if (import.meta.main) {
  const found = await run();
  if (found.some(one => !one.met)) process.exitCode = 1;
}
