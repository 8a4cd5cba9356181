/** Documents fit where they go by construction: each kind has its bound, rows have a share that stays below, and no bound is above what carries it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod/mini';
import { chunkBytesMost, chunkHeadBytes, chunkLimits } from '#contract/edge/signed.ts';
import { balancerLimits } from '#contract/rules.ts';
import { type DocumentKind, kindNames, kinds, partKinds } from '#contract/edge/kinds/index.ts';
import { challengesPerDomain } from '#contract/edge/kinds/challenge.ts';
import { Upstream, upstreamsPerDomain } from '#contract/edge/kinds/domain.ts';
import { recordBytesMax } from '#agent/render/records.ts';
import { nodePayloadMax } from '#server/bus/credentials.ts';
import { cacheRuleTable } from '#server/cache/cache.ts';
import { table } from '#server/kit/table.ts';
import { headBytes } from '#contract/edge/kinds/kind.ts';
import { cors } from '#contract/module/cors.ts';
import { customHeader } from '#contract/module/custom-headers.ts';
import { proxyRewrite, rewriteRulesMax } from '#contract/module/proxy-rewrites.ts';
import { errorPageStatuses, portLimits, relayLimits } from '#contract/limits.ts';
import { systemErrorPagesBytesMax } from '#contract/protect/error-pages.ts';
import { systemFrequenciesMax } from '#contract/protect/system-frequencies.ts';
import { gzip } from '#contract/site/gzip.ts';
import { domainSettings, siteSettings } from '#contract/edge/settings.ts';
import { portMapDefault } from '#contract/rules/schemes.ts';
import { compile, type RowOf } from '#server/compile/compile.ts';
import { largest } from '../guards/largest.ts';
import { siteLists } from '../guards/site-lists.ts';

const bytesOf = <K extends DocumentKind>(kind: K, row: RowOf<K>) =>
  Buffer.byteLength(compile(kind, { id: 999_999_999_999, zoneID: 1, siteID: 1, revision: 2 ** 52, inherited: '', row }).body);
/** As PostgreSQL weighs a row (kit/store.ts): jsonb as text, with the columns that no document has. */
const weigh = (row: object) =>
  Buffer.byteLength(JSON.stringify({ siteID: 1, enabled: true, ...row })) + JSON.stringify(row).split(/[,:]/).length;

test('every bound is below what a message, an answer and a record carry', () => {
  for (const kind of kindNames) {
    const { bytesMax } = kinds[kind];
    assert.ok(bytesMax <= nodePayloadMax, `${kind}: a message`);
    assert.ok(bytesMax <= recordBytesMax, `${kind}: a record`);
    // as a text within a text: each quote and backslash is doubled at most
    assert.ok(2 * (chunkLimits.bytes + chunkHeadBytes + bytesMax) <= chunkBytesMost, `${kind}: an answer to a node`);
  }
  // Each address of a name becomes an origin of its own; sixteen are reckoned with.
  assert.ok(16 * Math.max(kinds.domain.bytesMax, kinds.port.bytesMax) <= recordBytesMax);
});

/** Rows of a list, none of them alike, until their share is used up; `item` is as long or as short as the contract allows. */
function fill<Row extends object>(most: number, item: (i: number) => Row): Row[] {
  const rows: Row[] = [];
  for (let weight = 0, i = 1; ; i++) {
    const row = item(i);
    weight += weigh(row);
    if (weight > most) return rows;
    rows.push(row);
  }
}

