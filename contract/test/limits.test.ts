/** Each constant of §9 (and those of §1–§5 and the decisions), pinned: changing one is changing the product. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { defaultLanguage, languages } from '#contract/kit/text.ts';
import * as limits from '#contract/limits.ts';
import { literalProblems, luaLimits, luaOf } from './guards/lua.ts';
import { sources } from './guards/sources.ts';
import { pinnedGeo } from './limits-geo.ts';
import { pinnedSystem } from './limits-system.ts';

const pinned: Record<string, unknown> = {
  deviceMailsMax: 5,
  mailLinks: { hours: 72 },
  mailLinkForgottenDays: 90,
  authenticators: { stepSeconds: 30, stepsAround: 1, secretBytes: 20, recoveryCodes: 10, recoveryLength: 10 },
  passkeys: { perAccountMax: 20, nameMax: 64, challengeMinutes: 5, challengesFreeOfAddress: 60, triesFreeOfAddress: 50 },
  oidcLimits: { labelMax: 40, linksMax: 10, minutes: 10, startsFreeOfAddress: 60, triesFreeOfAddress: 50, testsFree: 10 },
  codeTries: { freeOfAccount: 10, mailsFreeOfAccount: 5, mailsFreeOfAddress: 30 },
  ...pinnedSystem,
  ...pinnedGeo,
  mailSecurities: ['starttls', 'tls', 'none'],
  mailLimits: {
    portDefault: 587,
    timeoutSeconds: 30,
    answerSeconds: 600,
    keptHours: 24,
    atOnce: 8,
    atOnceOfOne: 2,
    atOnceOfServer: 32,
    waitingMax: 10000,
    waitingOfOneMax: 1000,
  },
  accountLimits: { subsOfRootMax: 1000, linksFreeOfRoot: 200, linksHalveMinutes: 15, linksFreeOfMailbox: 5, takenFreeOfRoot: 50 },
  licenceKinds: ['unlimited', 'order', 'offline'],
  licenceStates: ['valid', 'expired', 'missing', 'illegal'],
  licensed: ['sites', 'nodes', 'zones', 'domains', 'autoSSL'],
  licenceClockMinutes: 15,
  licenceEndsSoonDays: 30,
  transport: {
    basePath: '/api/v1',
    requestTimeoutMs: 300000,
    fileSilenceMs: 60000,
    delayAfterCallMs: 200,
    chunkLoadTimeoutMs: 120000,
    tokenType: 'Bearer',
  },
  display: {
    frontEndVersion: '1.10.4',
    offlineModeDefault: false,
    layer4PageDefault: false,
    dateTimeFormat: 'YYYY/MM/DD HH:mm:ss',
    byteUnitBase: 1000,
    byteUnits: ['Byte', 'KB', 'MB', 'GB', 'TB', 'PB', 'EB'],
    messageTopPx: 50,
    copyrightSuffix: 'inc. All Rights Reserved.',
    announcementsMax: 100,
    noneLabel: 'None',
  },
  polling: {
    nodeListPollMs: 5000,
    nodeInformationPollMs: 2000,
    liveStatisticsPollMs: 300000,
    liveStatisticsWindowHours: 6,
    liveStatisticsStepMinutes: 5,
  },
  paging: {
    pageFirst: 1,
    pageMax: 1_000_000,
    pageSizeDefault: 10,
    pageSizes: [10, 25, 50, 100, 200, 500],
    pageSizeMax: 500,
    timeSeriesPageSizeMax: 26784,
    orders: ['asc', 'desc'],
  },
  bulk: { idsMax: 1000 },
  apiTokens: { perAccountMax: 100, sitesMax: 500, networksMax: 50, endingLength: 4, usedEverySeconds: 60 },
  streams: { perAccountMax: 10, checkMs: 2000 },
  session: {
    accessTokenMinutes: 15,
    refreshTokenDays: 30,
    refreshReuseGraceSeconds: 10,
    cookieYears: 2,
    cookieTypes: { user: 'u', client: 'c', admin: 'a' },
    passwordLengthMin: 8,
    passwordLengthMax: 200,
    codeDigits: 6,
    codeLifetimeMinutes: 10,
    codeTriesMax: 5,
  },
  loginTwoFactorTypes: { mail: 0, google: 1, none: 2 },
  caps: { namesTogetherMax: 1000, redirectRulesPerSiteMax: 3000, simultaneousExportsMax: 3 },
  logBounds: {
    linkBitsPerSecondMax: 1e11,
    responseMaxBytes: 1e12,
    holeMaxBytes: 68_719_476_736,
    filesPerNodeMax: 1024,
    newFilesMax: 256,
    newFileSeconds: 5,
  },
  logSpans: { querySpanMaxDays: 1, queryFutureMaxMinutes: 5, exportSpanMaxDays: 1, exportAgeMinHours: 1 },
  statistics: {
    spanMaxDays: 366,
    rangeStepMinutes: 5,
    reportIntervalMinutesDefault: 5,
    topDefault: 10,
    dashboardIntervalsMinutes: { traffic: 15, bandwidth: 15, requests: 15, statusCodes: 15 },
    dashboardHours: 24,
    dashboardDays: 30,
    securityReportIntervalMinutes: 60,
    securityTimeInterval: 'sixHours',
    blacklistSeriesStepMinutes: 60,
    layer4CountriesTop: 5,
    dashboardTop: 10,
    dynamicTop: 30,
    wafTop: 20,
    domainRankSortKey: 2,
    domainRankOrder: 'desc',
    layer4BitsPerByte: 8,
  },
  statisticTypes: {
    traffic: 2,
    bandwidth: 3,
    requests: 4,
    statusCodes: 5,
    cacheHitTraffic: 11,
    cacheHitRequests: 12,
    upstreamTraffic: 13,
    upstreamRequests: 14,
    uniqueVisitors: 15,
    topURLs: 18,
    topVisitorIPs: 19,
    topCountries: 20,
    topReferers: 21,
    topUserAgents: 22,
    methods: 23,
    httpVersions: 24,
    blockedRequests: 25,
  },
  blockReasons: { blacklist: 2, geo: 3, antiCC: 4, frequency: 5, userAgent: 8, acl: 10, waf: 11, tokenAuth: 12 },
  statusCodesTracked: [200, 206, 301, 302, 400, 403, 404, 444, 499, 500, 502, 503, 504, 903, 904, 929, 978],
  ownStatuses: { drop: 444, unknownDomain: 903, notServing: 904, limited: 929, challenge: 978 },
  errorPageStatuses: [400, 403, 500, 502, 504, 903, 929],
  siteErrorPageStatuses: [400, 403, 500, 502, 504, 929],
  errorPageTypes: ['content', 'urlRedirect', 'javascript'],
  methods: ['GET', 'POST', 'DELETE', 'PUT', 'HEAD', 'PATCH', 'OPTIONS', 'other'],
  corsMethods: ['GET', 'POST', 'DELETE', 'PUT', 'HEAD', 'PATCH', 'OPTIONS'],
  httpVersions: ['1.0', '1.1', '2'],
  ipVersions: ['ipv4', 'ipv6'],
  upstreamLimits: { portDefault: 80, portMin: 1, portMax: 65535, weightMin: 1, weightMax: 100, weightDefault: 1 },
  originProtocols: ['http', 'https', 'follow'],
  originRoles: ['main', 'backup'],
  balances: ['roundRobin', 'ipHash', 'urlHash'],
  originCheckTypes: ['off', 'tcp', 'http'],
  originCheckLimits: { intervalSecondsMin: 5, intervalSecondsMax: 300, timeoutSecondsMax: 30, inRowMax: 10 },
  originTimeoutLimits: { connectSecondsMax: 60, pieceSecondsMax: 3600 },
  verifications: ['off', 'public', 'own'],
  hashTypes: ['none', 'ipHash', 'urlHash'],
  schemes: ['http', 'https'],
  servedSchemes: ['any', 'http', 'https'],
  sellTypes: ['plan', 'usage'],
  layer4Ports: {
    portMin: 1000,
    portMax: 65000,
    portsExcluded: [
      [3306, 3306],
      [3311, 3311],
      [6379, 6379],
      [9100, 9100],
      [61000, 61199],
    ],
    protocols: ['tcp', 'udp'],
  },
  portSchemes: ['http', 'https', 'tcp', 'udp'],
  fleetLimits: { nodesMost: 2000, placeNameMax: 64 },
  relayLimits: {
    ...{ perZoneMax: 50, leftMax: 300, membersMax: 2500, certificateDays: 30, portDefault: 8447 },
    ...{ portHoldSeconds: 30, changesFree: 3 },
  },
  genevaVersions: ['v1', 'v2'],
  genevaWindowMax: 65_535,
  nodeBounds: { subsMax: 100, logRotateSecondsMin: 60, logRotateSecondsMax: 2_592_000 },
  resourceShares: { cpuMin: 5, memoryMax: 90, diskMax: 95 },
  portLimits: { perSiteMax: 100, perZoneMax: 100, ipsMax: 200 },
  portTypes: ['7', '7+4'],
  ranges: { numberMin: 1, numberMax: 3600, corsMaxAgeSecondsMin: 1, corsMaxAgeSecondsMax: 86400, statusCodeDigits: 3 },
  genevaWindows: { v1: { min: 1, max: 60 }, v2: { min: 1, max: 1 } },
  zeroMeans: { siteLimit: 'unlimited', licenseLimit: 'unlimited', nodeMonitorSeconds: 'unlimited', logRotateSeconds: 'none' },
  logRotateNoneSeconds: 0,
  moduleNone: 0,
  units: { cacheSizeUnit: 'MB', cacheTimeUnit: 'minutes', rateUnit: 'K/s', rateUnitBytes: 1000, trafficUnitBase: 1000 },
  rateMax: 1_000_000,
  hstsLimits: { maxAgeDefault: 31536000, maxAgeMax: 63072000, preloadMin: 31536000 },
  certificateTypes: ['manual', 'autoSSL', 'dns'],
  acmeLimits: {
    ordersAtOnce: 20,
    spreadSeconds: 30,
    looks: 120,
    seenLooks: 100,
    dnsTries: 6,
    troubles: 30,
    retryMinutes: [1, 5, 15, 60, 180, 360, 720, 1440],
    renewAfter: 2 / 3,
    renewLeast: 1 / 10,
    renewRestHours: 24,
    askSeconds: { min: 3600, max: 86_400, usual: 21_600 },
    issuedMinutes: 60,
    triedMinutes: 15,
    limitSeconds: 60,
    testsFree: 10,
    namesPerTask: 100,
  },
  acmeProviders: ['letsEncrypt', 'zeroSSL', 'private'],
  acmeWays: ['http', 'dns'],
  dnsProviders: ['rfc2136', 'cloudflare', 'dnspod', 'route53', 'aliyun'],
  tsigAlgorithms: ['hmacSHA256', 'hmacSHA384', 'hmacSHA512', 'hmacSHA1'],
  dnsAccountFields: {
    rfc2136: ['server', 'keyName', 'algorithm'],
    cloudflare: [],
    dnspod: ['keyName'],
    route53: ['keyName'],
    aliyun: ['keyName'],
  },
  siteDNSMax: 20,
  dnsTypes: ['knot', 'rfc2136', 'powerdns', 'cloudflare', 'dnspod', 'route53', 'aliyun'],
  resolutionLimits: {
    dnsSettingsMax: 20,
    cnamesMax: 50,
    secondariesMax: 8,
    groupLinesMax: 100,
    lineNodesMax: 50,
    addressesMax: { 4: 50, 6: 28 },
    steadySeconds: 5,
    steadySecondsMax: 300,
    flapMinutes: 10,
    changesDays: 90,
    checkMinutes: { active: 60, other: 10 },
  },
  answerReasons: [
    'assigned',
    'removed',
    'well',
    'silent',
    'paused',
    'problem',
    'cutOff',
    'unknown',
    'mainsAway',
    'mainsBack',
    'lastOne',
    'addresses',
    'lineToAll',
    'lineFor',
  ],
  answerChanges: ['came', 'left', 'moved', 'line'],
  virtualNodeKinds: ['empty', 'node', 'cname'],
  recordTypes: ['A', 'AAAA', 'CNAME'],
  keyTypes: ['ec', 'rsa'],
  certificateLimits: {
    perSite: 1000,
    bytesPerSite: 2_000_000,
    pemMax: 65536,
    keyPemMax: 10000,
    chainMax: 10,
    namesMax: 500,
    rsaBitsMin: 2048,
    rsaBitsMax: 4096,
    warnDays: 14,
  },
  tlsOptions: ['TLSv1.3'],
  cacheModes: ['followOrigin', 'forceCache'],
  cacheRuleTypes: ['fileType', 'prefix', 'exact', 'regex', 'site'],
  purgeTypes: { url: 1, prefix: 2, host: 3, tag: 4 },
  cacheTasks: ['preload', 'clear'],
  protectTypes: { fiveSecondShield: 1, code: 2, clickToVerify: 3, redirect: 4 },
  aclActions: {
    deny: { status: 929 },
    drop: { status: 444 },
    dropAndBlacklist: { status: 444 },
    allow: { status: 0 },
    redirect301: { status: 301 },
    redirect302: { status: 302 },
  },
  aclOperators: [
    'equal',
    'notEqual',
    'contains',
    'notContains',
    'in',
    'notIn',
    'greaterThan',
    'lessThan',
    'greaterOrEqual',
    'lessOrEqual',
  ],
  matchTypes: ['prefix', 'exact', 'advanced'],
  redirectStatuses: [301, 302, 307, 308],
  redirectLocationMax: 8192,
  asideMessages: new Set(['flood', 'twin']),
  retentionDefaults: { audit: 365, deleted: 90, purges: 30, tasks: 30, ended: 7, tombstones: 30 },
  statusPollMs: 15_000,
  aclDeprecatedFrom: '2025/04/01',
  wafSensitivities: ['high', 'medium', 'low'],
  frequencyTypes: ['ip', 'ipURL', 'ipUserAgent', 'site'],
  frequencyActions: ['limit', 'drop'],
  frequencyBounds: { secondsMax: 86400, timesMax: 1000000, rateMax: 100000, burstMax: 100000 },
  listRows: { rulesMax: 1000, countersMax: 200 },
  blockTypes: ['deny', 'drop'],
  weekdays: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
  continents: ['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA'],
  traffic: { warningShare: 0.8, limitedShare: 1 },
  trafficBounds: { bytesMax: 1_000_000_000_000_000, planDaysMax: 3650, lateDays: 7 },
  trafficExceededActions: ['none', 'limit', 'notify'],
  offlineLicense: { portTypeChangesAfterUpgrade: false },
  identifiers: { nodePrefix: 'n-', virtualNodePrefix: 'v-', subNodeSeparator: '-' },
  nodeTypes: ['edge', 'relay'],
  hostPrefixes: ['http://', 'https://'],
  frequencyColourDefault: 'grey',
  frequencyColours: ['grey', 'red', 'orange', 'yellow', 'green', 'blue', 'purple'],
};

test('every constant has the value of the specification, and none stands here alone', () => {
  const { chartPalette: _palette, ...rest } = limits;
  assert.deepEqual({ ...rest }, pinned);
});

test('a number says its unit in its name', () => {
  const unit = /(Ms|Px|Seconds|Minutes|Hours|Days|Years|Min|Max|Base|Bytes|Digits|Default|First|Share|Top|Key|PerByte|None)$/;
  for (const [group, values] of Object.entries(limits))
    if (typeof values === 'number') assert.match(group, unit);
    else if (
      !Array.isArray(values) &&
      /^(transport|display|polling|paging|session|bulk|streams|caps|logBounds|logSpans|statistics|upstreamLimits|originCheckLimits|originTimeoutLimits|ranges|traffic)$/.test(
        group,
      )
    )
      for (const [key, value] of Object.entries(values)) if (typeof value === 'number') assert.match(key, unit, group);
});

/** Groups that the edge goes by. */
const ofTheEdge = { ownStatuses: limits.ownStatuses };

