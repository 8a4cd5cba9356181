/** The server as a process: who may look inside it, what it answers for paths nobody mounted, and how it ends. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { serveConsole } from '#server/console.ts';
import { Keys } from '#server/kit/crypto.ts';
import { createServer } from '#server/kit/mount.ts';
import { loopback, neighbourhoods, Networks } from '#server/kit/networks.ts';
import { Sessions } from '#server/kit/session.ts';
import { freePort, poll } from '#server/store/engine-process.ts';
import { certificates } from '#system/certificates.ts';
import { freshDatabase, testFolder } from '#system/engines.ts';
import { Api, type Tenant } from './harness.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const key = randomBytes(32);
let url: string;
let api: Api;
let a: Tenant;
let token: string;
let sessions: Sessions;
const children: ChildProcess[] = [];

before(async () => {
  url = await freshDatabase();
  api = await Api.start({}, {}, url);
  a = await api.tenant('a');
  // signed by the key that the process is given
  sessions = new Sessions(api.database, new Keys(key), () => []);
  token = (await sessions.open(api.database.db, a.user.id)).accessToken;
});
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await sessions?.stop();
  await api?.stop();
});

async function startProcess(env: NodeJS.ProcessEnv = {}) {
  const port = await freePort();
  const file = join(testFolder('key'), 'secret.key');
  writeFileSync(file, key, { mode: 0o600 });
  const child = spawn(process.execPath, [main, '--services=api,work'], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: url,
      BREAKWATER_SECRET_FILE: file,
      BREAKWATER_PORT: String(port),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      reply => reply.ok,
      () => false,
    );
  assert.ok(await poll(async () => child.exitCode !== null || (await isReady()), 60_000, 50), output);
  assert.equal(child.exitCode, null, output);
  return { child, port, output: () => output };
}

/** A request that stays open; resolves once its answer begins, or at once when it is not to answer. */
const open = (port: number, path: string, options: http.RequestOptions = {}, body?: string) =>
  new Promise<{ request: http.ClientRequest; status?: number }>(done => {
    const request = http.request({ port, path, agent: false, ...options }, reply => {
      reply.resume();
      done({ request, status: reply.statusCode! });
    });
    request.on('error', () => {});
    request.on('finish', () => body !== undefined && done({ request }));
    request.end(body);
  });

describe('the end', () => {
  test('SIGTERM with an event stream, a waiting change and a silent caller open: ends at once, and well', async () => {
    const { child, port, output } = await startProcess();
    const stream = await open(port, `/api/v1/user/site/${a.siteID}/applied/stream`, {
      headers: { authorization: `Bearer ${token}` },
    });
    assert.equal(stream.status, 200);
    // somebody holds the row that a change waits for
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    await holder.query('begin');
    await holder.query('select 1 from site where id = $1 for update', [a.siteID]);
    await open(
      port,
      `/api/v1/user/site/${a.siteID}/tags`,
      { method: 'PUT', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } },
      '{"tags":["waits"]}',
    );
    // over another connection: within a transaction the view stays as it was first seen
    const waits = async () =>
      (
        await api.database.pool.query(
          "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
        )
      ).rowCount! > 0;
    assert.ok(await poll(waits, 20_000));
    // half a request
    const half = http.request({ port, path: '/api/v1/user/verify', method: 'POST', headers: { 'content-length': 100 } });
    half.on('error', () => {});
    half.write('{');
    child.kill('SIGTERM');
    // before, it gave up after fifteen seconds, with 1
    assert.ok(await poll(() => child.exitCode !== null, 8000), output());
    assert.equal(child.exitCode, 0, output());
    assert.doesNotMatch(output(), /stopping failed/);
    await holder.query('rollback');
    await holder.end();
  });
});

describe('the inside of the house', () => {
  const lan = Object.values(networkInterfaces())
    .flat()
    .find(one => one && !one.internal && one.family === 'IPv4')?.address;
  const ask = async (port: number, path: string, host: string, headers: Record<string, string> = {}) => {
    const reply = await fetch(`http://${host}:${port}${path}`, { headers });
    return [reply.status, (await reply.text()).slice(0, 20)] as const;
  };

  const askSafely = (port: number, path: string, host: string, ca: string) =>
    new Promise<readonly [number, string]>((done, fail) => {
      const request = https.get({ host, port, path, ca, servername: 'bus.test', agent: false }, reply => {
        let text = '';
        reply.setEncoding('utf8').on('data', (part: string) => (text += part));
        reply.on('end', () => done([reply.statusCode!, text.slice(0, 20)]));
      });
      request.on('error', fail);
    });

  test('console and API speak TLS beyond this machine, plainly on loopback alone, or nothing starts', async () => {
    const { cert, key, ca } = certificates();
    const outer = await freePort();
    const files = { BREAKWATER_TLS_PORT: String(outer), BREAKWATER_TLS_CERT: cert, BREAKWATER_TLS_KEY: key };
    await assert.rejects(startProcess({ BREAKWATER_HOST: '0.0.0.0' }), /would carry passwords plainly/);
    const { child, port } = await startProcess({ BREAKWATER_HOST: '0.0.0.0', ...files });
    assert.deepEqual(await askSafely(outer, '/healthz', '127.0.0.1', ca), [200, 'ok\n']);
    await assert.rejects(ask(outer, '/healthz', '127.0.0.1'), 'plainly');
    if (lan) await assert.rejects(ask(port, '/healthz', lan), 'the plain one is for this machine');
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    assert.equal(code, 0);
  });

  test('metrics and the API document are for this machine; a forwarded request is nobody’s', async () => {
    const { cert, key, ca } = certificates();
    const outer = await freePort();
    const { child, port } = await startProcess({
      BREAKWATER_HOST: '0.0.0.0',
      BREAKWATER_TLS_PORT: String(outer),
      BREAKWATER_TLS_CERT: cert,
      BREAKWATER_TLS_KEY: key,
    });
    for (const path of ['/metrics', '/openapi.json']) {
      assert.equal((await ask(port, path, '127.0.0.1'))[0], 200);
      if (lan) assert.deepEqual(await askSafely(outer, path, lan, ca), [404, 'not found\n']);
      assert.deepEqual(await ask(port, path, '127.0.0.1', { 'x-forwarded-for': '127.0.0.1' }), [404, 'not found\n']);
    }
    child.kill('SIGTERM');
  });

  test('and for whom the settings name, by the address that a named proxy tells', async () => {
    const { child, port } = await startProcess({
      BREAKWATER_TRUSTED_PROXIES: '127.0.0.0/8',
      BREAKWATER_METRICS_ALLOW: '198.51.100.0/24, 2001:db8::/32',
    });
    const from = (address: string) => ask(port, '/metrics', '127.0.0.1', { 'x-forwarded-for': address });
    assert.equal((await from('198.51.100.9'))[0], 200);
    assert.equal((await from('2001:db8::9'))[0], 200);
    assert.equal((await from('203.0.113.9'))[0], 404);
    // what the caller says of itself stands to the left of what the proxy saw
    assert.equal((await from('198.51.100.9, 203.0.113.9'))[0], 404);
    child.kill('SIGTERM');
  });
});

