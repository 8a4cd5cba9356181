/** What a customer types at its DNS provider. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordAsked, registrarOf, registrars, servedBy } from '../src/domain/registrars.ts';

const cname = '0123456789ab.cdn.example.net';

test('the host is what stands before the registered domain, whatever its suffix', () => {
  const hosts = [
    ['www.example.com', 'www', 'example.com'],
    ['shop.www.example.com', 'shop.www', 'example.com'],
    ['www.example.com.tw', 'www', 'example.com.tw'],
    ['*.example.co.uk', '*', 'example.co.uk'],
    ['www.xn--fiqs8s.xn--kpry57d', 'www', 'xn--fiqs8s.xn--kpry57d'],
    ['someone.github.io', 'someone', 'github.io'],
  ] as const;
  for (const [name, host, zone] of hosts) {
    const asked = recordAsked('other', name, cname);
    assert.deepEqual([asked.host, asked.zone, asked.type, asked.isTop], [host, zone, 'CNAME', false], name);
  }
});

test('the top of a zone has no plain CNAME: each provider has its own way', () => {
  for (const name of ['example.com', 'example.com.tw']) {
    const of = (one: (typeof registrars)[number]) => recordAsked(one, name, cname);
    assert.deepEqual([of('cloudflare').host, of('cloudflare').type, of('cloudflare').isTop], ['@', 'CNAME', true]);
    assert.equal(of('namecheap').type, 'ALIAS');
    assert.equal(of('godaddy').type, null);
    assert.equal(of('other').top, 'unknown');
  }
});

test('where a target needs a dot at its end it is copied with one', () => {
  assert.deepEqual(
    registrars.filter(one => recordAsked(one, 'www.example.com', cname).target === `${cname}.`),
    ['gandi'],
  );
  assert.ok(registrars.every(one => recordAsked(one, 'www.example.com', cname).target.startsWith(cname)));
});

test('what a browser kept of another release is no provider', () => {
  assert.deepEqual([registrarOf('gandi'), registrarOf('gone'), registrarOf(null)], ['gandi', 'other', 'other']);
});

test('who serves the zone is known by all of its name servers, and nobody is taken for another', () => {
  assert.equal(servedBy(['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com']), 'cloudflare');
  assert.equal(servedBy(['ns-1.awsdns-01.co.uk', 'ns-2.awsdns-12.com']), 'route53');
  assert.equal(servedBy(['ns1.alidns.com', 'ns2.alidns.com']), 'aliyun');
  for (const names of [
    [],
    ['ada.ns.cloudflare.com', 'ns1.example.net'],
    ['ns1.evilgandi.net'],
    ['ns.cloudflare.com.example.net'],
  ])
    assert.equal(servedBy(names), undefined, names.join());
});
