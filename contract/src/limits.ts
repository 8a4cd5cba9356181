/**
 * Every constant of the specification (§9, and the numbers and enumerations of §1–§5) and of the decisions, once.
 * A number carries its unit in its name. A group names its source; contract/test/limits.test.ts pins each value.
 */
import { schemes } from './limits-ports.ts';

export * from './limits-certificates.ts';
export * from './limits-licences.ts';
export * from './limits-node.ts';
export * from './limits-ports.ts';
export * from './limits-resolution.ts';
export * from './limits-sign-in.ts';
export * from './limits-start.ts';
export * from './limits-system.ts';

/** How often a screen asks what is wrong. */
export const statusPollMs = 15_000;

/** §9 "Polling". */
export const polling = {
  nodeListPollMs: 5000,
  nodeInformationPollMs: 2000,
  liveStatisticsPollMs: 300_000,
  liveStatisticsWindowHours: 6,
  liveStatisticsStepMinutes: 5,
} as const;

/** Issue 9: the fleet at one look. */
export const fleetLimits = {
  /** nodes that one look shows: of a larger fleet one zone is looked at */
  nodesMost: 2000,
  placeNameMax: 64,
} as const;

/** §5, §9 "Page-size options"; decisions "Wire"; calls.md (the two maxima). */
export const paging = {
  pageFirst: 1,
  pageMax: 1_000_000,
  pageSizeDefault: 10,
  pageSizes: [10, 25, 50, 100, 200, 500],
  pageSizeMax: 500,
  timeSeriesPageSizeMax: 26_784,
  orders: ['asc', 'desc'],
} as const;

/** API tokens: of one account, the sites one may name, the networks, and how often it is written down that one was used. */
export const apiTokens = { perAccountMax: 100, sitesMax: 500, networksMax: 50, endingLength: 4, usedEverySeconds: 60 } as const;

/** Ids that one call over several rows takes. */
export const bulk = { idsMax: 1000 } as const;

/** Relays of a zone, and the certificates by which its nodes know each other. */
export const relayLimits = {
  perZoneMax: 50,
  /** nodes that left while a certificate of theirs holds; where there are more, those that are in the zone are named, so many */
  leftMax: 300,
  membersMax: 2500,
  certificateDays: 30,
  portDefault: 8447,
  /** a relay that says another port is believed when it has said so for as long; more often than so many times an hour it waits for longer each time */
  portHoldSeconds: 30,
  changesFree: 3,
} as const;

/** Streams of events: how many an account has at once in one process, and how often it is asked whether it may still read. */
export const streams = { perAccountMax: 10, checkMs: 2000 } as const;

/**
 * What one node's log may bring (server/src/ingest): a node that is in other hands neither fills the store nor breaks a total.
 * The link is far above what a node carries in an hour; what goes beyond it is set aside as `number`.
 */
export const logBounds = {
  linkBitsPerSecondMax: 100e9,
  responseMaxBytes: 1e12,
  /** a range that a node had to drop: files are 64 MiB, all of them together some GiB */
  holeMaxBytes: 2 ** 36,
  /** known at once; the longest untouched of what is stored is forgotten first */
  filesPerNodeMax: 1024,
  /** new files: so many at once, then one in so many seconds (64 MiB each: some 40,000 lines a second, without end) */
  newFilesMax: 256,
  newFileSeconds: 5,
} as const;

/** §9 "Redirect rules cap", and what an installation may hold of other things. */
export const caps = {
  /** domains that one call deletes by their names */
  namesTogetherMax: 1000,
  redirectRulesPerSiteMax: 3000,
  /** shown as the number of 601001 */
  simultaneousExportsMax: 3,
} as const;

/** §5, §9; decisions "Wire" and "Logs": spans of log queries and exports. */
export const logSpans = {
  querySpanMaxDays: 1,
  /** clock skew between a browser and us */
  queryFutureMaxMinutes: 5,
  exportSpanMaxDays: 1,
  /** an export ends at least this long ago, so that late lines are in it */
  exportAgeMinHours: 1,
} as const;

/** §4, §9 "Statistics ranges …". Intervals in minutes. */
export const statistics = {
  /** one question: a year, a leap year's too */
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
  /** §7: layer-4 figures are bits, shown as bytes */
  layer4BitsPerByte: 8,
} as const;

/** §9 "Statistic types used", named by the table of decisions.md. */
export const statisticTypes = {
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
} as const;
export type StatisticType = keyof typeof statisticTypes;

/** §9 "Block reason keys", named by decisions.md; also the causes of a blocked IP. */
export const blockReasons = {
  blacklist: 2,
  geo: 3,
  antiCC: 4,
  frequency: 5,
  userAgent: 8,
  acl: 10,
  waf: 11,
  tokenAuth: 12,
} as const;
export type BlockReason = keyof typeof blockReasons;

/** §3 "Status codes tracked"; everything else counts as other. */
export const statusCodesTracked = [200, 206, 301, 302, 400, 403, 404, 444, 499, 500, 502, 503, 504, 903, 904, 929, 978] as const;