test('a path of the API that nobody mounted is 101004 for every method, also where the console answers the rest', async () => {
  const dist = join(testFolder('dist'), '');
  mkdirSync(join(dist, 'assets'));
  writeFileSync(join(dist, 'index.html'), '<!doctype html>');
  const app = createServer({ services: api.services, groups: [], implementations: [], params: {}, log: () => {} });
  await serveConsole(app, `${dist}/`);
  for (const path of ['/api/v1/nothing', '/api/v1/user/nothing?x=1', '/api/v1', '/api', '/api?x', '/api/v2/user/sites'])
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
      const reply = await app.inject({ method, url: path });
      assert.deepEqual([reply.statusCode, reply.json().code], [404, 101004], `${method} ${path}`);
    }
  assert.equal((await app.inject({ method: 'HEAD', url: '/api/v1/nothing' })).statusCode, 404);
  // other spellings of the same
  for (const path of [
    ...['/%61pi/v1/nope', '//api/v1/nope', '/API/v1/nope', '/api%2fv1/nope', '/%2561pi/v1/nope', '/api%5cv1/nope', '/%2Fapi'],
    ...['/./api/v1/nope', '/client/%2e%2e/api/v1/nope', '/Api?x=1', '/%2e/api/v1/user/sites'],
  ]) {
    const reply = await app.inject({ method: 'GET', url: path });
    assert.deepEqual([reply.statusCode, reply.headers['content-type']], [404, 'application/json; charset=utf-8'], path);
    assert.equal(reply.json().code, 101004, path);
    assert.equal((await app.inject({ method: 'POST', url: path })).statusCode, 404, path);
  }
  for (const path of ['/apiary', '/client/api/v1', '/user/sites?next=/api/v1'])
    assert.match((await app.inject({ method: 'GET', url: path })).payload, /doctype/, path);
  await app.close();
});

describe('networks', () => {
  test('hold what they say, in both families and mapped', () => {
    const list = new Networks(['10.0.0.0/8', '2001:db8::/32', '192.0.2.7']);
    for (const address of ['10.255.0.1', '::ffff:10.0.0.1', '2001:DB8:1::1', '192.0.2.7']) assert.ok(list.has(address), address);
    for (const address of ['11.0.0.1', '192.0.2.8', '2001:db9::1', '', 'x', undefined]) assert.equal(list.has(address), false);
    assert.ok(loopback.has('::1') && loopback.has('127.9.9.9') && loopback.has('::ffff:127.0.0.1'));
  });
  test('a mistake is said, with the variable', () => {
    for (const wrong of ['10.0.0.0/33', '10.0.0', 'lan', '::/129', '10.0.0.0/8/8', '10.0.0.0/-1', '10.0.0.0/'])
      assert.throws(() => Networks.of('SOME_LIST', `127.0.0.1,${wrong}`), /^Error: SOME_LIST: .* is no address/, wrong);
  });
  test('whoever has one address has its network', () => {
    assert.deepEqual(neighbourhoods('2001:db8:1:2::9'), ['2001:db8:1::/48', '2001:db8:1:2::/64']);
    assert.deepEqual(neighbourhoods('::ffff:192.0.2.1'), ['192.0.2.0/24', '192.0.2.1']);
  });
  test('an IPv6 address stands for its /64', () => {
    for (const [address, wanted] of [
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
      ['2001:0DB8:1:2::', '2001:db8:1:2::/64'],
      ['2001:db8::1', '2001:db8:0:0::/64'],
      ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
      ['::1', '0:0:0:0::/64'],
      ['fe80::1%eth0', 'fe80:0:0:0::/64'],
      ['::ffff:192.0.2.1', '192.0.2.1'],
      ['192.0.2.1', '192.0.2.1'],
    ])
      assert.equal(neighbourhoods(address!)[1], wanted);
  });
});
