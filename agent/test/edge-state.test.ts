import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DomainDocument, EdgeDocument, ZoneDocument } from '#contract/edge/document.ts';
import { EdgeState } from '../src/edge-state.ts';
import { claimOf, readDocument } from '../src/read-document.ts';
import type { OriginFacts } from '../src/origins.ts';
import { frame, recordBytesMax, recordsOf } from '../src/render/records.ts';

const domain = (id: number, host: string, more: Partial<DomainDocument> = {}): DomainDocument => ({
  v: 1,
  rev: 1,
  id,
  site: 1,
  host,
  enabled: true,
  balance: 'roundRobin',
  originHost: '',
  upstreams: [],
  ...more,
});
const zone = (environment: string[]): ZoneDocument => ({ v: 1, rev: 1, id: 1, origins: { operator: [], environment, own: [] } });
function world(own?: OriginFacts) {
  const bodies = new Map<string, string>();
  const addresses: Record<string, string[]> = {};
  const state = new EdgeState(
    subject => bodies.get(subject),
    name => addresses[name] ?? [],
    own,
  );
  const note = (subject: string, document: EdgeDocument | null) => state.note(subject, document && claimOf(subject, document));
  return {
    state,
    note,
    addresses,
    put(document: DomainDocument | null, id = document!.id) {
      const subject = `cfg.1.domain.${id}`;
      if (document) bodies.set(subject, JSON.stringify(document));
      else bodies.delete(subject);
      const { keys } = note(subject, document);
      return [...state.records(keys)].map(({ key, value }) => [key, value && JSON.parse(value).id]);
    },
  };
}

test('a renamed domain leaves its old key, also when two change names', () => {
  const { put } = world();
  assert.deepEqual(put(domain(1, 'a.test')), [['d:a.test', 1]]);
  assert.deepEqual(put(domain(2, 'b.test')), [['d:b.test', 2]]);
  // 1 takes b while 2 still stands there: the newest wins until 2 has moved on.
  assert.deepEqual(put(domain(1, 'b.test')), [
    ['d:b.test', 2],
    ['d:a.test', null],
  ]);
  assert.deepEqual(put(domain(2, 'a.test')), [
    ['d:b.test', 1],
    ['d:a.test', 2],
  ]);
});

test('of several domains of a name the enabled one is served, then the newest; the next one comes back', () => {
  const { put } = world();
  put(domain(1, 'a.test'));
  assert.deepEqual(put(domain(2, 'a.test', { enabled: false })), [['d:a.test', 1]]);
  assert.deepEqual(put(domain(1, 'a.test', { enabled: false })), [['d:a.test', 2]]);
  assert.deepEqual(put(domain(3, 'a.test')), [['d:a.test', 3]]);
  assert.deepEqual(put(null, 3), [['d:a.test', 2]]);
  assert.deepEqual(put(null, 2), [['d:a.test', 1]]);
  assert.deepEqual(put(null, 1), [['d:a.test', null]]);
});

test('names of origins: who uses them, and when nobody does', () => {
  const { state, note, put, addresses } = world();
  note('cfg.1.zone.1', zone(['192.0.2.0/24', '2001:db8::/32']));
  const upstream = {
    address: 'origin.test',
    port: 80,
    weight: 1,
    backup: false,
    protocol: 'http' as const,
    maxFails: 1,
    failTimeout: 1,
  };
  put(domain(1, 'a.test', { upstreams: [upstream] }));
  put(domain(2, 'b.test', { upstreams: [upstream, { ...upstream, address: '192.0.2.1' }] }));
  assert.deepEqual([...state.names()], ['origin.test']);
  addresses['origin.test'] = ['192.0.2.9', '2001:db8::9'];
  assert.deepEqual(state.keysWithNames(['origin.test', 'other.test']), ['d:a.test', 'd:b.test']);
  const [record] = state.records(['d:b.test']);
  assert.deepEqual(
    JSON.parse(record!.value!).upstreams.map((one: { address: string }) => one.address),
    ['192.0.2.9', '2001:db8::9', '192.0.2.1'],
  );
  assert.deepEqual(note('cfg.1.domain.1', null).unused, []);
  assert.deepEqual(note('cfg.1.domain.2', domain(2, 'b.test')).unused, ['origin.test']);
});

test('origins are judged by the zone: strictly before it is known, anew when it changes, and by the zone that is held', () => {
  const { state, note, put } = world();
  const upstream = { port: 80, weight: 1, backup: false, protocol: 'http' as const, maxFails: 1, failTimeout: 1 };
  put(domain(1, 'a.test', { upstreams: ['10.0.0.1', '127.0.0.1', '8.8.8.8'].map(address => ({ ...upstream, address })) }));
  const held = () =>
    JSON.parse([...state.records(['d:a.test'])][0]!.value!)
      .upstreams.map((one: { address: string }) => one.address)
      .join();
  assert.equal(held(), '8.8.8.8');
  assert.deepEqual(
    state.refusedOrigins(9).map(one => `${one.host} ${one.address} ${one.kind}`),
    ['a.test 10.0.0.1 private', 'a.test 127.0.0.1 loopback'],
  );
  assert.ok(note('cfg.1.zone.1', zone(['10.0.0.0/8'])).keys.includes('d:a.test'), 'its record is to be made again');
  assert.equal(held(), '10.0.0.1,8.8.8.8');
  assert.ok(!note('cfg.1.zone.1', zone(['10.0.0.0/8'])).keys.includes('d:a.test'), 'nothing changed for it');
  // moved: the new zone's document comes before the old one goes
  note('cfg.2.zone.2', zone(['127.0.0.0/8']));
  note('cfg.1.zone.1', null);
  assert.equal(held(), '127.0.0.1,8.8.8.8');
  // a document older than the policy
  note('cfg.2.zone.2', { v: 1, rev: 2, id: 2 });
  assert.equal(held(), '8.8.8.8');
  put(null, 1);
  assert.deepEqual([...state.records(['d:a.test'])], [{ key: 'd:a.test', value: null }]);
  assert.deepEqual(state.refusedOrigins(9), []);
});