/** §9 and decisions: statuses that are our own. */
export const ownStatuses = {
  /** dropped without an answer */
  drop: 444,
  /** access by node address, without a known domain */
  unknownDomain: 903,
  /** site or domain paused, limited or expired */
  notServing: 904,
  /** frequency limit, or denied by an ACL */
  limited: 929,
  /** anti-CC challenge */
  challenge: 978,
} as const;

/** §9 "Error-page status codes offered", §3 (types). */
export const errorPageStatuses = [400, 403, 500, 502, 504, 903, 929] as const;
/** Of a site: hosts that nobody knows (903) are no site's, so their page is the operator's alone. */
export const siteErrorPageStatuses = [400, 403, 500, 502, 504, 929] as const;
export const errorPageTypes = ['content', 'urlRedirect', 'javascript'] as const;

/** §3: as counted in statistics. */
export const methods = ['GET', 'POST', 'DELETE', 'PUT', 'HEAD', 'PATCH', 'OPTIONS', 'other'] as const;
/** What CORS may allow. */
export const corsMethods = ['GET', 'POST', 'DELETE', 'PUT', 'HEAD', 'PATCH', 'OPTIONS'] as const;
export const httpVersions = ['1.0', '1.1', '2'] as const;
export const ipVersions = ['ipv4', 'ipv6'] as const;

/** §3, §5, §9: origins. */
export const upstreamLimits = {
  portDefault: 80,
  portMin: 1,
  portMax: 65_535,
  weightMin: 1,
  weightMax: 100,
  weightDefault: 1,
} as const;

/** §9 "Protocol"; §4 "Origin role". */
export const originProtocols = ['http', 'https', 'follow'] as const;
export const originRoles = ['main', 'backup'] as const;

/** §3, decisions "Wire": declared here once, read by forms, server and edge. */
export const balances = ['roundRobin', 'ipHash', 'urlHash'] as const;
/** How a node asks an origin whether it is well. */
export const originCheckTypes = ['off', 'tcp', 'http'] as const;
export const originCheckLimits = { intervalSecondsMin: 5, intervalSecondsMax: 300, timeoutSecondsMax: 30, inRowMax: 10 } as const;
/** How long an origin is waited for: until a connection stands, and from one piece of a request or an answer to the next. */
export const originTimeoutLimits = { connectSecondsMax: 60, pieceSecondsMax: 3600 } as const;
/** Of certificates of origins. */
export const verifications = ['off', 'public', 'own'] as const;
/** Of one origin; `none`: as its domain balances. */
export const hashTypes = ['none', 'ipHash', 'urlHash'] as const;
/** By which a domain is served. */
export const servedSchemes = ['any', ...schemes] as const;
/** §3 Product: a plan of a month with its traffic, or what was used. */
export const sellTypes = ['plan', 'usage'] as const;

/** §5, §9: numbers with a range. */
export const ranges = {
  numberMin: 1,
  numberMax: 3600,
  corsMaxAgeSecondsMin: 1,
  corsMaxAgeSecondsMax: 86_400,
  statusCodeDigits: 3,
} as const;

/** §9 "Geneva recommended window size". */
export const genevaWindows = { v1: { min: 1, max: 60 }, v2: { min: 1, max: 1 } } as const;
/** Shares of a machine, in percent. */
export const resourceShares = { cpuMin: 5, memoryMax: 90, diskMax: 95 } as const;
export const genevaVersions = ['v1', 'v2'] as const;
/** What the field of a TCP segment holds: beyond what is recommended it is the operator's word. */
export const genevaWindowMax = 65_535;
/** Of a node: its further addresses, and how often it may begin new log files by itself. */
export const nodeBounds = { subsMax: 100, logRotateSecondsMin: 60, logRotateSecondsMax: 30 * 86_400 } as const;

/** §9: where zero stands for something else than a number. */
export const zeroMeans = {
  siteLimit: 'unlimited',
  licenseLimit: 'unlimited',
  nodeMonitorSeconds: 'unlimited',
  logRotateSeconds: 'none',
} as const;
/** §9 "log rotate 0 s means none". */
export const logRotateNoneSeconds = 0;
/** §9 "None entry with value 0"; decisions "Wire": an assignment to no module. */
export const moduleNone = 0;

/** §9 and decisions "Wire": units on the wire. */
export const units = {
  cacheSizeUnit: 'MB',
  cacheTimeUnit: 'minutes',
  rateUnit: 'K/s',
  rateUnitBytes: 1000,
  trafficUnitBase: 1000,
} as const;
/** The fastest a rate setting can name, in `rateUnit`: a gigabyte a second. */
export const rateMax = 1_000_000;

/** Strict-Transport-Security (RFC 6797): seconds; lists that browsers come with take a name from a year on. */
export const hstsLimits = { maxAgeDefault: 31_536_000, maxAgeMax: 63_072_000, preloadMin: 31_536_000 } as const;

/** §9 "TLS support option". */
export const tlsOptions = ['TLSv1.3'] as const;

