/** nginx empties a dictionary whose size changes with a reload: another size counts at its next start. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Nginx } from '#agent/nginx.ts';
import { nginxFolders, writeSnapshot } from '#agent/nginx-files.ts';
import { frame, snapshot } from '#agent/render/records.ts';
import { freePort } from '#server/store/engine-process.ts';
import { authority } from '#system/authority.ts';
import { certificateDocument, recordsOfCertificate, shake } from '../../edge/test/certificates.ts';
import { domain, site } from '../../edge/test/harness.ts';
import { until } from './node.ts';

test('a reload keeps the sizes, and what is in there; others count at the next start', async t => {
  const folders = nginxFolders(mkdtempSync(join(tmpdir(), 'memory-size-')));
  const [httpPort, httpsPort] = [await freePort(), await freePort()];
  const ca = authority();
  const said: string[] = [];
  const nginx = new Nginx({
    folders,
    facts: {
      luaDir: fileURLToPath(new URL('../../edge/lua', import.meta.url)),
      httpPorts: [httpPort],
      httpsPorts: [httpsPort],
      listen: ['127.0.0.1'],
      workers: 1,
      recordsMb: 32,
      certificatesMb: 16,
    },
    beforeStart: () => writeSnapshot(folders.snapshot, [...snapshot([])]),
    up: () => {},
    down: why => said.push(why),
    log: message => said.push(message),
  });
  t.after(async () => {
    await nginx.stop(2000);
    rmSync(folders.home, { recursive: true, force: true });
  });
  const shown = async () => (await shake(httpsPort, 'a.test', { ca: ca.root })).error === null;
  const reloads = () => readFileSync(join(folders.logs, 'error.log'), 'utf8').split('reconfiguring').length - 1;
  const sizes = () =>
    /dict cfg (\d+)m;[^]*dict crt (\d+)m;/.exec(readFileSync(join(folders.home, 'nginx.conf'), 'utf8'))!.slice(1);

  await nginx.start();
  const { pid } = nginx;
  const records = [
    ...recordsOfCertificate(certificateDocument(1, ca.issue(['a.test']), ca)),
    { key: 's:1', value: JSON.stringify(site(1)) },
    { key: 'd:a.test', value: JSON.stringify(domain(1, 'a.test', [httpPort], { certificate: 1 })) },
  ];
  await nginx.control.apply(frame(records), 'c1');
  assert.ok(await shown(), said.join('\n'));

  assert.equal(await nginx.configure({ certificatesMb: 18, recordsMb: 40 }), false, 'nothing else changed');
  // something that does ask for a reload
  assert.equal(await nginx.configure({ cacheSizeMb: 12_345 }), true);
  await until('it reloaded', () => reloads() > 0);
  assert.deepEqual(sizes(), ['32', '16']);
  assert.ok(await shown());

  nginx.restartNow('a test wants it');
  const isAnother = async () => nginx.pid !== pid && (await nginx.control.stat().catch(() => null)) !== null;
  await until('it is another one', isAnother);
  assert.deepEqual(sizes(), ['40', '18']);
});