test('the edge has its constants from here', () => {
  const file = new URL(`../../${luaLimits}`, import.meta.url);
  if (process.env.UPDATE_GOLDEN || !existsSync(file)) writeFileSync(file, luaOf(ofTheEdge));
  assert.equal(readFileSync(file, 'utf8'), luaOf(ofTheEdge), luaLimits);
});

test('no file of the edge has one of them by itself', () => {
  const found = (text: string) => literalProblems(ofTheEdge, [{ file: 'edge/lua/a.lua', text }]);
  for (const bad of ['return refuse(903)', '[904] = "x"', 'if s == 444 then', 'local n = {929}'])
    assert.equal(found(bad).length, 1, bad);
  assert.deepEqual(found('return 1903, 9030, x904, 4.444, 403 -- 904'), []);
  assert.deepEqual(literalProblems(ofTheEdge, sources('edge/lua/**/*.lua')), []);
});

test('three languages, Traditional Chinese first', () => {
  assert.deepEqual(languages, ['zh_TW', 'zh_CN', 'en_US']);
  assert.equal(defaultLanguage, 'zh_TW');
});

test('21 chart colours that stay apart, each at 3:1 on the light and the dark surface', () => {
  const luminance = (hex: string) => {
    const [r, g, b] = [1, 3, 5]
      .map(at => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
      .map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)) as [number, number, number];
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a: string, b: string) => {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
    return (high + 0.05) / (low + 0.05);
  };
  assert.equal(new Set(limits.chartPalette).size, 21);
  for (const colour of limits.chartPalette)
    for (const surface of ['#ffffff', '#151c1d']) assert.ok(contrast(colour, surface) >= 3, `${colour} on ${surface}`);
  // OKLab (Ottosson 2020): a distance of 0.02 is just seen on large areas; lines are thin
  const lab = (hex: string) => {
    const [r, g, b] = [1, 3, 5]
      .map(at => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
      .map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)) as [number, number, number];
    const [l, m, s] = [
      0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b,
      0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b,
      0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b,
    ].map(Math.cbrt) as [number, number, number];
    return [
      0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
      1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
      0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ] as const;
  };
  limits.chartPalette.forEach((one, index) => {
    for (const other of limits.chartPalette.slice(0, index)) {
      const [a, b] = [lab(one), lab(other)];
      assert.ok(Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) >= 0.07, `${one} and ${other} look alike`);
    }
  });
});