/** §3, §9: caching. */
export const cacheModes = ['followOrigin', 'forceCache'] as const;
/** Decisions "Rules and modules". */
export const cacheRuleTypes = ['fileType', 'prefix', 'exact', 'regex', 'site'] as const;
/** Decisions "Wire": `type` of DELETE setting/urlCache. */
export const purgeTypes = { url: 1, prefix: 2, host: 3, tag: 4 } as const;
/** §4 "Cache tasks". */
export const cacheTasks = ['preload', 'clear'] as const;

/** §4 "Protect types". */
export const protectTypes = {
  fiveSecondShield: 1,
  code: 2,
  clickToVerify: 3,
  redirect: 4,
} as const;

/** §9: the ACL. `status` is what the visitor gets; a drop answers nothing and is logged as 444. */
export const aclActions = {
  deny: { status: 929 },
  drop: { status: 444 },
  dropAndBlacklist: { status: 444 },
  allow: { status: 0 },
  redirect301: { status: 301 },
  redirect302: { status: 302 },
} as const;
export const aclOperators = [
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
] as const;
export const matchTypes = ['prefix', 'exact', 'advanced'] as const;
/** Statuses of a redirect; 307 and 308 keep the method. */
export const redirectStatuses = [301, 302, 307, 308] as const;
/** Bytes of the address a redirect leads to, the visitor's query in it. */
export const redirectLocationMax = 8192;
/** §9: the old ACL, replaced by luaAcl. */
export const aclDeprecatedFrom = '2025/04/01';

/** §9; decisions: OWASP Core Rule Set with falling strictness. */
export const wafSensitivities = ['high', 'medium', 'low'] as const;

/** Decisions "Rules and modules": what a frequency counts by. */
export const frequencyTypes = ['ip', 'ipURL', 'ipUserAgent', 'site'] as const;
/** What meets a request beyond the limit: 929 (§9), or no answer at all (444). */
export const frequencyActions = ['limit', 'drop'] as const;
/** Bounds of a frequency and of a request limit: the span a node counts over, and what it can tell apart. */
export const frequencyBounds = { secondsMax: 86_400, timesMax: 1_000_000, rateMax: 100_000, burstMax: 100_000 } as const;
/**
 * Rows of one list of a site. A rule costs a node a look at its conditions, once for each kind of request; a counter costs every request it
 * holds for a count of its own.
 */
export const listRows = { rulesMax: 1000, countersMax: 200 } as const;
/** §3 `blockType`: what meets a request that a rule of the firewall matches. */
export const blockTypes = ['deny', 'drop'] as const;

/** §9 "Weekly schedule", "Continents". */
export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export const continents = ['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA'] as const;

/** Decisions "Rules and modules": traffic state, in shares of the plan. */
export const traffic = { warningShare: 0.8, limitedShare: 1 } as const;
export const trafficBounds = {
  /** of what a product holds in a month, and of an extra plan: a petabyte */
  bytesMax: 1_000_000_000_000_000,
  /** from the begin of an extra plan to its end */
  planDaysMax: 3650,
  /** so long after a month lines of it may still be counted */
  lateDays: 7,
} as const;
/** Decisions "The parts": what a product does when its traffic is used up. */
export const trafficExceededActions = ['none', 'limit', 'notify'] as const;

/** §9: an offline licence keeps its port type after an upgrade. */
export const offlineLicense = { portTypeChangesAfterUpgrade: false } as const;

/** §3: how a group's line names what it answers with, and how a sub-node is keyed (`nodeId-id`). */
export const identifiers = {
  nodePrefix: 'n-',
  virtualNodePrefix: 'v-',
  subNodeSeparator: '-',
} as const;
export const nodeTypes = ['edge', 'relay'] as const;
/** Why lines of a node's log are set aside, where what is counted are messages, which hold many lines or none: never added to lines. */
export const asideMessages: ReadonlySet<string> = new Set(['flood', 'twin']);

/** Days that what nobody needs any more is kept, until its owner decides. */
export const retentionDefaults = { audit: 365, deleted: 90, purges: 30, tasks: 30, ended: 7, tombstones: 30 };

/** §5 "allowed origins", "http remind": what `{host}` stands for in the rules. */
export const hostPrefixes = ['http://', 'https://'] as const;

/**
 * §9: the 21 chart colours. Each reaches 3:1 (WCAG 1.4.11) on both surfaces, #ffffff and #151c1d, and any two lie 0.07 apart in OKLab; the
 * first four are the classes of status codes: 2xx petrol, 3xx blue, 4xx orange, 5xx red.
 */
export const chartPalette = [
  '#188489',
  '#418ad1',
  '#cf752d',
  '#d03833',
  '#3b9555',
  '#8451c9',
  '#a88822',
  '#ca3a80',
  '#4e68ce',
  '#00a692',
  '#6b7b7a',
  '#e96a83',
  '#705f92',
  '#a15100',
  '#ca73d0',
  '#6f6900',
  '#8d86f6',
  '#8796a6',
  '#00780d',
  '#9e4d61',
  '#b07283',
] as const;
/** The colour by which people tell their frequencies apart in lists. */
export const frequencyColourDefault = 'grey';
export const frequencyColours = [frequencyColourDefault, 'red', 'orange', 'yellow', 'green', 'blue', 'purple'] as const;
