/**
 * Many names ask for certificates at once, at an authority (Pebble) that refuses 15 % of good nonces and takes its time before it looks: all
 * have theirs in the end, none by a second try. `BREAKWATER_TEST_NAMES=300` asks for as many instead (docs/handbook/certificates.md).
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { freePort, poll } from '#server/store/engine-process.ts';
import { shake } from '../edge/test/certificates.ts';
import { testFolder } from './engines.ts';
import { type Pebble, startPebble } from './pebble.ts';
import { originServer, Whole } from './whole.ts';

const count = Number(process.env['BREAKWATER_TEST_NAMES'] ?? 60);
let pebble: Pebble;
let whole: Whole;
let origin: Awaited<ReturnType<typeof originServer>>;
const ends: (() => Promise<unknown>)[] = [];

before(async () => {
  const port = await freePort();
  pebble = await startPebble({ httpPort: port, nonceReject: 15, sleep: 5 });
  ends.push(() => pebble.stop());
  origin = await originServer((_, answer) => answer.end('ours'));
  ends.push(() => origin.stop());
  const ca = join(testFolder('ca'), 'ca.pem');
  writeFileSync(ca, pebble.ca);
  whole = await Whole.start(['--demo'], undefined, {
    BREAKWATER_EDGE_HTTP: String(port),
    BREAKWATER_ACME_DIRECTORY: pebble.directory,
    BREAKWATER_ACME_CA: ca,
    BREAKWATER_ORIGIN_ALLOW: '127.0.0.0/8',
  });
  ends.push(() => whole.stop());
});
after(async () => {
  for (const end of ends.reverse()) await end();
});

test(`${count} names that ask at once all have certificates, whatever nonces are refused`, async t => {
  const [user, client] = [await whole.signIn('user'), await whole.signIn('client')];
  const ok = async (token: string, method: string, path: string, body?: unknown) => {
    const answer = await whole.call(method, path, token, body);
    assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const names = Array.from({ length: count }, (_, n) => `n${n}.many.test`);
  const { ids } = await ok(user, 'POST', '/user/site/1/domains', {
    domains: names.map(domainName => ({ domainName, upstreams: [{ address: '127.0.0.1', port: origin.port }] })),
  });
  const began = performance.now();
  await ok(user, 'PATCH', '/user/site/1/domain/setting/autoSSL', { domainIDs: ids, enabled: true });
  // oxlint-disable-next-line typescript/no-explicit-any -- an answer
  let rows: any[] = [];
  const mine = new Set(names);
  const isOver = await poll(
    async () => {
      const { data } = await ok(client, 'GET', '/client/autoCertificates?pageSize=500');
      rows = data.filter((one: { domainName: string }) => mine.has(one.domainName));
      return rows.length === count && rows.every(one => one.state === 'success' || one.attempts > 0);
    },
    count * 5000 + 120_000,
    500,
  );
  t.diagnostic(`${count} certificates in ${Math.round((performance.now() - began) / 1000)} s`);
  const failed = rows.filter(one => one.state !== 'success' || one.attempts > 0);
  assert.ok(isOver && !failed.length, JSON.stringify(failed.slice(0, 3)));
  const root = await pebble.root();
  for (const name of [names[0]!, names.at(-1)!]) {
    const isShown = async () => (await shake(whole.edgeHttpsPort, name, { ca: root })).error === null;
    assert.ok(await poll(isShown, 60_000, 200), name);
  }
});
