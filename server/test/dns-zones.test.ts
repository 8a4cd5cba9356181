/** Which zone of an account at a DNS provider is written into, and how Route 53 tells what stands in one. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { recordApiOf } from '#server/domain/dns/accounts.ts';
import { DnsProblem, type Zone } from '#server/domain/dns/driver.ts';
import { saidText } from '#server/domain/dns/said.ts';
import { type RecordApi, SiteNames } from '#server/domain/dns/records.ts';
import { AccountStore } from '#server/resolution/account.ts';
import { ForeignDriver } from '#server/resolution/foreign.ts';
import { type Fake, type FakeProvider, keyID, secret, startFake } from './dns-fakes.ts';

const policy = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8'], own: [] });
const apiOf = (fake: Fake, provider: FakeProvider) =>
  recordApiOf({ dns: { resolvers: [], apis: { [provider]: fake.base } } }, provider, policy, keyID, secret);
const driverOf = (api: RecordApi) => new ForeignDriver(new AccountStore(api), { minTTL: api.minTTL, namesMost: 2000 });
const cdn = { id: 1, name: 'cdn.one.test', nameServers: [] };
const isTrouble =
  (trouble: string, words = /./) =>
  (error: unknown) =>
    error instanceof DnsProblem && error.trouble === trouble && words.test(error.message);

describe('cloudflare', () => {
  let fake: Fake;
  before(async () => {
    fake = await startFake('cloudflare');
  });
  after(() => fake?.stop());
  beforeEach(() => {
    fake.records.length = 0;
    fake.next.length = 0;
  });
  type Told = { id: string; name: string; status?: string; type?: string };
  /** What it says to the next question for its zones. */
  const has = (...zones: Told[]) =>
    fake.next.push({
      body: {
        success: true,
        errors: [],
        result: zones.map(one => ({ status: 'active', type: 'full', name_servers: ['a.ns.test', 'b.ns.test'], ...one })),
        result_info: { page: 1, total_pages: 1, total_count: zones.length },
      },
    });
  const named = { label: 'k0', groupID: 7 };

  test('a zone that is not active answers nobody: it is not written into, and what to do is said', async () => {
    for (const status of ['pending', 'initializing', 'moved', 'deactivated', 'deleted']) {
      has({ id: 'Zone1', name: 'one.test', status });
      const isTold = isTrouble('refused', new RegExp(`one\\.test.*${status}.*a\\.ns\\.test, b\\.ns\\.test`));
      await assert.rejects(driverOf(apiOf(fake, 'cloudflare')).applyNames(cdn, [named]), isTold);
      has({ id: 'Zone1', name: 'one.test', status });
      const zones = await new SiteNames(apiOf(fake, 'cloudflare')).zones(['www.one.test', 'two.test']);
      assert.match(saidText(zones.get('www.one.test')!.off, 'zh_TW'), new RegExp(`尚未啟用（${status}）`));
      assert.equal(zones.size, 1);
      has({ id: 'Zone1', name: 'one.test', status });
      const { failed } = await driverOf(apiOf(fake, 'cloudflare')).prepare([cdn], [cdn]);
      assert.match(String(failed.get(1)), new RegExp(status));
    }
    for (const type of ['partial', 'secondary', 'internal']) {
      has({ id: 'Zone1', name: 'one.test', type });
      await assert.rejects(driverOf(apiOf(fake, 'cloudflare')).test([cdn]), isTrouble('refused', new RegExp(type)));
    }
    assert.deepEqual(fake.records, []);
  });

  test('of two of one name the active one is meant, whichever comes first; of two active ones none', async () => {
    const [old, now] = [
      { id: 'Zone2', name: 'one.test', status: 'moved' },
      { id: 'Zone1', name: 'one.test' },
    ];
    for (const zones of [
      [old, now],
      [now, old],
    ]) {
      has(...zones);
      assert.deepEqual(
        await new SiteNames(apiOf(fake, 'cloudflare')).zones(['one.test']),
        new Map([['one.test', { id: 'Zone1', name: 'one.test' }]]),
      );
    }
    // one that is not delegated hides nothing of the zone above it
    has(
      { id: 'Zone2', name: 'l.cdn.one.test', status: 'pending' },
      { id: 'Zone3', name: 'cdn.one.test', status: 'pending' },
      now,
    );
    await driverOf(apiOf(fake, 'cloudflare')).applyNames(cdn, [named]);
    assert.equal(fake.records[0]!.zone, 'one.test');
    has(now, { id: 'Zone2', name: 'one.test' });
    await assert.rejects(driverOf(apiOf(fake, 'cloudflare')).test([cdn]), isTrouble('refused', /one\.test twice/));
  });

  test('a zone that was taken away and made anew is found', async () => {
    const driver = driverOf(apiOf(fake, 'cloudflare'));
    has({ id: 'Gone1', name: 'one.test' });
    await assert.rejects(driver.applyNames(cdn, [named]), isTrouble('refused'));
    await driver.applyNames(cdn, [named]);
    assert.equal(fake.records.length, 1);
  });
});

