/** DNS providers by their APIs: signatures as the providers publish them, and records put, found and taken away on fakes that check them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { Aliyun, aliyunSignature } from '#server/domain/dns/aliyun.ts';
import { Cloudflare } from '#server/domain/dns/cloudflare.ts';
import { DnsPod } from '#server/domain/dns/dnspod.ts';
import { type DnsDriver, DnsProblem } from '#server/domain/dns/driver.ts';
import type { Api } from '#server/domain/dns/http.ts';
import { SiteNames } from '#server/domain/dns/records.ts';
import { awsSignature, Route53 } from '#server/domain/dns/route53.ts';
import { outbound, OutboundError } from '#server/kit/outbound.ts';
import { freePort } from '#server/store/engine-process.ts';
import { type Fake, keyID, secret, startFake } from './dns-fakes.ts';

const policy = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8'], own: [] });
const drivers = {
  cloudflare: (api: Api, right = secret) => new SiteNames(new Cloudflare(api, right)),
  dnspod: (api: Api, right = secret) => new SiteNames(new DnsPod(api, keyID, right)),
  route53: (api: Api, right = secret) => new SiteNames(new Route53(api, keyID, right)),
  aliyun: (api: Api, right = secret) => new SiteNames(new Aliyun(api, keyID, right)),
} as const;
const apiAt = (base: string): Api => ({
  base,
  fetch: (url, request) => outbound(url, { ...request, policy }),
  now: () => Date.now(),
});
const isTrouble =
  (trouble: string, words = /./) =>
  (error: unknown) =>
    error instanceof DnsProblem && error.trouble === trouble && words.test(error.message);

describe('signatures', () => {
  // AWS General Reference, Signature Version 4: the request of ListUsers, and "get-vanilla" of the test suite
  test('Version 4 of AWS is as published', () => {
    const key = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
    const stamp = '20150830T123600Z';
    const users = awsSignature(
      {
        method: 'GET',
        path: '/',
        query: { Version: '2010-05-08', Action: 'ListUsers' },
        headers: {
          'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
          host: 'iam.amazonaws.com',
          'x-amz-date': stamp,
        },
        body: '',
      },
      key,
      { region: 'us-east-1', service: 'iam', stamp },
    );
    assert.match(users, /Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7$/);
    const vanilla = awsSignature(
      { method: 'GET', path: '/', query: {}, headers: { host: 'example.amazonaws.com', 'x-amz-date': stamp }, body: '' },
      key,
      { region: 'us-east-1', service: 'service', stamp },
    );
    assert.equal(
      vanilla,
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    );
  });

  // Alibaba Cloud, "Request syntax and signature method V3": the fixed example of RunInstances
  test('V3 of Alibaba Cloud is as published', () => {
    const signature = aliyunSignature(
      'POST',
      { RegionId: 'cn-shanghai', ImageId: 'win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd' },
      {
        host: 'ecs.cn-shanghai.aliyuncs.com',
        'x-acs-action': 'RunInstances',
        'x-acs-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        'x-acs-date': '2023-10-26T10:22:32Z',
        'x-acs-signature-nonce': '3156853299f313e23d1673dc12e1703d',
        'x-acs-version': '2014-05-26',
      },
      { id: 'YourAccessKeyId', secret: 'YourAccessKeySecret' },
    );
    assert.match(signature, /Signature=06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0$/);
  });
});

for (const [provider, make] of Object.entries(drivers) as [keyof typeof drivers, (typeof drivers)['cloudflare']][])
  describe(provider, () => {
    let fake: Fake;
    let driver: DnsDriver;
    before(async () => {
      fake = await startFake(provider);
      driver = make(apiAt(fake.base));
    });
    after(() => fake?.stop());
    const name = '_acme-challenge.deep.one.test';
    const values = () =>
      fake.records
        .filter(one => one.name === name)
        .map(one => one.value)
        .toSorted();

    test('zones of all pages are found, the deepest for each name; private ones are none', async () => {
      const names = ['one.test', 'a.one.test', name, 'x.deeper.deep.one.test', 'one.test.other.test'];
      const found = await driver.zones(names);
      assert.deepEqual(
        names.map(one => found.get(one)?.name),
        ['one.test', 'one.test', 'deep.one.test', 'deep.one.test', undefined],
      );
    });

    test('a text is there once, beside another order’s; taking it away leaves that one; twice is as once', async () => {
      const zone = (await driver.zones([name])).get(name)!;
      await driver.put(zone, name, 'v-1');
      await driver.put(zone, name, 'v-2');
      await driver.put(zone, name, 'v-1');
      assert.deepEqual(values(), ['v-1', 'v-2']);
      assert.ok(fake.records.every(one => one.zone === 'deep.one.test'));
      await driver.take(zone, name, 'v-1');
      await driver.take(zone, name, 'v-1');
      assert.deepEqual(values(), ['v-2']);
      await driver.take(zone, name, 'v-2');
      assert.deepEqual(values(), []);
    });

    test('wrong credentials, a limit, a fault and what is nothing of the kind are told apart', async () => {
      await assert.rejects(make(apiAt(fake.base), 'wrong').zones([name]), isTrouble('credentials', /./));
      fake.always = { status: 429, headers: { 'retry-after': '17' }, body: provider === 'route53' ? '' : {} };
      await assert.rejects(driver.zones([name]), (error: DnsProblem) => isTrouble('limited')(error) && error.retrySeconds === 17);
      fake.always = { status: 502, body: '<html>\nBad gateway' };
      await assert.rejects(driver.zones([name]), isTrouble('away', /502/));
      fake.always = undefined;
      const silent = `http://127.0.0.1:${await freePort(12_000, 19_999)}`;
      await assert.rejects(make(apiAt(silent)).zones([name]), OutboundError);
    });
  });

test('Route 53: a set that another changes meanwhile is read anew, and both texts are there', async () => {
  const fake = await startFake('route53');
  const driver = drivers.route53(apiAt(fake.base));
  const name = '_acme-challenge.one.test';
  const zone = (await driver.zones([name])).get(name)!;
  let changes = 0;
  // just before the first change arrives, somebody else’s does
  fake.before = ({ method, records }) => {
    if (method === 'POST' && ++changes === 1)
      records.push({ id: 'x', zone: 'one.test', name, type: 'TXT', ttl: 60, value: 'theirs' });
  };
  await driver.put(zone, name, 'ours');
  assert.deepEqual(fake.records.map(one => one.value).toSorted(), ['ours', 'theirs']);
  assert.equal(changes, 2);
  fake.stop();
});

test('a limit that a provider tells in its own words is one', async () => {
  const [dnspod, route53, aliyun] = await Promise.all([startFake('dnspod'), startFake('route53'), startFake('aliyun')]);
  dnspod.always = { body: { status: { code: '-2', message: 'API usage is limited' } } };
  await assert.rejects(drivers.dnspod(apiAt(dnspod.base)).zones(['one.test']), isTrouble('limited', /usage is limited/));
  route53.always = {
    status: 400,
    body: '<ErrorResponse><Error><Code>Throttling</Code><Message>Rate exceeded</Message></Error></ErrorResponse>',
  };
  await assert.rejects(drivers.route53(apiAt(route53.base)).zones(['one.test']), isTrouble('limited', /Rate exceeded/));
  aliyun.always = { status: 400, body: { Code: 'Throttling.User', Message: 'Request was denied due to user flow control.' } };
  await assert.rejects(drivers.aliyun(apiAt(aliyun.base)).zones(['one.test']), isTrouble('limited', /flow control/));
  for (const one of [dnspod, route53, aliyun]) one.stop();
});
