/** Workers that reloads leave behind with a long answer: the oldest give way, and those that serve do not. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '#server/store/engine-process.ts';
import { endOldest, workersOf } from '../src/old-workers.ts';
import { until } from './node.ts';

test('of the workers of reloads, the oldest are ended', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'breakwater-old-workers-'));
  const origin = http.createServer((_, answer) => void answer.write('begun'));
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `worker_processes 2; pid ${folder}/pid; error_log ${folder}/error.log;
     events {}
     http { access_log off; proxy_temp_path ${folder}/p; client_body_temp_path ${folder}/c; fastcgi_temp_path ${folder}/f;
       uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
       server { listen 127.0.0.1:${port}; location /long { proxy_buffering off; proxy_pass http://127.0.0.1:${(origin.address() as AddressInfo).port}; } } }`,
  );
  const nginx = spawn('nginx', ['-p', folder, '-c', file, '-e', join(folder, 'error.log'), '-g', 'daemon off;'], {
    stdio: 'ignore',
  });
  t.after(async () => {
    origin.close();
    origin.closeAllConnections();
    nginx.kill('SIGTERM');
    await once(nginx, 'exit');
    rmSync(folder, { recursive: true, force: true });
  });
  const master = nginx.pid!;
  /** A long answer; whether it was cut. */
  const long = async () => {
    const asked = http.get({ port, host: '127.0.0.1', path: '/long', agent: false });
    const [answer] = (await once(asked, 'response')) as [http.IncomingMessage];
    const one = { isCut: false };
    answer.on('error', () => (one.isCut = true)).on('data', () => {});
    return one;
  };
  await until('it serves', () =>
    long().then(
      () => true,
      () => false,
    ),
  );

  const generations: { isCut: boolean }[] = [];
  const ended: number[][] = [];
  for (let i = 0; i < 8; i++) {
    const serving = workersOf(master)
      .filter(one => !one.isOld)
      .map(one => one.pid);
    // a worker of each generation at least has a long answer to go on with
    generations.push(await long());
    ended.push(endOldest(master, 3));
    nginx.kill('SIGHUP');
    await until('others serve', () => {
      const now = workersOf(master).filter(one => !one.isOld);
      return now.length === 2 && now.every(({ pid }) => !serving.includes(pid));
    });
  }
  assert.deepEqual(ended.slice(0, 2), [[], []]);
  assert.ok(ended.flat().length > 0, 'some were ended');
  await until('the first answer is cut', () => generations[0]!.isCut);
  assert.deepEqual(
    generations.slice(-2).map(one => one.isCut),
    [false, false],
  );
  const left = workersOf(master).length;
  assert.ok(left <= 2 + 3 * 2, `${left} workers`);
});
