/** What is believed of a DNS provider, and what is not: answers that are none of its API, lists that end early, limits, changes that nobody told of. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { recordApiOf } from '#server/domain/dns/accounts.ts';
import { DnsProblem } from '#server/domain/dns/driver.ts';
import type { OutboundError } from '#server/kit/outbound.ts';
import { AccountStore } from '#server/resolution/account.ts';
import { PartRefused } from '#server/resolution/apart.ts';
import { ForeignDriver } from '#server/resolution/foreign.ts';
import { PowerDns } from '#server/resolution/powerdns.ts';
import type { Answer, Asked } from './dns-fakes/kind.ts';
import { type Fake, type FakeProvider, keyID, secret, startFake } from './dns-fakes.ts';

const policy = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8'], own: [] });
const zone = { id: 1, name: 'cdn.one.test', nameServers: [] };
const at = (groupID: number) => `g${groupID}.l.${zone.name}`;
const group = (groupID: number, version: number, a: string[], cname: string | null = null) => ({
  groupID,
  version,
  fallback: { a, aaaa: [], cname },
  lines: [],
});
const names = (count: number) => Array.from({ length: count }, (_, i) => ({ label: `k${i}`, groupID: 7 }));
const isTrouble =
  (trouble: string, words = /./) =>
  (error: unknown) =>
    error instanceof DnsProblem && error.trouble === trouble && words.test(error.message);
const isRead = ({ method, url, headers }: Asked) =>
  method === 'GET' || url.pathname.endsWith('List') || (headers['x-acs-action'] ?? '').startsWith('Describe');

const portal = '<!DOCTYPE html><html><body>Please sign in to this network</body></html>';
const strangeAnswers: Answer[] = [
  ...[200, 204, 302, 400, 401, 403, 404, 500].map(status => ({ status, body: portal })),
  ...['', '{', '{}', '[]', 'null', '"ok"', '{"success":true}', '{"status":{"code":"1"}}', '{"result":"success","data":[]}'].map(
    body => ({ body }),
  ),
  { body: { status: { code: '1', message: 'ok' } } },
  { body: { success: true, errors: [], result: null } },
  { body: { success: true, errors: [], result: { deletes: [], patches: [], posts: [] } } },
  { body: { success: false, errors: [] } },
  { body: { success: true, errors: [], result: [] } },
  { body: { TotalCount: 0, RequestId: 'x' } },
  { body: '<ListResourceRecordSetsResponse></ListResourceRecordSetsResponse>' },
  { body: '<ChangeResourceRecordSetsResponse></ChangeResourceRecordSetsResponse>' },
  { status: 400, body: '<Error><Message>no</Message></Error>' },
];

/** An empty page of a list of five. */
const shortPage: Record<FakeProvider, Answer> = {
  cloudflare: { body: { success: true, errors: [], result: [], result_info: { page: 1, total_pages: 1, total_count: 5 } } },
  dnspod: {
    body: { status: { code: '1', message: 'ok' }, info: { record_total: '5', domain_total: 5 }, records: [], domains: [] },
  },
  aliyun: { body: { TotalCount: 5, DomainRecords: { Record: [] }, Domains: { Domain: [] } } },
  route53: {
    body: '<ListResourceRecordSetsResponse><ResourceRecordSets></ResourceRecordSets><IsTruncated>true</IsTruncated></ListResourceRecordSetsResponse>',
  },
};
const aws = (code: string) =>
  `<ErrorResponse><Error><Code>${code}</Code><Message>Rate exceeded</Message></Error></ErrorResponse>`;
