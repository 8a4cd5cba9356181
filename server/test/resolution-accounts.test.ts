/** Accounts at public DNS providers as record stores for an operator's own names: on fakes that check what they are told as strictly as they can. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { recordApiOf } from '#server/domain/dns/accounts.ts';
import { DnsProblem } from '#server/domain/dns/driver.ts';
import { OutboundError } from '#server/kit/outbound.ts';
import { AccountStore } from '#server/resolution/account.ts';
import { ForeignDriver } from '#server/resolution/foreign.ts';
import type { Asked } from './dns-fakes/kind.ts';
import { type Fake, type FakeProvider, type FakeRecord, keyID, secret, startFake } from './dns-fakes.ts';

const policy = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8'], own: [] });
const secondsOf = { cloudflare: 60, dnspod: 600, route53: 20, aliyun: 600 } as const;
const zone = { id: 1, name: 'cdn.one.test', nameServers: [] };
const other = { id: 2, name: 'other.one.test', nameServers: [] };
const at = (groupID: number, where = zone) => `g${groupID}.l.${where.name}`;
const group = (groupID: number, version: number, a: string[], more: { aaaa?: string[]; cname?: string } = {}) => ({
  groupID,
  version,
  fallback: { a, aaaa: more.aaaa ?? [], cname: more.cname ?? null },
  lines: [],
});
const isTrouble =
  (trouble: string, words = /./) =>
  (error: unknown) =>
    error instanceof DnsProblem && error.trouble === trouble && words.test(error.message);

const isRead = ({ method, url, headers }: Pick<Asked, 'method' | 'url' | 'headers'>) =>
  method === 'GET' || url.pathname.endsWith('List') || (headers['x-acs-action'] ?? '').startsWith('Describe');

for (const provider of ['cloudflare', 'dnspod', 'route53', 'aliyun'] as const satisfies FakeProvider[])
  describe(provider, () => {
    let fake: Fake;
    let driver: ForeignDriver;
    const driverAs = (right = secret, more = {}) => {
      const api = recordApiOf({ dns: { resolvers: [], apis: { [provider]: fake.base } } }, provider, policy, keyID, right, more);
      return new ForeignDriver(new AccountStore(api), { minTTL: api.minTTL, namesMost: 2000 });
    };
    before(async () => {
      fake = await startFake(provider);
    });
    after(() => fake?.stop());
    beforeEach(() => {
      fake.records.length = 0;
      fake.next.length = 0;
      Object.assign(fake, { always: undefined, before: undefined, isReadOnly: false, pageMost: 3000 });
      driver = driverAs();
    });
    const all = (of = fake.records) => of.map(one => `${one.name} ${one.ttl} ${one.type} ${one.value}`).toSorted();
    const theirs = (name: string, type: string, value: string, more: Partial<FakeRecord> = {}): FakeRecord => {
      const one = { id: String(9_000 + fake.records.length), zone: 'one.test', name, type, value, ttl: 3600, ...more };
      fake.records.push(one);
      return one;
    };
    const names = (count: number, groupID: number | null = 7) =>
      Array.from({ length: count }, (_, i) => ({ label: `k${i}`, groupID }));

    test('names and groups are written, change, and go; what is said twice is asked for once', async () => {
      const seconds = secondsOf[provider];
      const one = group(7, 3, ['192.0.2.1', '192.0.2.2'], { aaaa: ['2001:DB8::1'] });
      await driver.applyGroups(zone, [one], [one], []);
      await driver.applyNames(zone, names(1));
      const version = provider === 'route53' ? 1 : seconds;
      const wanted = [
        `${at(7)} ${seconds} A 192.0.2.1`,
        `${at(7)} ${seconds} A 192.0.2.2`,
        `${at(7)} ${seconds} AAAA 2001:db8::1`,
        `k0.cdn.one.test ${Math.max(300, seconds)} CNAME ${at(7)}`,
        `v.${at(7)} ${version} TXT 3`,
      ];
      assert.deepEqual(all(), wanted);
      assert.equal(await driver.version(zone, 7), 3);
      const { groups, names: found } = await driver.observe(zone);
      assert.deepEqual([...found], [['k0', 7]]);
      assert.deepEqual(groups.get(7), { version: 3, fallback: driver.shown(one) });

      let changes = 0;
      fake.before = ({ url, method, headers }) => {
        if (!isRead({ url, method, headers })) changes++;
      };
      await driver.applyGroups(zone, [one], [one], []);
      await driver.applyNames(zone, names(1));
      assert.deepEqual([all(), changes], [wanted, 0]);

      const two = group(7, 4, ['192.0.2.3']);
      await driver.applyGroups(zone, [two], [two], []);
      assert.deepEqual(all().slice(0, 1), [`${at(7)} ${seconds} A 192.0.2.3`]);
      const elsewhere = group(7, 5, [], { cname: 'cdn.example.org' });
      await driver.applyGroups(zone, [elsewhere], [elsewhere], []);
      assert.deepEqual(all().slice(0, 1), [`${at(7)} ${seconds} CNAME cdn.example.org`]);
      await driver.applyGroups(zone, [one], [one], []);
      assert.deepEqual(all(), wanted);
      await driver.applyGroups(zone, [], [], [7]);
      await driver.applyNames(zone, names(1, null));
      await driver.applyNames(zone, names(1, null));
      assert.deepEqual(all(), []);
    });

    test('a zone of many pages is read whole; many names are written together, and go', async () => {
      await driver.applyNames(zone, names(450));
      assert.equal(fake.records.length, 450);
      fake.pageMost = 100;
      assert.equal((await driver.observe(zone)).names.size, 450);
      await driver.leave(zone);
      assert.deepEqual(all(), []);
    });

    test('a list that is cut is none; one that changes between two pages is read anew', async () => {
      await driver.applyNames(zone, names(6));
      fake.always = 'half';
      await assert.rejects(driver.observe(zone), OutboundError);
      fake.always = undefined;
      fake.pageMost = 3;
      if (provider === 'route53') {
        // where the next page begins is a name: nothing slips
        fake.next.push({ body: '<ListResourceRecordSetsResponse><ResourceRecordSets>' });
        await assert.rejects(driver.observe(zone), isTrouble('away', /a part/));
        return;
      }
      let pages = 0;
      let times = 1;
      fake.before = ({ records, url, headers }) => {
        if (!/dns_records|Record\.List/.test(url.pathname) && headers['x-acs-action'] !== 'DescribeDomainRecords') return;
        // before a second page the first record goes, and the fourth would be missed
        if (++pages % 2 === 0 && times-- > 0) records.shift();
      };
      const { names: found } = await driver.observe(zone);
      assert.equal(found.size, 5);
      assert.deepEqual([...found.keys()].toSorted(), fake.records.map(one => one.name.split('.')[0]).toSorted());
      pages = 0;
      times = Infinity;
      await driver.applyNames(zone, names(20));
      fake.pageMost = 8;
      await assert.rejects(driver.observe(zone), isTrouble('away', /changed/));
    });

    test('a list in which one stands twice is read anew: the second would be taken away as one too many', async () => {
      await driver.applyNames(zone, names(6));
      fake.pageMost = 3;
      let pages = 0;
      fake.before = ({ records, url, method, headers }) => {
        if (!isRead({ url, method, headers })) return;
        if (!/dns_records|Record\.List/.test(url.pathname) && headers['x-acs-action'] !== 'DescribeDomainRecords') return;
        // before the second page the last goes, and another comes before the first: as many as before
        if (++pages !== 2) return;
        records.pop();
        records.unshift({ id: '1', zone: 'one.test', name: 'www.one.test', type: 'A', value: '198.51.100.1', ttl: 3600 });
      };
      await driver.applyNames(zone, names(6));
      assert.deepEqual(fake.records.filter(one => one.type === 'CNAME').length, 6);
    });

    test('what is not ours is left alone, in the zone, beside it and above it', async () => {
      theirs('www.cdn.one.test', 'A', '198.51.100.9');
      theirs('shop.cdn.one.test', 'CNAME', 'shop.example.org');
      theirs('cdn.one.test', 'TXT', 'v=spf1 -all');
      theirs('one.test', 'A', '198.51.100.1');
      theirs('xcdn.one.test', 'CNAME', at(7));
      theirs('l.cdn.one.test', 'TXT', 'a note');
      theirs('mail.one.test', 'MX', 'mx.one.test');
      const before = all();
      const mine = group(7, 3, ['192.0.2.1']);
      await driver.applyGroups(zone, [mine], [mine], []);
      await driver.applyNames(zone, names(6));
      const { names: found, groups } = await driver.observe(zone);
      assert.deepEqual([found.size, groups.size], [6, 1]);
      await driver.leave(zone);
      assert.deepEqual(all(), before);
    });

    test('a zone that is written otherwise is the same; one that hides names of ours is told', async () => {
      const kept = { ...fake.zones };
      try {
        fake.zones.deep = 'l.cdn.one.test';
        await assert.rejects(driver.applyNames(zone, names(1)), isTrouble('refused', /l\.cdn\.one\.test as a zone of its own/));
        fake.zones.deep = 'Bücher.one.test';
        const mine = { id: 5, name: 'xn--bcher-kva.one.test', nameServers: [] };
        assert.deepEqual([...(await driver.test([mine]))], [5]);
      } finally {
        Object.assign(fake.zones, kept);
      }
    });

    test('two operators with zones in one zone of the provider do not see each other', async () => {
      const [mine, yours] = [group(7, 3, ['192.0.2.1']), group(8, 4, ['192.0.2.8'])];
      await driver.applyGroups(zone, [mine], [mine], []);
      await driver.applyNames(zone, names(6));
      await driver.applyGroups(other, [yours], [yours], []);
      await driver.applyNames(other, names(3, 8));
      const seen = await driver.observe(zone);
      assert.deepEqual([seen.names.size, [...seen.groups.keys()]], [6, [7]]);
      await driver.leave(zone);
      assert.deepEqual(
        fake.records.filter(one => !one.name.endsWith(other.name)),
        [],
      );
      assert.deepEqual([(await driver.observe(other)).names.size, await driver.version(other, 8)], [3, 4]);
    });

    test('one that is edited by hand so that not everybody is answered it is seen, and made anew', async () => {
      const mine = group(7, 3, ['192.0.2.1']);
      await driver.applyGroups(zone, [mine], [mine], []);
      await driver.applyNames(zone, names(2));
      const edit = {
        cloudflare: { proxied: true },
        dnspod: { line: '10=1' },
        route53: { set: 'half of them' },
        aliyun: { isOff: true },
      }[provider];
      for (const one of fake.records) if (one.type !== 'TXT' && one.name !== 'k1.cdn.one.test') Object.assign(one, edit);
      const { names: found, groups } = await driver.observe(zone);
      assert.deepEqual([found.get('k0'), found.get('k1'), groups.get(7)!.version], [0, 7, undefined]);
      await driver.applyGroups(zone, [mine], [mine], []);
      await driver.applyNames(zone, names(2));
      const [key] = Object.keys(edit);
      assert.ok(fake.records.every(one => !one[key as keyof FakeRecord]));
      assert.equal(fake.records.length, 4);
      assert.equal((await driver.observe(zone)).groups.get(7)!.version, 3);
    });

    test('somebody else who changes the same name meanwhile is read anew', async () => {
      await driver.applyNames(zone, names(1, 5));
      let changes = 0;
      fake.before = ({ method, url, headers, records }) => {
        if (isRead({ url, method, headers }) || ++changes > 1) return;
        records.length = 0;
        theirs('k0.cdn.one.test', 'CNAME', 'elsewhere.example.org');
      };
      await driver.applyNames(zone, names(1));
      assert.deepEqual(
        fake.records.map(one => `${one.name} ${one.value}`),
        [`k0.cdn.one.test ${at(7)}`],
      );
      assert.ok(changes > 1);
    });

    test('what is refused of one name keeps no other from it', async () => {
      // a name that leads on stands beside nothing
      theirs(at(8), 'MX', 'mx.one.test');
      const all = [group(8, 4, [], { cname: 'cdn.example.org' }), group(7, 3, ['192.0.2.1']), group(9, 5, ['192.0.2.9'])];
      await assert.rejects(driver.applyGroups(zone, all, all, []), isTrouble('refused'));
      assert.deepEqual([await driver.version(zone, 7), await driver.version(zone, 9)], [3, 5]);
      const moved = group(7, 6, ['192.0.2.7']);
      await assert.rejects(driver.applyGroups(zone, [all[0]!, moved], all, []), isTrouble('refused'));
      assert.deepEqual((await driver.observe(zone)).groups.get(7)!.fallback.a, ['192.0.2.7']);
      theirs('k3.cdn.one.test', 'MX', 'mx.one.test');
      await assert.rejects(driver.applyNames(zone, names(6)), isTrouble('refused'));
      assert.deepEqual([...(await driver.observe(zone)).names.keys()].toSorted(), ['k0', 'k1', 'k2', 'k4', 'k5']);
      const { asked } = fake;
      for (let i = 0; i < 200; i++) theirs(`k${i}.cdn.one.test`, 'MX', 'mx.one.test');
      fake.records.splice(0, fake.records.length, ...fake.records.filter(one => one.type !== 'CNAME'));
      await assert.rejects(driver.applyNames(zone, names(200)), isTrouble('refused'));
      assert.ok(fake.asked - asked < 300, `${fake.asked - asked} questions`);
    });

    test('no name that had an answer is without one while it changes, nor when the change breaks off at any step', async () => {
      const states = [
        group(7, 3, ['192.0.2.1', '192.0.2.2'], { aaaa: ['2001:db8::1'] }),
        group(7, 4, [], { cname: 'cdn.example.org' }),
        group(7, 5, ['192.0.2.3'], { aaaa: ['2001:db8::3'] }),
        group(7, 6, ['192.0.2.4']),
        group(7, 7, [], { aaaa: ['2001:db8::4'] }),
        group(7, 8, [], { cname: 'other.example.org' }),
      ];
      const answers = () => fake.records.some(one => one.name === at(7) && one.type !== 'TXT');
      for (const [i, state] of states.entries())
        for (let step = 0; step < 12; step++) {
          fake.before = undefined;
          const before = states[i - 1] ?? state;
          await driver.applyGroups(zone, [before], [before], []);
          let left = step;
          fake.before = asked => {
            assert.ok(answers());
            if (!isRead(asked) && left-- <= 0) fake.next.push({ status: 503, body: 'away' });
          };
          await driver.applyGroups(zone, [state], [state], []).catch(() => {});
          assert.ok(answers(), `${i} after ${step}`);
          fake.next.length = 0;
        }
    });

    test('a limit is kept to until it is over, whatever asks; a short one is waited for', async () => {
      fake.next.push({ status: 429, headers: { 'retry-after': '120' }, body: provider === 'route53' ? '' : {} });
      const isLimit = (error: DnsProblem) => isTrouble('limited')(error) && error.retrySeconds! > 100;
      await assert.rejects(driver.observe(zone), isLimit);
      const { asked } = fake;
      await assert.rejects(driver.applyNames(zone, names(1)), isLimit);
      await assert.rejects(driver.test([zone]), isLimit);
      assert.equal(fake.asked, asked, 'nothing was asked');

      // longer than anybody waits: it is asked all the same
      const days = driverAs();
      fake.next.push({ status: 429, headers: { 'retry-after': '999999' }, body: provider === 'route53' ? '' : {} });
      await assert.rejects(days.observe(zone), isTrouble('limited'));
      await assert.rejects(days.observe(zone), (error: DnsProblem) => error.retrySeconds! > 800 && error.retrySeconds! <= 900);

      const patient = driverAs(secret, { patience: 2 });
      const soon = { status: 429, headers: { 'retry-after': '0' }, body: provider === 'route53' ? '' : {} };
      fake.next.push(soon, soon);
      await patient.applyNames(zone, names(1));
      assert.equal(fake.records.length, 1);
      fake.next.push(soon, soon, soon);
      await assert.rejects(patient.observe(zone), isTrouble('limited'));
    });

    test('questions come one after the other, as far apart as it likes, also of those who ask side by side', async () => {
      const paced = driverAs(secret, { gapMs: 60 });
      const times: number[] = [];
      fake.before = () => times.push(performance.now());
      await Promise.all(Array.from({ length: 5 }, () => paced.test([])));
      // whoever hears them is not always as quick
      const ms = times.at(-1)! - times[0]!;
      assert.ok(times.length >= 5 && ms > 50 * (times.length - 1), `${times.length} in ${ms} ms`);
    });

    test('a fault, silence and what is nothing of the kind are told; nothing is half believed', async () => {
      fake.always = { status: 503, body: '<html>' };
      await assert.rejects(driver.observe(zone), isTrouble('away', /503/));
      fake.always = { status: 200, body: '{"status":' };
      await assert.rejects(driver.observe(zone), isTrouble('away', /200|a part/));
      fake.always = 'silence';
      await assert.rejects(
        driverAs(secret, { timeoutMs: 200 }).observe(zone),
        (error: OutboundError) => error.problem === 'timeout',
      );
    });

    test('whether a zone is there, and takes changes, is found out by a change that changes nothing', async () => {
      theirs('www.one.test', 'A', '198.51.100.9');
      const before = all();
      const none = { id: 3, name: 'cdn.two.test', nameServers: [] };
      const deep = { id: 4, name: 'cdn.deep.one.test', nameServers: [] };
      assert.deepEqual([...(await driver.test([zone, none, deep]))], [1, 4]);
      assert.deepEqual(await driver.test([]), new Set());
      assert.deepEqual(all(), before);
      const { failed } = await driver.prepare([zone, none], [zone, none]);
      assert.deepEqual([...failed.keys()], [3]);
      await assert.rejects(driver.applyNames(none, names(1)), isTrouble('refused', /no zone/));
      await assert.rejects(driverAs('wrong').test([]), isTrouble('credentials'));
      fake.isReadOnly = true;
      await assert.rejects(driver.test([zone]), isTrouble('credentials'));
      // what is in the deeper zone is written there
      fake.isReadOnly = false;
      await driver.applyNames(deep, names(1));
      assert.deepEqual(
        fake.records.map(one => one.zone),
        ['one.test', 'deep.one.test'],
      );
    });
  });
