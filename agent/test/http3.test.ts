/** Where a zone wants HTTP/3: what a node can do about it, and what it says where it cannot. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { HTTP3 } from '#agent/http3.ts';
import { nginxBuild } from '#agent/nginx-files.ts';
import { renderNginx } from '#agent/render/nginx.ts';
import type { Check } from '#contract/system/health.ts';
import { freePort } from '#server/store/engine-process.ts';
import { Plane, TestNode, until } from './node.ts';

const listen = ['127.0.0.1', '::1'];

test('it is there where it is wanted, nginx has it, and UDP is free; where not, why', async () => {
  const [port, other] = [await freePort(), await freePort()];
  const http3 = new HTTP3();
  const facts = { http3: true, hasHTTP3: true, httpsPorts: [port, other], listen };
  const said = async (change: object, configured = '') => [
    await http3.choose({ ...facts, ...change }, configured),
    http3.problem,
    http3.isTaken,
  ];
  assert.deepEqual(await said({}), [true, null, false]);
  assert.deepEqual(await said({ http3: false }), [false, null, false]);
  assert.deepEqual(await said({ hasHTTP3: false }), [false, 'its nginx was built without HTTP/3', false]);
  assert.deepEqual(await said({ httpsPorts: [] }), [false, 'it speaks no https', false]);
  for (const [type, address] of [
    ['udp4', '127.0.0.1'],
    ['udp6', '::1'],
  ] as const) {
    const holder = createSocket(type).unref();
    holder.bind(other, address);
    await once(holder, 'listening');
    assert.deepEqual(await said({}), [false, `UDP port ${other} is taken by another program`, true], type);
    assert.deepEqual(await said({}, `listen ${address}:${other} quic reuseport;`), [true, null, false], 'nginx has it itself');
    holder.close();
    await once(holder, 'close');
  }
  assert.deepEqual(await said({}), [true, null, false]);
});

test('a port that a worker of before still holds is not said to be another program’s', async t => {
  const port = await freePort();
  const script = `const s = require('dgram').createSocket('udp4'); s.bind(${port}, '127.0.0.1', () => console.log('bound'))`;
  const worker = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => worker.kill('SIGKILL'));
  await once(worker.stdout, 'data');
  const http3 = new HTTP3();
  const facts = { http3: true, hasHTTP3: true, httpsPorts: [port], listen: ['127.0.0.1'] };
  const said = async (old: number[]) => [await http3.choose(facts, '', () => old), http3.problem, http3.isTaken];
  assert.deepEqual(await said([process.pid]), [false, `UDP port ${port} is taken by another program`, true]);
  const held = `UDP port ${port} is held by a worker of before that still has answers to end`;
  assert.deepEqual(await said([worker.pid!]), [false, held, true]);
});

test('nginx is told of it at its usual ports of https alone, and visitors are told at every answer; without it nothing is', () => {
  const facts = {
    run: '/run/bw',
    luaDir: '/lua',
    tempDir: '/temp',
    cacheDir: '/cache',
    logDir: '/log',
    snapshot: '/snapshot',
    epoch: 'e',
    httpPorts: [80],
    httpsPorts: [8443],
    release: [1, 26, 3] as const,
    ports: [{ port: 9443, scheme: 'https' as const }],
    listen,
  };
  const text = renderNginx({ ...facts, http3: true });
  const lines = text.split('\n').map(line => line.trim());
  assert.deepEqual(
    lines.filter(line => /quic|http3/.test(line)),
    [
      'listen 127.0.0.1:8443 quic reuseport;',
      'listen [::1]:8443 quic reuseport;',
      'http3 on;',
      'quic_host_key "/run/bw/quic.key";',
      'quic_gso on;',
    ],
  );
  // in the front half, and where a location has headers of its own
  assert.equal(lines.filter(line => line === 'add_header Alt-Svc $edge_alt_svc always;').length, 4);
  // a port of the zone has origins and visitors of its own: nobody is led from there to where others are asked
  const map = lines.slice(lines.findIndex(line => line.endsWith('$edge_alt_svc {')));
  assert.deepEqual(map.slice(0, map.indexOf('}')), [
    'map "$https:$server_port" $edge_alt_svc {',
    `"on:8443" 'h3=":8443"; ma=86400';`,
    'default "";',
  ]);
  assert.ok(lines.includes('ssl_early_data off;'));
  for (const without of [{}, { http3: true, httpsPorts: [] }])
    assert.doesNotMatch(renderNginx({ ...facts, ...without }), /quic_|http3|edge_alt_svc/);
});

test('a node whose nginx has none, or whose UDP port is taken, serves on and says so; its zone takes it back', async t => {
  const plane = await Plane.start(t);
  const { rig } = plane;
  const { zoneID } = await rig.zone('one');
  const set = (enable: boolean) =>
    rig.change(
      [`zone ${zoneID}`],
      [
        `insert into "scopedSetting" (name, "zoneID", value) values ('http3', $1, $2)
         on conflict ("zoneID", name) where "zoneID" is not null do update set value = excluded.value`,
        [zoneID, JSON.stringify({ enable })],
      ],
    );
  const node = new TestNode(plane, await plane.token(zoneID), 'n');
  [node.httpPort, node.healthPort, node.httpsPort] = [await freePort(), await freePort(), await freePort()];
  t.after(() => node.end());
  const holder = createSocket('udp4');
  holder.bind(node.httpsPort, '0.0.0.0');
  await once(holder, 'listening');
  t.after(() => holder.close());
  node.start();
  const checks = async (): Promise<Check[] | undefined> =>
    JSON.parse((await node.get('/readyz?verbose', node.healthPort).catch(() => undefined))?.body ?? '{}').checks;
  const said = async () => (await checks())?.find(({ reason }) => reason === 'configuration.noHTTP3');
  await set(true);
  const { hasHTTP3 } = await nginxBuild();
  const why = hasHTTP3 ? `UDP port ${node.httpsPort} is taken by another program` : 'its nginx was built without HTTP/3';
  await until('it says why', async () => (await said())?.params?.['detail'] === why, 60_000);
  assert.equal((await node.get('/', node.httpPort, 'nobody.test')).status, 903);
  await set(false);
  await until('nothing is wrong any more', async () => (await checks()) && !(await said()), 60_000);
});