const cloudflareSays = (status: number, code: number): Answer => ({
  status,
  body: { success: false, errors: [{ code, message: 'slow down' }], result: null },
});
const limits: Record<FakeProvider, Answer[]> = {
  cloudflare: [cloudflareSays(429, 10000), cloudflareSays(400, 971), cloudflareSays(200, 10429), { status: 429, body: portal }],
  dnspod: [{ body: { status: { code: '-2', message: 'API usage is limited' } } }, { status: 429, body: '' }],
  aliyun: [
    { status: 400, body: { Code: 'Throttling', Message: 'flow control' } },
    { status: 200, body: { Code: 'Throttling.User', Message: 'flow control' } },
    { status: 503, body: { Code: 'Throttling.Api', Message: 'flow control' } },
  ],
  route53: ['Throttling', 'ThrottlingException', 'PriorRequestNotComplete', 'TooManyRequestsException'].flatMap(code =>
    [400, 200, 503].map(status => ({ status, body: aws(code) })),
  ),
};
/** Says no in its words, and repeats what it was sent. */
const echo: Record<FakeProvider, Answer> = {
  cloudflare: { status: 400, body: { success: false, errors: [{ code: 6003, message: `Invalid header: Bearer ${secret}` }] } },
  dnspod: { body: { status: { code: '6', message: `login_token=${keyID},${secret} is not valid` } } },
  aliyun: { status: 400, body: { Code: 'InvalidParameter', Message: `key ${secret}` } },
  route53: {
    status: 400,
    body: `<ErrorResponse><Error><Code>InvalidInput</Code><Message>key ${secret}</Message></Error></ErrorResponse>`,
  },
};

