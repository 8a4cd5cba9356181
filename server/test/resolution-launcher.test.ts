/** What the launcher, who may be root, makes of files that are the server's. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { accountOf } from '#server/store/accounts.ts';
import * as dns from '#server/domain/dns/message.ts';
import { poll } from '#server/store/engine-process.ts';
import { NameServer } from '#system/name-server.ts';
import { testFolder } from '#system/engines.ts';

const isRoot = process.getuid?.() === 0;
let names: NameServer | undefined;
after(async () => names?.stop());
const zones = () => join(names!.dir, 'lines/zones.conf');

test('whatever the server’s list of zones includes or loads, nobody reads it as root', { skip: !isRoot }, async () => {
  names = await NameServer.start();
  await names.kill();
  const dir = testFolder('knot-include');
  // only root may read it
  writeFileSync(join(dir, 'secret.conf'), '# none yet\n', { mode: 0o600 });
  writeFileSync(zones(), `include: "${join(dir, 'secret.conf')}"\n`);
  await names.up();
  assert.ok(existsSync(`${zones()}.unread`), 'root read what the server may not');

  // a library says who loads it
  await names.kill();
  const said = join(dir, 'out');
  mkdirSync(said);
  chmodSync(said, 0o777);
  chmodSync(dir, 0o755);
  writeFileSync(
    join(dir, 'who.c'),
    `#include <stdio.h>\n#include <unistd.h>
__attribute__((constructor)) static void who(void) {
  FILE *f = fopen("${join(said, 'who')}", "a"); if (f) { fprintf(f, "%d\\n", geteuid()); fclose(f); }
}\n`,
  );
  const library = join(dir, 'who.so');
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, join(dir, 'who.c')]);
  writeFileSync(zones(), `module:\n  - id: mod-who\n    file: "${library}"\n`);
  await names.up();
  const whose = readFileSync(join(said, 'who'), 'utf8').trim().split('\n');
  assert.deepEqual([...new Set(whose)], [String(accountOf('dns')!.uid)]);
});

/** Many questions over UDP in a burst, from one address: how many answers came, and how many of them were cut. */
async function burst(from: string, questions: number): Promise<{ whole: number; cut: number }> {
  const socket = createSocket('udp4');
  await new Promise<void>(resolve => socket.bind(0, from, resolve));
  const got = { whole: 0, cut: 0 };
  let lastAt = performance.now();
  socket.on('message', bytes => {
    got[dns.read(bytes).isCut ? 'cut' : 'whole']++;
    lastAt = performance.now();
  });
  const question = dns.query(1, 'flood.invalid', dns.types.A);
  for (let sent = 0; sent < questions; sent += 50) {
    await Promise.all(
      Array.from({ length: 50 }, () => new Promise(resolve => socket.send(question, names!.port, '127.0.0.1', resolve))),
    );
    // a socket’s buffer holds no more at a time: what is lost there nobody limited
    await new Promise(resolve => setImmediate(resolve));
  }
  lastAt = performance.now();
  await poll(async () => performance.now() - lastAt > 500, 5000, 20);
  socket.close();
  return got;
}

test('who asks without an end is answered so often and no more over UDP, is sent to TCP, and is answered there; this machine always', async () => {
  names ??= await NameServer.start();
  const flood = await burst('127.0.0.9', 4000);
  assert.ok(flood.cut > 0, `none of ${flood.whole} answers is cut`);
  assert.deepEqual(await names.dig('-b', '127.0.0.9', '+tcp', 'flood.invalid', 'A'), ['status: REFUSED']);
  const own = await burst('127.0.0.1', 1000);
  assert.equal(own.cut, 0);
});