describe('dnspod', () => {
  let fake: Fake;
  before(async () => {
    fake = await startFake('dnspod');
  });
  after(() => fake?.stop());

  test('a domain that is paused or banned answers nobody; one that is locked does', async () => {
    const has = (status: string) =>
      fake.next.push({
        body: {
          status: { code: '1', message: 'ok' },
          info: { domain_total: '1' },
          domains: [{ id: 1, name: 'one.test', status }],
        },
      });
    for (const [status, words] of [
      ['pause', /paused/],
      ['spam', /banned/],
    ] as const) {
      has(status);
      await assert.rejects(driverOf(apiOf(fake, 'dnspod')).test([cdn]), isTrouble('refused', words));
    }
    has('lock');
    assert.deepEqual([...(await driverOf(apiOf(fake, 'dnspod')).test([cdn]))], [1]);
  });

  test('lines are told apart by their ids, whatever they are called; a weight makes one as good as a line', async () => {
    const api = apiOf(fake, 'dnspod');
    const zone = { id: '1', name: 'one.test' };
    const write = (more: object) =>
      fake.records.push({
        id: String(1 + fake.records.length),
        zone: 'one.test',
        name: 'a.one.test',
        type: 'A',
        value: '192.0.2.1',
        ttl: 600,
        ...more,
      });
    const others = async () => (await api.list(zone)).map(one => one.isOther);
    write({});
    write({ line: '10=1' });
    write({ line: '7=0' });
    write({ line: '80=0' });
    write({ weight: 0 });
    write({ weight: 30 });
    write({ isOff: true });
    assert.deepEqual(await others(), [false, true, true, true, false, true, true]);
    // what it does not say is not taken for everybody's
    const bare = { id: '1', name: 'a', type: 'A', value: '192.0.2.1', ttl: '600', line: '默认', enabled: '1' };
    fake.next.push({ body: { status: { code: '1', message: 'ok' }, info: { record_total: '1' }, records: [bare] } });
    await assert.rejects(api.list(zone), isTrouble('away'));
    for (const line_id of ['0', 0]) {
      fake.next.push({
        body: {
          status: { code: '1', message: 'ok' },
          info: { record_total: 1 },
          records: [{ ...bare, line: 'Default', line_id }],
        },
      });
      assert.deepEqual(await others(), [false]);
    }
  });
});