for (const provider of ['cloudflare', 'dnspod', 'route53', 'aliyun'] as const)
  describe(provider, () => {
    let fake: Fake;
    let driver: ForeignDriver;
    const driverAs = (more = {}) => {
      const api = recordApiOf({ dns: { resolvers: [], apis: { [provider]: fake.base } } }, provider, policy, keyID, secret, more);
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
    const theirs = (name: string, type: string, value: string) =>
      fake.records.push({ id: String(9_000 + fake.records.length), zone: 'one.test', name, type, value, ttl: 3600 });
    const written = () => fake.records.map(one => `${one.name} ${one.type} ${one.value}`).toSorted();

    test('an answer that is none of its API is its failure: nothing is read of it, nothing made, and nobody is to blame', async () => {
      await driver.applyNames(zone, names(6));
      const wanted = written();
      for (const answer of strangeAnswers) {
        const said = JSON.stringify(answer);
        fake.always = answer;
        // where it has said no zones yet, and where it has
        await assert.rejects(driverAs().test([zone]), isTrouble('away'), said);
        await assert.rejects(driver.observe(zone), isTrouble('away'), said);
        await assert.rejects(driver.applyNames(zone, names(6)), isTrouble('away'), said);
        assert.deepEqual(written(), wanted);
      }
    });

    test('whether it takes changes is not believed of an answer that is none of its API', async () => {
      for (const answer of strangeAnswers) {
        fake.before = asked => {
          if (!isRead(asked)) fake.next.push(answer);
        };
        const isOwn = provider === 'dnspod' && JSON.stringify(answer.body).includes('"message":"ok"');
        if (!isOwn) await assert.rejects(driver.test([zone]), isTrouble('away'), JSON.stringify(answer));
      }
    });

    test('a change that is answered with nothing of its API was not made, and is not made again in halves', async () => {
      // those of its lists are no answers to a change
      for (const answer of strangeAnswers) {
        fake.before = undefined;
        await driver.applyNames(zone, names(1));
        let changes = 0;
        fake.before = asked => {
          if (!isRead(asked) && changes++ === 0) fake.next.push(answer);
        };
        const isOwn = provider === 'dnspod' && JSON.stringify(answer.body).includes('"message":"ok"');
        // a removal has no more to say there
        if (!isOwn) await assert.rejects(driver.leave(zone), isTrouble('away'), JSON.stringify(answer));
        if (!isOwn) assert.equal(changes, 1);
        changes = 0;
        await assert.rejects(driver.applyNames(zone, names(12)), isTrouble('away'), JSON.stringify(answer));
        assert.equal(changes, 1, JSON.stringify(answer));
        fake.records.length = 0;
      }
    });

    test('a list that ends before it has all that it says it has is none', async () => {
      await driver.applyNames(zone, names(5));
      fake.before = asked => {
        if (isRead(asked)) fake.next.push(shortPage[provider]);
      };
      await assert.rejects(driver.observe(zone), isTrouble('away'));
      await assert.rejects(driver.applyNames(zone, names(6)), isTrouble('away'));
      // that of its zones, too: a name would go into the zone above its own
      await assert.rejects(driverAs().test([zone]), isTrouble('away'));
      assert.equal(fake.records.length, 5);
      fake.before = undefined;
      fake.pageMost = 3;
      let pages = 0;
      fake.before = asked => {
        // each reading has its first page, and then nothing
        if (isRead(asked) && pages++ % 2 === 1) fake.next.push(shortPage[provider]);
      };
      await assert.rejects(driver.observe(zone), isTrouble('away'));
    });

    test('a limit in its own words is one, whatever the status; nothing is made smaller for it', async () => {
      await driver.applyNames(zone, names(1));
      for (const answer of limits[provider]) {
        let changes = 0;
        fake.before = asked => {
          if (!isRead(asked)) changes++;
          if (!isRead(asked)) fake.next.push(answer);
        };
        await assert.rejects(driver.applyNames(zone, names(12)), isTrouble('limited'), JSON.stringify(answer));
        assert.equal(changes, 1);
        fake.before = undefined;
        fake.next.push(answer);
        await assert.rejects(driver.observe(zone), isTrouble('limited'), JSON.stringify(answer));
      }
    });

    test('when it is down and says until when, in seconds or as a date, it is left alone until then', async () => {
      const date = new Date();
      const later = new Date(date.getTime() + 120_000);
      for (const status of [429, 503])
        for (const said of ['120', later.toUTCString()]) {
          const fresh = driverAs();
          fake.next.push({ status, headers: { 'retry-after': said, date: date.toUTCString() }, body: portal });
          const trouble = status === 429 ? 'limited' : 'away';
          const isToldWhen = (error: DnsProblem) => isTrouble(trouble)(error) && error.retrySeconds === 120;
          await assert.rejects(fresh.observe(zone), isToldWhen);
          const { asked } = fake;
          await assert.rejects(fresh.observe(zone), isTrouble('limited', /left alone/));
          assert.equal(fake.asked, asked);
        }
      // who does not say when is asked
      for (const status of [429, 503]) {
        const fresh = driverAs();
        fake.next.push({ status, body: portal });
        await assert.rejects(fresh.observe(zone), DnsProblem);
        await fresh.observe(zone);
      }
    });

    test('what was done, but not told in time, is found done: nothing stands there twice', async () => {
      const wanted = [group(7, 3, ['192.0.2.1', '192.0.2.2']), group(8, 4, [], 'cdn.example.org')];
      const slow = driverAs({ timeoutMs: 200 });
      await slow.test([zone]);
      const isLate = (error: OutboundError) => error.problem === 'timeout';
      const late = async (act: () => Promise<void>) => {
        fake.before = asked => {
          fake.always = isRead(asked) ? undefined : 'late';
        };
        // one change of each that has no transactions
        for (let left = 20; left > 0; left--) {
          const outcome = await act().then(
            () => undefined,
            (error: unknown) => error,
          );
          if (outcome === undefined) return;
          assert.ok(isLate(outcome as OutboundError), String(outcome));
        }
        assert.fail('it never ends');
      };
      await late(() => slow.applyGroups(zone, wanted, wanted, []));
      await late(() => slow.applyNames(zone, names(3)));
      assert.deepEqual(written(), [
        `${at(7)} A 192.0.2.1`,
        `${at(7)} A 192.0.2.2`,
        `${at(8)} CNAME cdn.example.org`,
        ...names(3).map(one => `${one.label}.cdn.one.test CNAME ${at(7)}`),
        `v.${at(7)} TXT 3`,
        `v.${at(8)} TXT 4`,
      ]);
      await late(() => slow.leave(zone));
      assert.deepEqual(written(), []);
    });

    test('a key that is revoked in the middle ends it at once; what is left is done with another', async () => {
      await driver.test([zone]);
      let changes = 0;
      fake.before = asked => {
        if (!isRead(asked)) asked.isReadOnly = ++changes > (provider === 'dnspod' || provider === 'aliyun' ? 3 : 0);
      };
      await assert.rejects(driver.applyNames(zone, names(30)), isTrouble('credentials'));
      assert.equal(changes, provider === 'dnspod' || provider === 'aliyun' ? 4 : 1);
      fake.before = undefined;
      await driver.applyNames(zone, names(30));
      assert.equal(fake.records.length, 30);
    });

    test('it is said which was refused, alone: a group whole, with its version, and no other', async () => {
      theirs(at(8), 'MX', 'mx.one.test');
      theirs('k3.cdn.one.test', 'A', '198.51.100.3');
      const all = [group(7, 3, ['192.0.2.1']), group(8, 4, [], 'cdn.example.org'), group(9, 5, ['192.0.2.9'])];
      const isOf =
        (...parts: (string | number)[]) =>
        (error: unknown) =>
          error instanceof PartRefused && String(error.parts) === String(parts);
      await assert.rejects(driver.applyGroups(zone, all, all, []), isOf(8));
      await assert.rejects(driver.applyNames(zone, names(6)), isOf('k3'));
      const { groups, names: found } = await driver.observe(zone);
      assert.deepEqual([[...groups.keys()].toSorted(), groups.get(9)!.version, found.size], [[7, 9], 5, 5]);
      // somebody else's of our name is his
      assert.ok(fake.records.some(one => one.type === 'A' && one.value === '198.51.100.3'));
      await driver.leave(zone);
      assert.deepEqual(written(), [`${at(8)} MX mx.one.test`, 'k3.cdn.one.test A 198.51.100.3']);
    });

    test('those that are refused do not keep others from it, though they be the first', async () => {
      for (let i = 0; i < 40; i++) theirs(`k${i}.cdn.one.test`, 'MX', 'mx.one.test');
      const isThere = () => fake.records.filter(one => one.type === 'CNAME').length === 10;
      for (let tries = 0; tries < 60 && !isThere(); tries++)
        await driver.applyNames(zone, names(50)).catch((error: unknown) => assert.ok(isTrouble('refused')(error)));
      assert.ok(isThere());
    });

    test('a list that lags behind what stands there is waited for a little', async () => {
      await driver.applyNames(zone, names(1));
      const before = structuredClone(fake.records);
      fake.records[0]!.value = at(9);
      fake.records[0]!.id = '99999';
      const until = performance.now() + 400;
      fake.before = asked => {
        if (isRead(asked) && performance.now() < until) asked.records = before;
      };
      const more = [{ label: 'k0', groupID: 8 }];
      await driver.applyNames(zone, more);
      assert.deepEqual(written(), [`k0.cdn.one.test CNAME ${at(8)}`]);
    });

    test('what it repeats of a key is not shown', async () => {
      fake.always = echo[provider];
      await assert.rejects(
        driver.test([zone]),
        (error: DnsProblem) => /…/.test(error.message) && !error.message.includes(secret),
      );
    });
  });

describe('powerdns', () => {
  let fake: Fake;
  before(async () => {
    fake = await startFake('cloudflare');
  });
  after(() => fake?.stop());
  beforeEach(() => {
    fake.next.length = 0;
    fake.always = undefined;
  });
  const store = () => new PowerDns(new URL(fake.base).origin, secret, { policy });
  const set = { name: 'k0.cdn.one.test', type: 'CNAME', ttl: 300, values: ['g7.l.cdn.one.test'] } as const;

  test('an answer that is none of its API is its failure', async () => {
    const noKey = (one: Answer) => one.status !== 401;
    for (const answer of strangeAnswers.filter(noKey)) {
      fake.always = answer;
      const said = JSON.stringify(answer);
      await assert.rejects(store().has('cdn.one.test'), isTrouble('away'), said);
      await assert.rejects(store().records('cdn.one.test'), isTrouble('away'), said);
      const { asked } = fake;
      if (answer.status !== 204) await assert.rejects(store().replace('cdn.one.test', [[set], [set]]), isTrouble('away'), said);
      assert.ok(fake.asked <= asked + 1, said);
    }
    fake.always = { status: 422, body: portal };
    const { asked } = fake;
    await assert.rejects(store().replace('cdn.one.test', [[set], [set]]), isTrouble('away'));
    assert.equal(fake.asked, asked + 1);
  });

  test('a zone is one that it calls so; what it repeats of a key is not shown', async () => {
    fake.always = { body: { name: 'two.test.', rrsets: [] } };
    await assert.rejects(store().has('one.test'), isTrouble('away', /two\.test/));
    await assert.rejects(store().records('one.test'), isTrouble('away', /two\.test/));
    fake.always = { status: 404, body: { error: 'Not Found' } };
    assert.equal(await store().has('one.test'), false);
    fake.always = { status: 400, body: { error: `x-api-key: ${secret}` } };
    await assert.rejects(store().has('one.test'), (error: Error) => /…/.test(error.message) && !error.message.includes(secret));
  });
});