test('this node is no origin of its own, in no form; what the installation’s word garbles stops nothing', () => {
  const { state, note, put } = world({ addresses: ['8.8.8.8', '2606:4700::1'], ports: [80] });
  const upstream = { port: 443, weight: 1, backup: false, protocol: 'https' as const, maxFails: 1, failTimeout: 1 };
  const document = zone([]);
  note('cfg.1.zone.1', { ...document, origins: { ...document.origins!, own: ['eth0', '9.9.9.9'] } });
  const addresses = ['8.8.8.8', '64:ff9b::808:808', '2002:808:808::1', '2606:4700::1', '9.9.9.9', '8.8.4.4'];
  put(domain(1, 'a.test', { upstreams: addresses.map(address => ({ ...upstream, address })) }));
  const [record] = state.records(['d:a.test']);
  assert.deepEqual(
    JSON.parse(record!.value!).upstreams.map((one: { address: string }) => one.address),
    ['8.8.4.4'],
  );
  assert.deepEqual(
    state.refusedOrigins(9).map(one => `${one.address} ${one.kind}`),
    addresses.slice(0, 5).map(address => `${address} installation`),
  );
});

test('documents are read as the contract has them, or refused with a reason', () => {
  const good = domain(7, 'a.test');
  assert.equal(readDocument('cfg.1.domain.7', JSON.stringify(good)).document.id, 7);
  const refused = (subject: string, body: string, why: RegExp) => assert.throws(() => readDocument(subject, body), why);
  refused('cfg.1.domain.7', '{', /not JSON/);
  refused('cfg.1.domain.8', JSON.stringify(good), /id 7/);
  refused('cfg.1.domain.7', JSON.stringify({ ...good, v: 2 }), /^Error: v:/);
  refused('cfg.1.domain.7', JSON.stringify({ ...good, upstreams: [{ address: 'x' }] }), /upstreams\.0/);
  refused('cfg.1.domain.7', JSON.stringify({ ...good, host: 'two words' }), /^Error: host/);
  refused('other', '{}', /unknown subject/);
  refused('cfg.1.futures.7', JSON.stringify(good), /knows no documents of the kind futures/);
  const ips = Array.from({ length: 300_000 }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  const site = {
    v: 1,
    rev: 1,
    id: 1,
    state: 'normal',
    expires: 0,
    gen: 1,
    purges: [],
    cacheRules: [],
    whitelists: [],
    userAgents: [],
  };
  refused('cfg.1.site.1', JSON.stringify({ ...site, blacklists: [{ id: 1, ips, block: 'deny' }] }), /bytes/);
});

test('of a document that says all the contract has the text is enough for its record, of another the schema is asked again', () => {
  const { state, put } = world();
  const whole = domain(7, 'a.test');
  const read = (document: object) => readDocument('cfg.1.domain.7', JSON.stringify(document));
  assert.deepEqual([read(whole).isAsSaid, read(whole).unknown], [true, 0]);
  const newer = { ...whole, ofTomorrow: 1 };
  assert.deepEqual([read(newer).isAsSaid, read(newer).unknown], [false, 1]);
  put(newer);
  state.note('cfg.1.domain.7', claimOf('cfg.1.domain.7', read(newer).document, read(newer).isAsSaid));
  assert.doesNotMatch([...state.records(['d:a.test'])][0]!.value!, /ofTomorrow/);
});

test('a document too short to be measured has no record that nginx refuses', () => {
  const upstreams = [];
  const document = (list: unknown[]) => JSON.stringify({ ...domain(7, 'a.test'), upstreams: list });
  const one = { address: 'a', port: 1, weight: 1, backup: false, protocol: 'http', maxFails: 1, failTimeout: 1 };
  while (document([...upstreams, one]).length <= 4096) upstreams.push(one);
  const read = readDocument('cfg.1.domain.7', document(upstreams)).document;
  const sixteen = Array.from({ length: 16 }, (_, i) => `${i}.255.255.255`);
  const bytes = frame(
    recordsOf(
      'domain',
      read,
      () => sixteen,
      () => ({ allowed: true }),
    ),
  ).length;
  assert.ok(bytes < recordBytesMax / 10, `${bytes}`);
});

test('sites of one customer are one party; of a document that does not say whose it is, the site is', () => {
  const { put, state } = world();
  const upstreams: DomainDocument['upstreams'] = [
    { address: 'origin.test', port: 80, weight: 1, backup: false, protocol: 'http', maxFails: 1, failTimeout: 10 },
  ];
  put(domain(1, 'a.test', { site: 1, owner: 5, upstreams }));
  put(domain(2, 'b.test', { site: 2, owner: 5, upstreams }));
  put(domain(3, 'c.test', { site: 5, upstreams }));
  assert.deepEqual([...new Set(state.partiesWithName('origin.test'))].sort(), ['owner 5', 'site 5']);
});