describe('route53', () => {
  let fake: Fake;
  let api: RecordApi;
  const one: Zone = { id: 'Z1', name: 'one.test' };
  before(async () => {
    fake = await startFake('route53');
  });
  after(() => fake?.stop());
  beforeEach(() => {
    fake.records.length = 0;
    fake.next.length = 0;
    fake.pageMost = 3000;
    api = apiOf(fake, 'route53');
  });
  const write = (name: string, type: string, value: string, more: object = {}) =>
    fake.records.push({ id: String(1 + fake.records.length), zone: 'one.test', name, type, value, ttl: 60, ...more });
  const zonesSaid = (...zones: [id: string, name: string][]) =>
    fake.next.push({
      body: `<ListHostedZonesResponse><HostedZones>${zones
        .map(
          ([id, name]) =>
            `<HostedZone><Id>/hostedzone/${id}</Id><Name>${name}.</Name><Config><PrivateZone>false</PrivateZone></Config></HostedZone>`,
        )
        .join('')}</HostedZones><IsTruncated>false</IsTruncated></ListHostedZonesResponse>`,
    });

  test('two public zones of one name: nobody writes into whichever came last, neither a site nor an operator', async () => {
    const twice = () => zonesSaid(['Z1', 'one.test'], ['Z2', 'one.test'], ['Z3', 'two.test']);
    const site = new SiteNames(api);
    twice();
    // what is wrong with one name keeps no other from its zone
    const zones = await site.zones(['_acme-challenge.one.test', 'www.two.test']);
    assert.match(saidText(zones.get('_acme-challenge.one.test')!.off, 'en_US'), /one\.test twice.*not delegated/);
    assert.deepEqual(zones.get('www.two.test'), { id: 'Z3', name: 'two.test' });
    twice();
    await assert.rejects(driverOf(api).applyNames(cdn, [{ label: 'k0', groupID: 7 }]), isTrouble('refused', /twice/));
  });

  test('a list that is cut in the midst of a name goes on there', async () => {
    fake.pageMost = 1;
    for (const set of ['a', 'b', 'c']) write('k.one.test', 'A', '192.0.2.1', { set });
    write('k.one.test', 'AAAA', '2001:db8::1');
    write('k.one.test', 'TXT', 'a text');
    write('m.one.test', 'A', '192.0.2.9');
    const told = (all: Awaited<ReturnType<RecordApi['list']>>) => all.map(({ name, type }) => `${name} ${type}`);
    const ofName = [...Array<string>(3).fill('k.one.test A'), 'k.one.test AAAA', 'k.one.test TXT'];
    assert.deepEqual(told(await api.list(one, 'k.one.test')), ofName);
    assert.deepEqual(told(await api.list(one)), [...ofName, 'm.one.test A']);
  });

  test('a list that goes on where it began ends', async () => {
    const page = `<ListResourceRecordSetsResponse><ResourceRecordSets></ResourceRecordSets><IsTruncated>true</IsTruncated><NextRecordName>k.one.test.</NextRecordName><NextRecordType>A</NextRecordType></ListResourceRecordSetsResponse>`;
    fake.always = { body: page };
    const { asked } = fake;
    await assert.rejects(api.list(one), isTrouble('away', /goes on/));
    fake.always = {
      body: '<ListHostedZonesResponse><HostedZones></HostedZones><IsTruncated>true</IsTruncated><NextMarker>Z1</NextMarker></ListHostedZonesResponse>',
    };
    await assert.rejects(api.allZones(), isTrouble('away'));
    assert.ok(fake.asked - asked <= 4, String(fake.asked - asked));
    fake.always = undefined;
  });

  test('a set without a name, a time or a value is none, and neither is its list', async () => {
    const good =
      '<Name>k.one.test.</Name><Type>A</Type><TTL>60</TTL><ResourceRecords><ResourceRecord><Value>192.0.2.1</Value></ResourceRecord></ResourceRecords>';
    const list = (set: string) => ({
      body: `<ListResourceRecordSetsResponse><ResourceRecordSets><ResourceRecordSet>${set}</ResourceRecordSet></ResourceRecordSets><IsTruncated>false</IsTruncated></ListResourceRecordSetsResponse>`,
    });
    fake.next.push(list(good));
    assert.equal((await api.list(one)).length, 1);
    for (const gone of [/<Name>.*<\/Name>/, /<Type>.*<\/Type>/, /<TTL>.*<\/TTL>/, /<ResourceRecords>.*<\/ResourceRecords>/]) {
      fake.next.push(list(good.replace(gone, '')));
      await assert.rejects(api.list(one), isTrouble('away'), String(gone));
    }
    // an alias has neither times nor values
    fake.next.push(list('<Name>k.one.test.</Name><Type>A</Type><AliasTarget><DNSName>x.test.</DNSName></AliasTarget>'));
    assert.deepEqual(
      (await api.list(one)).map(({ isOther }) => isOther),
      [true],
    );
  });

  test('a wildcard is told as people write it; a long text as one, and is left as its owner wrote it', async () => {
    write('\\052.one.test', 'CNAME', 'elsewhere.test');
    assert.deepEqual(
      (await api.list(one)).map(({ name }) => name),
      ['*.one.test'],
    );
    fake.records.length = 0;
    const [first, second] = ['a'.repeat(255), 'b'.repeat(100)];
    const name = '_acme-challenge.one.test';
    write(name, 'TXT', `${first}" "${second}`);
    assert.equal((await api.list(one, name))[0]!.value, first + second);
    await new SiteNames(api).put(one, name, 'ours');
    assert.deepEqual(fake.records.map(({ value }) => value).toSorted(), [`${first}" "${second}`, 'ours']);
    await new SiteNames(api).take(one, name, 'ours');
    assert.deepEqual(
      fake.records.map(({ value }) => value),
      [`${first}" "${second}`],
    );
  });

  test('a set of weight 0, and one beside it, is a part of a policy: a site leaves it, and says so', async () => {
    const name = '_acme-challenge.one.test';
    write(name, 'TXT', 'theirs', { set: 'none of them' });
    await assert.rejects(new SiteNames(api).put(one, name, 'ours'), isTrouble('refused', /routing policy/));
    assert.equal(fake.records.length, 1);
  });

  test('a change that is pending is one; what is not said to be made is not', async () => {
    const site = new SiteNames(api);
    for (const [status, isMade] of [
      ['PENDING', true],
      ['INSYNC', true],
      ['', false],
      ['FAILED', false],
    ] as const) {
      fake.before = asked => {
        if (asked.method === 'POST')
          fake.next.push({
            body: `<ChangeResourceRecordSetsResponse><ChangeInfo><Status>${status}</Status></ChangeInfo></ChangeResourceRecordSetsResponse>`,
          });
      };
      const act = site.put(one, '_acme-challenge.one.test', 'ours');
      await (isMade ? act : assert.rejects(act, isTrouble('away', /does not say/)));
    }
    fake.before = undefined;
  });
});