/** What is worst of each, as far as a declaration does not tell. */
const lists: { [K in Exclude<(typeof partKinds)[number], 'purges'>]?: ((i: number) => RowOf<K>[number])[] } = {
  whitelists: [
    id => ({ id, ips: ['1'], urls: [] }),
    id => ({ id, ips: Array.from({ length: 400 }, () => '1'), urls: Array.from({ length: 400 }, () => '/') }),
    id => ({ id, ips: [], urls: ['\u0001"\\'.repeat(600)] }),
  ],
  blacklists: [
    id => ({ id, ips: ['1'], blockType: 'deny' }),
    id => ({ id, ips: Array.from({ length: 9000 }, () => '::'), blockType: 'deny' }),
  ],
  userAgents: [
    id => ({ id, urlRegex: '', userAgentRegex: '', blockType: 'deny' }),
    id => ({ id, urlRegex: '"'.repeat(1024), userAgentRegex: '\\'.repeat(1024), blockType: 'drop' }),
  ],
  frequencies: [
    id => ({ id, urlRegex: '', seconds: 1, times: 1, type: 'ip', priority: 1, action: 'drop' }),
    id => ({ id, urlRegex: '"'.repeat(1024), seconds: 86_400, times: 1e6, type: 'ipUserAgent', priority: 1e5, action: 'limit' }),
  ],
  limitReqs: [
    id => ({ id, urlRegex: '', rate: 1, burst: 0, type: 'ip', priority: 1 }),
    id => ({ id, urlRegex: '\\'.repeat(1024), rate: 1e5, burst: 1e5, type: 'ipUserAgent', priority: 1e5 }),
  ],
  rates: [
    id => ({ id, type: 'site', value: '', rate: 1_000_000, priority: 1 }),
    id => ({ id, type: 'regex', value: '漢'.repeat(2048), rate: 1, priority: 1 }),
  ],
  errorPages: [
    () => ({ code: 400, type: 'content', content: 'x' }),
    () => ({ code: 929, type: 'javascript', content: '漢"'.repeat(8000) }),
  ],
  cacheRules: [
    id => ({ id, type: 'site', value: '', mode: 'followOrigin', duration: 525_600, priority: 1 }),
    id => ({ id, type: 'regex', value: '漢'.repeat(2048), mode: 'forceCache', duration: 1, priority: 1 }),
  ],
};
/** The usual and the largest row that its fields allow. */
const declared = new Map(
  siteLists.map(({ kind, row, schema }): [string, object[]] => [kind, [row(), largest(schema, row(), 50_000) as object]]),
);
for (const kind of partKinds)
  if (kind !== 'purges')
    test(`the largest rows of ${kind} that may be saved give a document`, () => {
      const { rowsBytesMax, bytesMax } = kinds[kind];
      const items = [...(lists[kind] ?? []), ...(declared.get(kind) ?? []).map(row => (id: number) => ({ id, ...row }))];
      assert.ok(items.length > 0, 'say above what its largest rows are');
      for (const item of items) {
        const rows = fill(rowsBytesMax, item as never);
        assert.ok(rows.length > 0 && bytesOf(kind, rows as never) <= bytesMax);
      }
    });

test('rows that are bounded by what they weigh are bounded in number', () => {
  const rows = { table: 'x', scope: { parent: cacheRuleTable, column: 'siteID' }, bytesMax: 1 };
  assert.throws(() => table()(rows), /x: .*most/);
  assert.equal(table()({ ...rows, most: 1 }).most, 1);
});

test('the tables keep the share of their kind', () => assert.equal(cacheRuleTable.bytesMax, kinds.cacheRules.rowsBytesMax));

test('the most purges, and five hundred of the longest, give a document that has them', () => {
  const url = (i: number) => `http://${'h'.repeat(245)}${i}.test/${'"\\'.repeat(2000)}${i}`;
  const purges = (n: number) =>
    Array.from({ length: n }, (_, i) => ({ id: i + 1, type: 2 as const, url: url(i), generation: 2 ** 52 - i }));
  const make = (n: number) => ({ cacheGeneration: 1, purges: purges(n), before: 0 });
  const head = { id: 1, zoneID: 1, siteID: 1, revision: 1, inherited: '' };
  assert.equal(compile('purges', { ...head, row: make(500) }).document.purges.length, 500);
  const many = compile('purges', { ...head, row: make(1000) });
  assert.ok(many.document.gen > 1, 'those that do not fit raise the generation');
  assert.ok(Buffer.byteLength(many.body) <= kinds.purges.bytesMax);
});

