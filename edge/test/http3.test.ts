/**
 * HTTP/3, where nginx was built with it and curl speaks it (Debian 13; Debian 12 has neither): requests through every half, what visitors
 * are told of it, no early data, and reloads.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { builtWithHTTP3 } from '#agent/render/nginx.ts';
import { askTLS, shownFor } from './certificates.ts';
import { domain, freePort, site, standing, until } from './harness.ts';

const said = (program: string) => spawnSync(program, ['-V'], { encoding: 'utf8' });
const has = builtWithHTTP3(said('nginx').stderr ?? '') && /\bHTTP3\b/.test(said('curl').stdout ?? '');
const skip = has ? false : 'needs an nginx with HTTP/3 and a curl that speaks it';

const tlsPort = await freePort();
const shown = shownFor(['a.test', 'other.test']);
const { edge, origin, url } = await standing(
  port => ({ sites: [site(1)], domains: ['a.test', 'other.test'].map((host, i) => domain(i + 1, host, [port], shown.domain)) }),
  { httpsPorts: [tlsPort], ...(has && { http3: true, hasHTTP3: true }) },
);
await edge.put(...shown.records);
const ca = join(edge.folder, 'ca.pem');
writeFileSync(ca, shown.ca.root);

/** One request over HTTP/3 and nothing else. → status, protocol, headers by name, body */
function ask3(path: string, ...more: string[]) {
  const at = ['--http3-only', '--cacert', ca, '--connect-to', `a.test:443:127.0.0.1:${tlsPort}`, '--max-time', '30'];
  return new Promise<{ status: number; version: string; headers: string; body: string }>((done, fail) =>
    execFile(
      'curl',
      ['-sS', '-i', ...at, '-w', '\n%{http_code} %{http_version}', ...more, `https://a.test${path}`],
      { maxBuffer: 64 * 1024 * 1024, encoding: 'latin1' },
      (error, out, err) => {
        if (error) return fail(new Error(err || error.message));
        const [, status, version] = /\n(\d+) (\S+)$/.exec(out)!;
        const end = out.indexOf('\r\n\r\n');
        done({
          status: Number(status),
          version: version!,
          headers: out.slice(0, end).toLowerCase(),
          body: out.slice(end + 4, out.lastIndexOf('\n')),
        });
      },
    ),
  );
}

test('what an origin says of other places where it is found reaches no visitor, from the cache and past it', async () => {
  origin.script = (request, response) => {
    response.setHeader('alt-svc', 'h2="origin.test:443"');
    response.setHeader('cache-control', request.url!.startsWith('/never') ? 'no-store' : 'max-age=60').end('page');
  };
  const path = url();
  const post = ['/never', { method: 'POST', body: 'x' }] as const;
  // the front half's own way is taken by a worker that has seen an answer
  for (const [asked, options] of [[path, {}] as const, [path, {}] as const, ...Array.from({ length: 12 }, () => post)])
    assert.equal((await edge.ask('a.test', asked, options)).headers['alt-svc'], undefined, asked);
});

test(
  'visitors are served over HTTP/3: from the cache, past it, with bodies; over TCP they are told of it',
  { skip },
  async () => {
    origin.script = (request, response) => {
      response.setHeader('cache-control', request.url!.startsWith('/never') ? 'no-store' : 'max-age=60');
      response.end(`${request.method} ${request.body.length} ${'x'.repeat(100_000)}`);
    };
    const path = url();
    const [first, second] = [await ask3(path), await ask3(path)];
    assert.deepEqual([first.status, first.version, second.version], [200, '3', '3']);
    assert.match(second.headers, /x-cache: hit/);
    assert.equal(second.body.length, first.body.length);
    for (let i = 0; i < 2; i++)
      for (const size of [1, 50_000]) {
        const sent = await ask3('/never', '-X', 'PUT', '-d', 'x'.repeat(size));
        assert.deepEqual([sent.status, sent.body.slice(0, 4 + String(size).length)], [200, `PUT ${size}`]);
      }
    const [line] = await edge.log(1, fields => fields[5] === path && fields.includes('HTTP/3.0'));
    assert.ok(line);
    const wanted = `h3=":${tlsPort}"; ma=86400`;
    for (const asked of [path, '/never', '/never'])
      assert.equal((await askTLS(tlsPort, 'a.test', 'a.test', asked)).headers['alt-svc'], wanted, asked);
    assert.equal((await edge.ask('a.test', path)).headers['alt-svc'], undefined, 'over http nobody is told');
  },
);

/** What nginx says of a process in its title; nothing once it is gone. */
function nameOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1') || 'shutting down';
  } catch {
    return 'shutting down';
  }
}

test('a reload goes on with it', { skip }, async () => {
  const workers = () => readFileSync(`/proc/${edge.pid()}/task/${edge.pid()}/children`, 'latin1').trim().split(' ');
  for (let i = 0; i < 2; i++) {
    const before = workers();
    process.kill(edge.pid(), 'SIGHUP');
    await until('other workers', () => workers().some(pid => !before.includes(pid)));
    const { status, version } = await until('HTTP/3 is served', () => ask3('/').catch(() => undefined));
    assert.deepEqual([status, version], [200, '3']);
  }
});

test('reloads go on with it as well while downloads keep the workers of before', { skip }, async t => {
  const ends: (() => void)[] = [];
  t.after(() => {
    for (const end of ends) end();
  });
  origin.script = (request, response) => {
    response.setHeader('cache-control', 'no-store');
    if (request.url !== '/long') return void response.end('whole');
    response.write('x'.repeat(400_000)); // nginx passes on what fills its buffers
    ends.push(() => response.end());
  };
  const workers = () => readFileSync(`/proc/${edge.pid()}/task/${edge.pid()}/children`, 'latin1').trim().split(' ');
  for (let round = 0; round < 2; round++) {
    // several, so that each worker has one
    for (let i = 0; i < 8; i++) {
      const download = httpsRequest({
        host: '127.0.0.1',
        port: tlsPort,
        servername: 'a.test',
        headers: { host: 'a.test' },
        path: '/long',
        rejectUnauthorized: false,
        agent: false,
      });
      ends.push(() => download.destroy());
      download.on('error', () => {}).end();
      const [response] = (await once(download, 'response')) as [IncomingMessage];
      response.on('error', () => {}).resume();
    }
    const before = workers();
    process.kill(edge.pid(), 'SIGHUP');
    await until('those of before are ending', () => before.every(pid => /shutting down/.test(nameOf(pid))));
    assert.ok(
      before.some(pid => workers().includes(pid)),
      'a download keeps one',
    );
    await until('HTTP/3 is served', () => ask3('/new').catch(() => undefined));
    for (let i = 0; i < 20; i++) assert.equal((await ask3('/new')).body, 'whole');
  }
});
