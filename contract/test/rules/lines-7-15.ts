/** Samples for bullets 7 to 15 of §5: values, CORS, origins, ports, regions, log queries, monitoring, caps. */
import { caps } from '#contract/limits.ts';
import * as rules from '#contract/rules.ts';
import { ago, now } from './sample.ts';
import type { Line } from './sample.ts';

const upstream = (address: string, more: object = {}) => ({ address, port: 80, weight: 1, enabled: true, ...more });

export const linesSevenToFifteen: Line[] = [
  {
    line: 7,
    says: 'number between 1 and 3600',
    rule: rules.number,
    good: [1, 3600, '60'],
    bad: [
      [0, 'between'],
      [3601, 'between'],
      ['', 'required'],
      ['x', 'numeric'],
    ],
  },
  {
    line: 7,
    says: 'number greater than 0',
    rule: rules.positive,
    good: [1, 0.5, '2'],
    bad: [
      [0, 'greaterThan'],
      [-1, 'greaterThan'],
      ['', 'required'],
      ['x', 'numeric'],
      [Number.NaN, 'numeric'],
    ],
  },
  {
    line: 7,
    says: 'email format',
    rule: rules.email,
    good: ['a@example.com', 'a.b+c@sub.example.co'],
    bad: [
      ['', 'required'],
      ['a', 'email'],
      ['a@b', 'email'],
      ['a@@example.com', 'email'],
      ['a b@example.com', 'email'],
      ['.a@example.com', 'email'],
      ['a@-x.com', 'email'],
      [`${'a'.repeat(65)}@example.com`, 'email'],
      ['a@example.com\n', 'email'],
    ],
  },
  {
    line: 7,
    says: 'passwords match',
    rule: rules.passwordsMatch,
    good: [{ password: 'a', confirm: 'a' }],
    bad: [[{ password: 'a', confirm: 'b' }, 'passwordMismatch confirm']],
  },
  {
    line: 7,
    says: 'password at least 8 characters',
    rule: rules.password,
    good: ['12345678', 'pass phrase'],
    bad: [
      ['', 'required'],
      ['1234567', 'tooShort'],
      ['👍👍👍👍', 'tooShort'],
    ],
  },
  {
    line: 7,
    says: 'duplicate IP',
    rule: rules.uniqueIPs,
    good: [['1.1.1.1', '::1']],
    bad: [[['::1', '::0:1'], 'duplicateIP 1']],
  },
  {
    line: 7,
    says: 'duplicate IP plus port',
    rule: rules.uniqueIPPorts,
    good: [
      [
        { ip: '1.1.1.1', port: 80 },
        { ip: '1.1.1.1', port: 81 },
      ],
    ],
    bad: [
      [[{ ip: '1.1.1.1', port: 80 }, { ip: '1.1.1.1' }], 'duplicateIPPort 1.ip'],
      [
        [
          { address: 'A.example', port: 1 },
          { address: 'a.example', port: '1' },
        ],
        'duplicateIPPort 1.address',
      ],
    ],
  },
  {
    line: 7,
    says: 'domain entered and lower case',
    rule: rules.domainName,
    good: ['example.com', '*.example.com', 'xn--fiq228c.example', 'a-b.example.com'],
    bad: [
      ['', 'required'],
      ['Example.com', 'lowerCase'],
      ['example', 'wrongFormat'],
      ['*.*.example.com', 'wrongFormat'],
      ['a..com', 'wrongFormat'],
      ['-a.com', 'wrongFormat'],
      ['1.2.3.4', 'wrongFormat'],
      ['網域.tw', 'wrongFormat'],
      [`${'a'.repeat(64)}.com`, 'wrongFormat'],
      ['a.com/x', 'wrongFormat'],
      ['a.com;', 'wrongFormat'],
    ],
  },
  {
    line: 7,
    says: 'origin: an address or a host name',
    rule: rules.originAddress,
    good: ['127.0.0.1', '::1', 'origin.example.com', 'origin'],
    bad: [
      ['', 'required'],
      ['Origin.example', 'lowerCase'],
      ['1.2.3', 'wrongFormat'],
      ['[::1]', 'wrongFormat'],
      ['a b', 'wrongFormat'],
      ['a:80', 'wrongFormat'],
      ['x;y', 'wrongFormat'],
    ],
  },
  {
    line: 7,
    says: 'a Host header: empty, or a host with an optional port',
    rule: rules.optionalHost,
    good: ['', 'a.example', 'a.example:8080', '[::1]:80', '1.1.1.1'],
    bad: [
      ['a:99999', 'wrongFormat'],
      ['a b', 'wrongFormat'],
      ['[1.1.1.1]', 'wrongFormat'],
      ['a\r\nX: y', 'wrongFormat'],
    ],
  },
  {
    line: 7,
    says: 'status code three digits',
    rule: rules.statusCode,
    good: [200, '404'],
    bad: [
      ['', 'required'],
      [20, 'threeDigits'],
      ['20a', 'threeDigits'],
      ['0404', 'threeDigits'],
      [2000, 'threeDigits'],
    ],
  },
  {
    line: 7,
    says: 'one role must be chosen',
    rule: rules.role,
    good: [3, [3]],
    bad: [
      [null, 'roleRequired'],
      [[], 'roleRequired'],
      [[1, 2], 'roleRequired'],
      [0, 'roleRequired'],
    ],
  },

  {
    line: 8,
    says: 'CORS max age 1 to 86400 s',
    rule: rules.corsMaxAge,
    good: [1, 86_400],
    bad: [
      [0, 'between'],
      [86_401, 'between'],
    ],
  },
  {
    line: 8,
    says: 'allowed origins only * or a single value starting with {host}',
    rule: rules.corsOrigin,
    good: ['*', 'https://a.example', 'http://a.example:8080'],
    bad: [
      ['', 'required'],
      ['a.example', 'corsOrigin'],
      ['https://a.example, https://b.example', 'corsOrigin'],
      ['https://a.example https://b.example', 'corsOrigin'],
      ['https://', 'corsOrigin'],
      ['https://a.example/x', 'corsOriginOnly'],
      ['https://u@a.example', 'corsOriginOnly'],
      ['**', 'corsOrigin'],
    ],
  },

  {
    line: 9,
    says: 'weight 1 to 100',
    rule: rules.weight,
    good: [1, 100],
    bad: [
      [0, 'between'],
      [101, 'between'],
    ],
  },
  {
    line: 9,
    says: 'at least one upstream per domain, one enabled, weights in range',
    rule: rules.upstreams,
    good: [[upstream('1.1.1.1')], [upstream('1.1.1.1', { enabled: false }), upstream('1.1.1.2')], [{ address: 'a' }]],
    bad: [
      [[], 'upstreamRequired'],
      [null, 'upstreamRequired'],
      [[upstream('1.1.1.1', { enabled: false })], 'upstreamWithoutEnabled'],
      [[upstream('1.1.1.1'), upstream('1.1.1.1')], 'duplicateIPPort 1.address'],
      [[upstream('1.1.1.1', { weight: 101 })], 'between 0.weight'],
    ],
  },
  {
    line: 9,
    says: 'HTTP and HTTPS each need at least one port',
    rule: rules.schemePorts,
    good: [{ http: [80], https: [443] }, { http: [80] }],
    bad: [
      [{ http: [], https: [443] }, 'portRequired http'],
      [{ http: [], https: [] }, ['portRequired http', 'portRequired https']],
    ],
  },
  {
    line: 9,
    says: 'following the protocol requires port map',
    rule: rules.followNeedsPortMap,
    good: [
      { protocol: 'follow', portMap: true },
      { protocol: 'http', portMap: false },
    ],
    bad: [[{ protocol: 'follow', portMap: false }, 'portMapRequired portMap']],
  },
  {
    line: 9,
    says: 'origin in backup mode cannot be adjusted',
    rule: rules.originAdjustable,
    good: [{ value: {}, context: { forceBackup: false } }],
    bad: [[{}, 'backupMode', { forceBackup: true }]],
  },

  {
    line: 10,
    says: 'layer-4 ports 1000 to 65000 with exclusions',
    rule: rules.layer4Port,
    good: [1000, 65_000, '5000', 60_999, 61_200],
    bad: [
      [999, 'between'],
      [65_001, 'between'],
      [3306, 'portExcluded'],
      [3311, 'portExcluded'],
      [6379, 'portExcluded'],
      [9100, 'portExcluded'],
      [61_000, 'portExcluded'],
      [61_199, 'portExcluded'],
      ['', 'required'],
      ['tcp', 'numeric'],
    ],
  },

  {
    line: 11,
    says: 'blacklist or whitelist regions need at least one field',
    rule: rules.regions,
    good: [{ blacklist: ['TW'] }, { whitelist: ['TW'], blacklist: [] }],
    bad: [
      [{}, 'regionRequired'],
      [{ blacklist: [], whitelist: [] }, 'regionRequired'],
    ],
  },
  { line: 11, says: 'selections are capped at {n}', rule: rules.selection(2), good: [[], [1, 2]], bad: [[[1, 2, 3], 'tooMany']] },

  {
    line: 12,
    says: 'log query limited to one day',
    rule: rules.logQuery,
    good: [
      { value: { startTime: ago(1440), endTime: ago(0) }, context: { now } },
      { value: { startTime: ago(10), endTime: ago(-5) }, context: { now } },
    ],
    bad: [
      [{ startTime: ago(1441), endTime: ago(0) }, 'spanTooLong startTime', { now }],
      [{ startTime: ago(10), endTime: ago(-6) }, 'endInFuture endTime', { now }],
      [{ startTime: ago(0), endTime: ago(10) }, 'startAfterEnd startTime', { now }],
      [{}, ['required startTime', 'required endTime'], { now }],
      [{ startTime: 'yesterday', endTime: ago(0) }, 'wrongFormat startTime', { now }],
    ],
  },
  {
    line: 12,
    says: 'latest data of an export one hour ago',
    rule: rules.logExport,
    good: [{ value: { startTime: ago(1500), endTime: ago(60) }, context: { now } }],
    bad: [
      [{ startTime: ago(90), endTime: ago(59) }, 'endTooRecent endTime', { now }],
      [{ startTime: ago(1501), endTime: ago(60) }, 'spanTooLong startTime', { now }],
    ],
  },
  {
    line: 12,
    says: 'a statistics range is in order',
    rule: rules.timeRange,
    good: [
      { startTime: 1, endTime: 2 },
      { startTime: 0, endTime: 366 * 86_400_000 },
      { startTime: 2, endTime: 3, totalsFrom: 1 },
    ],
    bad: [
      [{ startTime: 2, endTime: 1 }, 'startAfterEnd startTime'],
      [{ startTime: 1, endTime: 2, totalsFrom: 3 }, 'startAfterEnd totalsFrom'],
      [{ startTime: 367 * 86_400_000, endTime: 367 * 86_400_000, totalsFrom: 1 }, 'spanTooLong totalsFrom'],
      [{ startTime: 0, endTime: 366 * 86_400_000 + 1 }, 'spanTooLong startTime'],
    ],
  },
  {
    line: 12,
    says: 'a range in which rows were made is in order',
    rule: rules.dateRanges,
    good: [{}, { createdStart: 2 }, { createdStart: 1, createdEnd: 1, updatedEnd: 1 }],
    bad: [
      [{ createdStart: 2, createdEnd: 1 }, 'startAfterEnd createdStart'],
      [{ updatedStart: 3, updatedEnd: 2 }, 'startAfterEnd updatedStart'],
    ],
  },

  {
    line: 13,
    says: 'monitoring batch input one per line',
    rule: rules.monitorLines,
    good: ['1.1.1.1\nnode.example:9000\n[::1]:80'],
    bad: [
      ['', 'required'],
      ['1.1.1.1 2.2.2.2', 'wrongFormat 0'],
      ['a.example\nb.example:70000', 'wrongFormat 1'],
      ['a\na', 'duplicateValue 1'],
    ],
  },
  {
    line: 13,
    says: 'http remind must start with http:// or {host}',
    rule: rules.remindURL,
    good: ['http://a.example/hook', 'https://a.example'],
    bad: [
      ['', 'required'],
      ['a.example/hook', 'startsWithHost'],
      ['ftp://a.example', 'startsWithHost'],
      ['http://a b', 'wrongFormat'],
    ],
  },

  {
    line: 14,
    says: 'redirect rules per site capped at 3,000',
    rule: rules.redirects,
    good: [caps.redirectRulesPerSiteMax, { value: [1], context: { existing: 2999 } }],
    bad: [
      [3001, 'redirectsExceeded'],
      [[1, 2], 'redirectsExceeded', { existing: 2999 }],
    ],
  },

  {
    line: 15,
    says: 'URL cache purge type is one of the four',
    rule: rules.purgeType,
    good: [1, '4'],
    bad: [
      ['', 'required'],
      [5, 'invalidChoice'],
      ['url', 'invalidChoice'],
    ],
  },
  {
    line: 15,
    says: 'a cache rule names what its type asks for',
    rule: rules.cacheRule,
    good: [
      { type: 'fileType', value: 'jpg, png' },
      { type: 'prefix', value: '/a/' },
      { type: 'regex', value: '^/a' },
      { type: 'site', value: '' },
      {},
    ],
    bad: [
      [{ type: 'fileType', value: '*.jpg' }, 'wrongFormat value'],
      [{ type: 'prefix', value: 'a' }, 'pathOnly value'],
      [{ type: 'prefix', value: '/a/*' }, 'starInSource value'],
      [{ type: 'exact', value: '' }, 'required value'],
      [{ type: 'regex', value: '(' }, 'invalidRegex value'],
      [{ type: 'regex', value: '(?i)^http(s)?:\\/\\/a' }, 'regexWithScheme value'],
      [{ type: 'site', value: '/a' }, 'wrongFormat value'],
    ],
  },
];
