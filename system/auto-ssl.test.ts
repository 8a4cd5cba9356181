/**
 * A customer asks for certificates, and has them: a real authority (Pebble) that refuses 15 % of good nonces and takes its time, the whole
 * product, a node that answers it and then speaks https.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { freePort, poll } from '#server/store/engine-process.ts';
import { shake } from '../edge/test/certificates.ts';
import { testFolder } from './engines.ts';
import { type Pebble, startPebble } from './pebble.ts';
import { originServer, Whole } from './whole.ts';

let pebble: Pebble;
let whole: Whole;
let origin: Awaited<ReturnType<typeof originServer>>;
const ends: (() => Promise<unknown>)[] = [];

before(async () => {
  const port = await freePort();
  pebble = await startPebble({ httpPort: port, nonceReject: 15, sleep: 1 });
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

test('domains get certificates by themselves; one that cannot is tried again later and holds up nobody; renewing makes another', async () => {
  const user = await whole.signIn('user');
  const client = await whole.signIn('client');
  const ok = async (token: string, method: string, path: string, body?: unknown) => {
    const answer = await whole.call(method, path, token, body);
    assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const names = ['lost.acme.test', 'one.acme.test', 'two.acme.test', '*.acme.test'];
  await pebble.lose(names[0]!);
  const { ids } = await ok(user, 'POST', '/user/site/1/domains', {
    domains: names.map(domainName => ({ domainName, upstreams: [{ address: '127.0.0.1', port: origin.port }] })),
  });
  // sends everybody to https, the authority aside
  await ok(user, 'PATCH', '/user/site/1/domain/setting/forceSSL', { domainIDs: ids, forceSSL: true });
  const path = '/user/site/1/domain/setting/autoSSL';
  const asked = await whole.call('PATCH', path, user, { domainIDs: ids, enabled: true });
  // the wildcard alone is refused
  assert.deepEqual([asked.body.code, asked.body.errorData.length, asked.body.errorData[0].targets], [101009, 1, ['*.acme.test']]);

  // oxlint-disable-next-line typescript/no-explicit-any -- an answer
  type Row = any;
  const rowOf = async (name: string): Promise<Row> =>
    (await ok(client, 'GET', '/client/autoCertificates?pageSize=50')).data.find((row: Row) => row.domainName === name);
  const reaches = (name: string, state: string) =>
    poll(async () => (await rowOf(name))?.state === state, 50_000, 200).then(async is =>
      assert.ok(is, JSON.stringify(await rowOf(name))),
    );
  await reaches('one.acme.test', 'success');
  await reaches('two.acme.test', 'success');
  await reaches('lost.acme.test', 'fail');
  const lost = await rowOf('lost.acme.test');
  assert.equal(lost.attempts, 1);
  assert.match(lost.error, /lost\.acme\.test|dns|lookup/i);
  const stateOf = async (id: number) => (await ok(user, 'GET', `/user/site/1/domain/${id}`)).certStatus;
  assert.deepEqual([await stateOf(ids[0]), await stateOf(ids[1])], ['fail', 'enabled']);

  const root = await pebble.root();
  const shown = async (name: string) => {
    const { serial, error } = await shake(whole.edgeHttpsPort, name, { ca: root });
    return error === null ? serial : undefined;
  };
  assert.ok(await poll(async () => (await shown('one.acme.test')) !== undefined, 20_000));
  assert.ok(await poll(async () => (await shown('two.acme.test')) !== undefined, 20_000));
  const first = await shown('one.acme.test');

  // what it did is told to whoever sees the site
  const [task] = (await ok(user, 'GET', '/user/tasks')).data.filter((row: Row) => row.kind === 'autoSSL');
  const { lines } = await ok(user, 'GET', `/user/task/${task.id}`);
  const said = (host: string) => lines.filter((line: Row) => line.values.host === host).map((line: Row) => line.code);
  assert.deepEqual(said('one.acme.test'), ['ordered', 'spread', 'validated', 'issued']);
  assert.deepEqual(said('lost.acme.test'), ['ordered', 'spread', 'notIssued']);
  assert.deepEqual([task.total, task.startedBy], [3, null]);
  // nobody is answered any more
  assert.equal((await whole.call('GET', '/user/site/1/applied', user)).body.errors.length, 0);

  await pebble.find('lost.acme.test');
  await ok(client, 'POST', '/client/autoCertificates/renew', { ids: [(await rowOf('one.acme.test')).id, lost.id] });
  await reaches('lost.acme.test', 'success');
  assert.ok(await poll(async () => ![undefined, first].includes(await shown('one.acme.test')), 40_000), 'another is shown');
  const { data } = await ok(user, 'GET', '/user/site/1/certificates?pageSize=50');
  const ours = data.filter((row: Row) => row.type === 'autoSSL');
  // renewed in its place
  assert.deepEqual(ours.map((row: Row) => row.sslName).sort(), ['lost.acme.test', 'one.acme.test', 'two.acme.test']);
  assert.equal(new X509Certificate(root).ca, true);

  await ok(user, 'PATCH', path, { domainIDs: [ids[1]], enabled: false });
  assert.equal(await rowOf('one.acme.test'), undefined);
  // until it ends
  assert.notEqual(await shown('one.acme.test'), undefined);
});