/** As much of each type as its fields have room for. */
const header = (i: number) => ({ name: `${'n'.repeat(62)}${i + 10}`, value: '"'.repeat(500) });
const twenty = Array.from({ length: 20 }, (_, i) => header(i));
const names = Array.from({ length: 50 }, (_, i) => `${'x'.repeat(62)}${i + 10}`);
const origin = `https://${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.test:65535`;
const large = [
  [
    cors,
    {
      allowOrigin: origin,
      allowMethods: ['GET'],
      allowHeaders: names,
      exposeHeaders: names,
      allowCredentials: true,
      maxAge: 86_400,
    },
  ],
  [customHeader, { request: twenty, response: twenty }],
  [
    proxyRewrite,
    {
      rules: Array.from({ length: rewriteRulesMax }, () => ({
        matchType: 'prefix',
        source: `/${'漢'.repeat(499)}`,
        target: `/${'"'.repeat(999)}`,
      })),
    },
  ],
] as const;
for (const [{ type, item }, settings] of large)
  test(`the largest module of the type ${type} has room in its document`, () => {
    assert.ok(z.safeParse(item, { name: 'm', ...settings }).success);
    assert.ok(bytesOf('module', { siteID: 1, type, settings, rows: [] }) <= kinds.module.bytesMax - headBytes);
  });

test('the most an operator may say for all sites has room in the document of a zone', () => {
  const address = (i: number) => `${'f'.repeat(55)}${i + 10_000}`;
  const addresses = (n: number) => Array.from({ length: n }, (_, i) => address(i));
  const origins = { operator: addresses(100), environment: addresses(100), own: addresses(10_000) };
  const content = '"'.repeat(systemErrorPagesBytesMax / errorPageStatuses.length / 2);
  const errorPages = errorPageStatuses.map(code => ({ code, type: 'urlRedirect' as const, content }));
  const ports = Array.from({ length: portLimits.perZoneMax }, (_, i) => ({ port: 64_000 + i, scheme: 'https' as const }));
  const frequencies = Array.from({ length: systemFrequenciesMax }, (_, id) => ({
    id: 999_999_000_000 + id,
    urlRegex: '\u0001'.repeat(1024),
    seconds: 86_400,
    times: 1e6,
    type: 'ipUserAgent' as const,
    priority: 1e5,
    action: 'limit' as const,
  }));
  const relays = Array.from({ length: relayLimits.perZoneMax }, (_, i) => ({
    id: 2 ** 40 + i,
    addresses: [`2001:4860:0000:0000:0000:0000:0000:${1000 + i}`],
    port: 65_535,
  }));
  const left = Array.from({ length: relayLimits.leftMax }, (_, i) => 2 ** 40 + i);
  const members = Array.from({ length: relayLimits.membersMax }, (_, i) => 2 ** 41 + i);
  const networks = Array.from(
    { length: balancerLimits.networksMax },
    (_, i) => `2001:0db8:0000:0000:0000:0000:0000:${1000 + i}/128`,
  );
  const balancers = { networks, httpPort: 64_999, httpsPort: 64_998 };
  const [accepted, wanted] = [
    {
      http2: { enable: true },
      http3: { enable: false },
      proxyProtocol: balancers,
      resource: { cpu: 100, memory: 90, disk: 95 },
      ports: ports.map(one => ({ ...one, port: one.port - 1000 })),
    },
    {
      http2: { enable: true },
      http3: { enable: false },
      proxyProtocol: { ...balancers, httpPort: 65_000 },
      resource: { cpu: 55, memory: 40, disk: 95 },
      ports,
    },
  ];
  const settings = [
    { name: 'proxyProtocol', value: wanted!.proxyProtocol },
    { name: 'resource', value: wanted!.resource },
  ];
  const canary = { id: 999_999_999_999, state: 'trying' as const, nodeID: 999_999_999_999, accepted, wanted };
  assert.ok(
    compile('zone', {
      id: 1,
      zoneID: 1,
      siteID: null,
      revision: 1,
      inherited: '',
      row: {
        origins,
        frequencies,
        errorPages,
        ports,
        relays: { relays, left, members },
        settings,
        log: { level: 'notice', sampling: 10_000 },
        canary,
      },
    }).document.canary,
  );
  assert.ok(
    bytesOf('zone', {
      origins,
      frequencies,
      errorPages,
      ports,
      relays: { relays, left, members },
      settings,
      log: { level: 'notice', sampling: 10_000 },
      canary,
    }) <= kinds.zone.bytesMax,
  );
});

