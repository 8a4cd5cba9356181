/**
 * What a record does hangs on the record alone: on no push that a worker has seen, and on nothing that a worker has in its memory. For
 * each kind of record the same is asked when it came by a push, after nginx was started from the snapshot, and after workers were killed.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { domainRecords, type EdgeRecord, frame, keyOrder as allKeys, recordsOf, snapshot } from '#agent/render/records.ts';
import { shake, shownFor } from './certificates.ts';
import { domain, type Edge, freePort, onLoopback, site, siteRecords, startEdge, startOrigin, until } from './harness.ts';

/** Of a node itself (contract/src/edge/kinds/node.ts) nginx gets no record: the agent alone reads it. */
const keyOrder = allKeys.filter(letter => letter !== 'n');

const frequency = { id: 60, urlRegex: '^/z', seconds: 3600, times: 2, by: 'ipURL', priority: 1, action: 'limit' } as const;
const head = { v: 1, rev: 1 } as const;
const shown = shownFor(['a.test']);
const tlsPort = await freePort();
const openPort = await freePort();

function records(port: number): EdgeRecord[] {
  const of = (kind: Parameters<typeof recordsOf>[0], document: unknown) => recordsOf(kind, document, () => [], onLoopback);
  const moved = { id: 1, match: 'exact', source: '/moved', target: '/there', status: 301, query: false };
  return [
    ...of('zone', {
      ...head,
      id: 1,
      frequencies: [frequency],
      errorPages: [{ code: 903, type: 'content', content: 'of the zone' }],
    }),
    ...of('module', { ...head, id: 7, site: 1, type: 'urlRedirect', content: { redirects: [moved] } }),
    ...siteRecords(site(1, { blacklists: [{ id: 9, ips: ['127.0.0.9'], block: 'deny' }] })),
    ...siteRecords(site(2, { state: 'pause' })),
    ...shown.records,
    ...domainRecords(domain(1, 'a.test', [port], { ...shown.domain, modules: { urlRedirect: 7 } }), () => [], onLoopback),
    ...domainRecords(domain(2, 'paused.test', [port], { site: 2 }), () => [], onLoopback),
    {
      key: 'a:a.test',
      value: JSON.stringify({ ...head, id: 1, host: 'a.test', tokens: [{ token: 'of-a', answer: 'of-a.ours' }] }),
    },
    ...domainRecords(domain(3, 'off.test', [port], { enabled: false }), () => [], onLoopback),
    ...of('port', { ...head, id: 1, site: 1, port: openPort, scheme: 'http', ips: [], upstreams: [] }),
  ].filter(({ value }) => value !== null);
}

let urls = 0;
/** By the letter of their keys: what visitors see of the records. */
const effects: Record<string, (edge: Edge) => Promise<unknown[]>> = {
  async z(edge) {
    const path = `/z${urls++}`;
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await edge.ask('a.test', path)).status);
    return [...statuses, (await edge.ask('nobody.test', '/')).body];
  },
  // of the pair, and of what stands above it
  c: async () => [(await shake(tlsPort, 'a.test')).failed],
  i: async () => [(await shake(tlsPort, 'a.test', { ca: shown.ca.root })).error],
  a: async edge => [(await edge.ask('a.test', '/.well-known/acme-challenge/of-a')).body],
  p: async edge => [(await edge.ask('a.test', '/', { from: '127.0.0.9' })).status],
  m: async edge => [(await edge.ask('a.test', '/moved')).headers.location],
  s: async edge => [(await edge.ask('a.test', '/')).status, (await edge.ask('paused.test', '/')).status],
  o: async edge => {
    const at = async (host: string) => (await edge.ask(host, '/', { port: openPort })).status;
    return [await at('a.test'), await at('paused.test')];
  },
  d: async edge => [(await edge.ask('a.test', '/')).status, (await edge.ask('off.test', '/')).status],
};
const wanted: Record<string, unknown[]> = {
  z: [200, 200, 929, 'of the zone'],
  c: [null],
  i: [null],
  a: ['of-a.ours'],
  p: [403],
  m: ['/there'],
  s: [200, 904],
  o: [200, 903],
  d: [200, 904],
};
const isWorker = (pid: string) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('worker process');
  } catch {
    return false;
  }
};
const workers = (edge: Edge) =>
  readFileSync(`/proc/${edge.pid()}/task/${edge.pid()}/children`, 'latin1').trim().split(' ').filter(isWorker);

async function killWorkers(edge: Edge) {
  const before = workers(edge);
  for (const pid of before) process.kill(Number(pid), 'SIGKILL');
  await until('other workers', () => workers(edge).filter(pid => !before.includes(pid)).length === before.length);
}

