/** What the launcher, who may be root, makes of files that are the server's. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { accountOf } from '#server/store/accounts.ts';
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
