/**
 * Names proven by DNS: a real authority (Pebble) that asks a real name server (Knot), which takes the product's signed updates. Wildcards,
 * a name whose HTTP leads elsewhere, a provider that is down, wrong credentials, and what is left behind.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { freePort, poll } from '#server/store/engine-process.ts';
import { shake } from '../edge/test/certificates.ts';
import { testFolder } from './engines.ts';
import { type Knot, startKnot } from './knot.ts';
import { type Pebble, startPebble } from './pebble.ts';
import { Whole } from './whole.ts';

let pebble: Pebble;
let knot: Knot;
let whole: Whole;
const ends: (() => Promise<unknown>)[] = [];

before(async () => {
  const port = await freePort();
  // of `away` the addresses lead elsewhere, so that nobody answers there over HTTP
  knot = await startKnot({ zones: ['dns.test', 'frozen.test'], lines: ['away A 127.0.0.2'] });
  ends.push(() => knot.stop());
  pebble = await startPebble({ httpPort: port, nonceReject: 10, dns: knot.address });
  ends.push(() => pebble.stop());
  const ca = join(testFolder('ca'), 'ca.pem');
  writeFileSync(ca, pebble.ca);
  whole = await Whole.start(['--demo'], undefined, {
    BREAKWATER_EDGE_HTTP: String(port),
    BREAKWATER_ACME_DIRECTORY: pebble.directory,
    BREAKWATER_ACME_CA: ca,
    BREAKWATER_DNS_RESOLVERS: knot.address,
    BREAKWATER_ORIGIN_ALLOW: '127.0.0.0/8',
  });
  ends.push(() => whole.stop());
});
after(async () => {
  for (const end of ends.reverse()) await end();
});

test('wildcards and names HTTP cannot prove are proven by DNS; a provider that refuses holds up nobody; nothing is left in a zone', async () => {
  const user = await whole.signIn('user');
  const client = await whole.signIn('client');
  // oxlint-disable-next-line typescript/no-explicit-any -- an answer
  type Row = any;
  const ok = async (method: string, path: string, body?: unknown, token = user): Promise<Row> => {
    const answer = await whole.call(method, path, token, body);
    assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const names = ['*.dns.test', 'dns.test', 'away.dns.test', '*.frozen.test'];
  const { ids } = await ok('POST', '/user/site/1/domains', {
    domains: names.map(domainName => ({ domainName, upstreams: [{ address: '127.0.0.1', port: 9 }] })),
  });
  const account = { provider: 'rfc2136', server: knot.address, keyName: knot.key.name, algorithm: knot.key.algorithm };
  const dns = '/user/site/1/setting/dns';
  const {
    ids: [dnsID],
  } = await ok('POST', dns, { ...account, credentials: Buffer.alloc(32, 1).toString('base64') });

  // whoever has wrong credentials is told so when asking what the account holds
  const asked = await whole.call('GET', `${dns}/domains?dnsID=${dnsID}`, user);
  assert.deepEqual([asked.status, asked.body.code], [400, 101006]);
  assert.match(JSON.stringify(asked.body.errorData), /BADSIG/);
  await ok('PUT', dns, { id: dnsID, credentials: knot.key.secret });
  const held = await ok('GET', `${dns}/domains?dnsID=${dnsID}`);
  const zoneOf = (name: string) => held.find((one: Row) => one.domainName === name)?.zone;
  assert.deepEqual(names.map(zoneOf), ['dns.test', 'dns.test', 'dns.test', 'frozen.test']);

  await knot.freeze('frozen.test');
  await ok('PATCH', '/user/site/1/domain/setting/autoSSL', { domainIDs: ids, enabled: true });
  const rowOf = async (name: string): Promise<Row> =>
    (await ok('GET', '/client/autoCertificates?pageSize=50', undefined, client)).data.find((row: Row) => row.domainName === name);
  const reaches = async (name: string, state: string) => {
    const is = await poll(async () => (await rowOf(name))?.state === state, 90_000, 200);
    assert.ok(is, JSON.stringify(await rowOf(name)));
  };
  for (const name of names.slice(0, 3)) await reaches(name, 'success');
  assert.deepEqual(await Promise.all(names.slice(0, 3).map(async name => (await rowOf(name)).way)), ['dns', 'http', 'dns']);
  const root = await pebble.root();
  const shown = async (name: string) => (await shake(whole.edgeHttpsPort, name, { ca: root })).error === null;
  for (const name of ['any.dns.test', 'dns.test', 'away.dns.test'])
    assert.ok(await poll(() => shown(name), 20_000), `${name} is served over https`);
  const { data } = await ok('GET', '/user/site/1/certificates?pageSize=50');
  const typeOf = (name: string) => data.find((row: Row) => row.names.includes(name)).type;
  assert.deepEqual(names.slice(0, 3).map(typeOf), ['dns', 'autoSSL', 'dns']);

  // the frozen one: tried several times, said in words, tried again later
  await reaches('*.frozen.test', 'fail');
  assert.match((await rowOf('*.frozen.test')).error, /REFUSED|SERVFAIL/);
  const [task] = (await ok('GET', '/user/tasks')).data.filter((row: Row) => row.kind === 'autoSSL');
  const told = async () => (await ok('GET', `/user/task/${task.id}`)).lines as Row[];
  assert.ok(await poll(async () => (await ok('GET', `/user/task/${task.id}`)).endedAt !== null, 60_000));
  const lines = await told();
  const said = (host: string) => lines.filter(line => line.values.host === host).map(line => line.code);
  assert.deepEqual(said('*.dns.test'), ['ordered', 'recordPut', 'recordSeen', 'validated', 'issued', 'recordGone']);
  assert.deepEqual(said('dns.test'), ['ordered', 'spread', 'validated', 'issued']);
  const away = said('away.dns.test');
  assert.deepEqual([away[0], away[1], away[2], away.at(-1)], ['ordered', 'spread', 'byDNS', 'recordGone']);
  // neither put nor taken away: that goes on beside the task
  assert.deepEqual(said('*.frozen.test').slice(-2), ['notIssued', 'recordLeft']);
  for (const name of ['_acme-challenge.dns.test', '_acme-challenge.away.dns.test', '_acme-challenge.frozen.test'])
    assert.deepEqual(await knot.texts(name), [], `${name} is left behind`);

  await knot.thaw('frozen.test');
  await ok('POST', '/client/autoCertificates/renew', { ids: [(await rowOf('*.frozen.test')).id] }, client);
  await reaches('*.frozen.test', 'success');
  assert.ok(await poll(async () => (await knot.texts('_acme-challenge.frozen.test')).length === 0, 20_000));

  // a removed account keeps nothing of what lets us in
  await ok('DELETE', dns, { ids: [dnsID] });
  assert.deepEqual((await ok('GET', dns)).data, []);
});