async function same(edge: Edge, when: string) {
  for (const letter of keyOrder) assert.deepEqual(await effects[letter]!(edge), wanted[letter], `${letter}: ${when}`);
}

describe('what a record does', () => {
  test('is shown here for every letter of keys', () => {
    assert.deepEqual(Object.keys(effects).toSorted(), keyOrder.toSorted());
  });

  test('is the same live, after a start, and after workers were killed', async () => {
    await using origin = await startOrigin();
    const all = records(origin.port);
    await using edge = await startEdge({ workers: 2, httpsPorts: [tlsPort], ports: [{ port: openPort, scheme: 'http' }] });
    await edge.put(...all);
    await same(edge, 'live');
    await killWorkers(edge);
    await same(edge, 'live, other workers');
    writeFileSync(join(edge.folder, 'snapshot.bin'), Buffer.concat([...snapshot(all, '1')]));
    await edge.restart();
    await same(edge, 'started from the snapshot');
    await killWorkers(edge);
    await same(edge, 'from the snapshot, other workers');
  });

  test('is looked at when it comes, whatever its letter', async () => {
    await using edge = await startEdge({ workers: 1 });
    for (const letter of keyOrder) {
      const answer = await edge.control('POST', '/apply', Buffer.from(`${letter}:other 2\n{}\n`));
      assert.equal(answer.status, 400, `${letter}: ${JSON.stringify(answer.body)}`);
    }
  });

  test('is said under its own key alone', async () => {
    await using edge = await startEdge({ workers: 1 });
    const records = [
      ['d:b.test', domain(1, 'a.test', [1])],
      ['s:2', { ...head, id: 1, state: 'normal', expires: 0, gen: 1 }],
      ['p:blacklists:2', { ...head, id: 1, blacklists: [] }],
      [
        'm:2',
        {
          ...head,
          id: 1,
          site: 1,
          type: 'cors',
          content: { allowOrigin: '*', allowMethods: [], allowHeaders: [], exposeHeaders: [], maxAge: 1 },
        },
      ],
    ] as const;
    for (const [key, record] of records) {
      const answer = await edge.control('POST', '/apply', frame([{ key, value: JSON.stringify(record) }]));
      assert.equal(answer.status, 400, key);
      assert.match(answer.body.error, /another \w+'s key/);
    }
  });

  test('a domain with a module of a type that this node does not know is not served, unless the type says it may be', async () => {
    await using origin = await startOrigin();
    await using edge = await startEdge({ workers: 1 });
    const module = (more: object) => ({
      key: 'm:8',
      value: JSON.stringify({ ...head, id: 8, site: 1, type: 'hologram', content: {}, ...more }),
    });
    const named = domainRecords(domain(8, 'h.test', [origin.port], { modules: { hologram: 8 } }), () => [], onLoopback);
    const answer = await edge.put(...records(origin.port), module({}), ...named);
    assert.deepEqual(
      answer.bad.map(({ list, id }: { list: string; id: number }) => [list, id]),
      [['hologram', 8]],
    );
    assert.equal((await edge.ask('h.test', '/')).status, 904);
    assert.equal((await edge.ask('a.test', '/')).status, 200);
    await edge.put(module({ ignorable: true }));
    assert.equal((await edge.ask('h.test', '/')).status, 200);
    assert.deepEqual((await edge.stat()).bad, []);
  });

  test("what had to be left out of the zone's record is told, also by who started with it, until the next one", async () => {
    await using origin = await startOrigin();
    const pages = [{ code: 903, type: 'urlRedirect', content: 'nowhere' }];
    const zone = (...frequencies: unknown[]): EdgeRecord => ({
      key: 'z:',
      value: JSON.stringify({ ...head, id: 1, frequencies, errorPages: frequencies.length > 1 ? pages : [] }),
    });
    const bad = zone({ ...frequency, id: 61, urlRegex: '[z-\\d]' }, { ...frequency, id: 62, urlRegex: '^/[[:foo:]]' }, frequency);
    const told = (list: { site: number; list: string; id: number }[]) =>
      list.map(one => `${one.site} ${one.list} ${one.id}`).toSorted();
    const left = ['0 errorPages 903', '0 frequencies 61', '0 frequencies 62'];
    await using edge = await startEdge({ workers: 1 });
    assert.deepEqual(told((await edge.put(...records(origin.port), bad)).bad), left);
    assert.deepEqual(told((await edge.stat()).bad), left);
    assert.deepEqual((await effects.z!(edge)).slice(0, 3), [200, 200, 929], 'the others hold');
    await edge.put(zone(frequency));
    assert.deepEqual((await edge.stat()).bad, []);
    await edge.put(bad, { key: 'z:', value: null });
    assert.deepEqual((await edge.stat()).bad, []);
  });
});