test('the largest domain and site', () => {
  const upstream = {
    address: 'a'.repeat(253),
    port: 65_535,
    weight: 100,
    backup: false,
    protocol: 'follow' as const,
    maxFails: 100,
    failTimeout: 3600,
    hash: 'urlHash' as const,
    keepalive: false,
  };
  Upstream.parse(upstream);
  const upstreams = Array.from({ length: upstreamsPerDomain }, (_, id) => ({ id, enabled: true, ...upstream }));
  const ids = Array.from({ length: 20 }, (_, i) => [`${'m'.repeat(38)}${i}`.slice(-40), 2 ** 40]);
  const row = {
    siteID: 2 ** 40,
    ownerID: 2 ** 40,
    domainName: 'd'.repeat(253),
    status: false,
    balance: 'roundRobin' as const,
    originHost: 'o'.repeat(253),
  };
  const all: Record<string, unknown> = { customHeaders: { request: twenty, response: twenty } };
  const settings = Object.entries(domainSettings).map(([name, { schema, defaults }]) => ({
    name,
    value: schema.parse(all[name] ?? largest(schema, defaults, 100_000)),
  }));
  assert.ok(
    bytesOf('domain', {
      ...row,
      forceBackup: false,
      certificateID: 2 ** 40,
      forceSSL: true,
      hsts: { enabled: true, maxAge: 63_072_000, includeSubDomains: true, preload: true },
      scheme: 'https',
      portMap: { enabled: true, http: 65_534, https: 65_533 },
      tlsOption: 'TLSv1.3',
      upstreams,
      modules: Object.fromEntries(ids),
      settings,
    }) <= kinds.domain.bytesMax,
  );
  const ips = Array.from({ length: portLimits.ipsMax }, (_, i) => `${'f'.repeat(97)}${i + 100}`);
  const port = {
    siteID: 2 ** 40,
    ownerID: 2 ** 40,
    port: 65_000,
    scheme: 'https' as const,
    portMap: portMapDefault,
    ips,
    forceBackup: false,
    upstreams,
  };
  assert.ok(bytesOf('port', port) <= kinds.port.bytesMax);
  const proof = { token: 't'.repeat(200), answer: `${'t'.repeat(200)}.${'k'.repeat(43)}` };
  const tokens = Array.from({ length: challengesPerDomain }, () => proof);
  assert.ok(bytesOf('challenge', { host: 'd'.repeat(253), tokens }) <= kinds.challenge.bytesMax);
  const parts = Array.from({ length: 100 }, (_, i) => `${'p'.repeat(37)}${i}`);
  const types = Array.from({ length: 50 }, (_, i) => `${'t'.repeat(50)}/${'x'.repeat(11)}${i + 10}`);
  const compression = gzip.schema.parse({ enabled: false, types, minLength: 10_000_000, level: 9 });
  const worst: Record<string, unknown> = { gzip: compression };
  const set = Object.entries(siteSettings).map(([name, { schema, defaults }]) => ({
    name,
    value: worst[name] ?? largest(schema, defaults, 100_000),
  }));
  assert.ok(
    bytesOf('site', { status: 'normal', expired: '2099-01-01', cacheGeneration: 2 ** 52, parts, settings: set }) <=
      kinds.site.bytesMax,
  );
});
