/** What the script of a join line makes of archives that do not come as they should. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { ended, env, Machine, script } from './join-machine.ts';

test('an archive that comes by half, whole by its length and cut, or with another hash is refused; the node of before goes on, and the same line joins later', async t => {
  const machine = new Machine();
  const archives = new Map<string, Buffer>();
  for (const part of ['application', 'runtime']) {
    const file = join(machine.home, `${part}.tar.gz`);
    assert.equal(spawnSync('tar', ['-czf', file, '-C', join(machine.home, part), '.']).status, 0);
    archives.set(part, readFileSync(file));
  }
  /** how an archive is answered */
  let answer = (archive: Buffer, response: ServerResponse): unknown => response.end(archive);
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://x');
    asked.push(`${pathname} ${searchParams.get('sha256')}`);
    answer(archives.get(pathname.split('/').at(-1)!)!, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const hashOf = (part: string) => createHash('sha256').update(archives.get(part)!).digest('hex');
  const stand = `${/^download\(\) \{[\s\S]*?^\}$/m.exec(script)![0]}
BW_URL=http://127.0.0.1:${(server.address() as AddressInfo).port} BW_APPLICATION=${hashOf('application')} BW_RUNTIME=${hashOf('runtime')}
`;
  const run = async () => {
    const child = spawn('sh', machine.command(stand), { stdio: ['ignore', 'pipe', 'pipe'], env });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text));
    return { status: await ended(child), said };
  };
  const half = (archive: Buffer) => archive.subarray(0, archive.length / 2);
  const broken: [string, typeof answer, RegExp][] = [
    [
      'half, and the connection is gone',
      (archive, response) => {
        response.writeHead(200, { 'content-length': archive.length });
        response.write(half(archive), () => response.destroy());
      },
      /The application cannot be downloaded from http:/,
    ],
    [
      'half, and nobody says so',
      (archive, response) => response.end(half(archive)),
      /it was changed or cut\. Nothing of it was run/,
    ],
    [
      'as long, and another one',
      (archive, response) => response.end(Buffer.alloc(archive.length, 1)),
      /is not the application that/,
    ],
    ['nothing', (_, response) => response.end(), /is not the application that/],
  ];
  // on a bare machine, and beside a node that serves there
  for (const isNode of [false, true]) {
    if (isNode) {
      answer = (archive, response) => response.end(archive);
      const first = await run();
      assert.equal(first.status, 0, first.said);
      assert.equal(machine.identity, 'joined');
      assert.ok(asked.includes(`/join/token/runtime ${hashOf('runtime')}`));
      // another version is offered
      writeFileSync(join(machine.home, 'application/new'), '');
      rmSync(join(machine.prefix, 'versions/1-x'), { recursive: true });
      mkdirSync(join(machine.prefix, 'versions/0-x'));
    }
    for (const [what, how, why] of broken) {
      answer = how;
      const { status, said } = await run();
      assert.equal(status, 1, `${what}: ${said}`);
      assert.match(said, why, what);
      assert.ok(!existsSync(join(machine.prefix, 'versions/1-x')) && !existsSync(join(machine.prefix, 'joining')), what);
      if (isNode) assert.equal(machine.identity, 'joined');
      else assert.ok(!existsSync(machine.data) && !existsSync(join(machine.prefix, 'current')), what);
    }
  }
  answer = (archive, response) => response.end(archive);
  const last = await run();
  assert.equal(last.status, 0, last.said);
});
