/** Samples for bullets 1 to 6 of §5: generic inputs, lists, non-empty fields, frequencies, ports and names. */
import * as rules from '#contract/rules.ts';
import type { Line } from './sample.ts';

export const linesOneToSix: Line[] = [
  {
    line: 1,
    says: 'empty input is required',
    rule: rules.required,
    good: ['a', 0, false, ['x']],
    bad: [
      ['', 'required'],
      ['  ', 'required'],
      [null, 'required'],
      [undefined, 'required'],
      [[], 'required'],
    ],
  },
  {
    line: 1,
    says: 'input with a space is wrongFormat',
    rule: rules.word,
    good: ['abc', '站點'],
    bad: [
      ['', 'required'],
      ['a b', 'wrongFormat'],
      [' a', 'wrongFormat'],
      ['a\u3000b', 'wrongFormat'],
    ],
  },

  {
    line: 2,
    says: 'one per line, blank allowed, each a valid URL',
    rule: rules.whitelistURLLines,
    good: ['', 'https://a.example/x?y=1', 'http://a.example\n\nhttps://b.example:8443/\n'],
    bad: [
      ['a.example', 'wrongFormat 0'],
      ['http://a.example\nhttp://', 'wrongFormat 1'],
      ['http://a b.example', 'wrongFormat 0'],
      ['http://a.example\n\nftp://b.example', 'wrongFormat 2'],
    ],
  },
  {
    line: 2,
    says: 'the same for a list',
    rule: rules.whitelistURLs,
    good: [[], ['https://a.example/']],
    bad: [[['javascript:alert(1)'], 'wrongFormat 0']],
  },

  {
    line: 3,
    says: 'each an IP, a CIDR or a range of exactly two IPs',
    rule: rules.ipLines,
    good: ['1.2.3.4', '10.0.0.0/8\n2001:db8::/32\r\n1.1.1.1-1.1.1.9', '::1', '2001:db8::1-2001:db8::ff', '1.1.1.1 - 1.1.1.2'],
    bad: [
      ['1.2.3', 'wrongFormat 0'],
      ['1.2.3.4\n1.2.3.256', 'wrongFormat 1'],
      ['01.2.3.4', 'wrongFormat 0'],
      ['1.1.1.1-1.1.1.2-1.1.1.3', 'wrongFormat 0'],
      ['1.1.1.1-::1', 'wrongFormat 0'],
      ['1.1.1.9-1.1.1.1', 'wrongFormat 0'],
      ['10.0.0.0/33', 'wrongFormat 0'],
      ['10.0.0.0/', 'wrongFormat 0'],
      [':::', 'wrongFormat 0'],
      ['1::2::3', 'wrongFormat 0'],
      ['fe80::1%eth0', 'wrongFormat 0'],
      ['example.com', 'wrongFormat 0'],
    ],
  },
  {
    line: 3,
    says: 'ips required, no duplicates, in whatever spelling',
    rule: rules.ips,
    good: [['1.1.1.1', '1.1.1.2']],
    bad: [
      [[], 'required'],
      [null, 'required'],
      [['1.1.1.1', '1.1.1.1'], 'duplicateIP 1'],
      [['::1', '0:0:0:0:0:0:0:1'], 'duplicateIP 1'],
      [['10.0.0.0/31', '10.0.0.0-10.0.0.1'], 'duplicateIP 1'],
      [
        ['x', '1.1.1.1', '1.1.1.1'],
        ['wrongFormat 0', 'duplicateIP 2'],
      ],
    ],
  },

  { line: 4, says: 'url not empty', rule: rules.url, good: ['/a'], bad: [['', 'required']] },
  {
    line: 4,
    says: 'urls not empty',
    rule: rules.urls,
    good: ['/a', ['/a']],
    bad: [
      ['', 'required'],
      [[], 'required'],
    ],
  },
  { line: 4, says: 'custom not empty', rule: rules.custom, good: ['x'], bad: [['', 'required']] },
  {
    line: 4,
    says: 'urlRegex not empty, and a pattern both PCRE and forms can read',
    rule: rules.urlRegex,
    good: ['^/a', '(?i)\\.php$', '(?>ab)++c', '(?P<x>a)', '[\\w.-]+', '(?<!a)b', '^/go\\?to=https?://'],
    bad: [
      ['', 'required'],
      ['(', 'invalidRegex'],
      ['a{2,1}', 'invalidRegex'],
      ['[]', 'invalidRegex'],
      ['\\u0041', 'regexUnreadable'],
      ['(?<=a+)b', 'regexUnreadable'],
      ['(?:a?){0,4000}n1', 'regexTooLarge'],
      ['[[:foo:]]', 'regexUnreadable'],
      ['*a', 'invalidRegex'],
      ['a\nb', 'invalidRegex'],
      ['^https?://shop.test/a', 'regexWithScheme'],
      ['^http:\\/\\/shop', 'regexWithScheme'],
      ...['http://a', '^(https?)://', '^(?:http|https)://a', '(?i)^HTTPS://a', '^http(s)?://'].map(
        one => [one, 'regexWithScheme'] as [string, string],
      ),
    ],
  },
  {
    line: 4,
    says: 'userAgentRegex not empty',
    rule: rules.userAgentRegex,
    good: ['curl|wget'],
    bad: [
      ['', 'required'],
      ['[a', 'invalidRegex'],
    ],
  },
  {
    line: 4,
    says: 'both patterns of a user-agent rule',
    rule: rules.userAgent,
    good: [{ urlRegex: '.', userAgentRegex: 'bot' }],
    bad: [[{ urlRegex: '', userAgentRegex: '(' }, ['required urlRegex', 'invalidRegex userAgentRegex']]],
  },
  { line: 4, says: 'second not null', rule: rules.second, good: [0, 5], bad: [[null, 'required']] },
  { line: 4, says: 'request not null', rule: rules.request, good: [0, 5], bad: [[undefined, 'required']] },
  {
    line: 4,
    says: 'geoIDs a non-empty array',
    rule: rules.geoIDs,
    good: [[1]],
    bad: [
      [[], 'required'],
      [null, 'required'],
      ['AS', 'required'],
    ],
  },
  {
    line: 4,
    says: 'methodValues at least one',
    rule: rules.methodValues,
    good: [['GET']],
    bad: [
      [[], 'methodRequired'],
      [undefined, 'methodRequired'],
    ],
  },

  {
    line: 5,
    says: 'seconds and times greater than 0, type required',
    rule: rules.frequency,
    good: [{ seconds: 10, times: 1, type: 'ip' }],
    bad: [
      [{ seconds: 0, times: -1, type: '' }, ['greaterThan seconds', 'greaterThan times', 'required type']],
      [{}, ['required seconds', 'required times', 'required type']],
      [{ seconds: 'x', times: 1, type: 'ip' }, 'numeric seconds'],
    ],
  },
  {
    line: 5,
    says: 'count fields required only when enabled',
    rule: rules.requiredWhenEnabled('count'),
    good: [{ enabled: false }, { enabled: true, count: 3 }],
    bad: [
      [{ enabled: true }, 'required count'],
      [{ enabled: true, count: 0 }, 'greaterThan count'],
    ],
  },

  {
    line: 6,
    says: 'port required and numeric',
    rule: rules.port,
    good: [80, '443', 65_535],
    bad: [
      ['', 'required'],
      [null, 'required'],
      ['http', 'numeric'],
      [80.5, 'numeric'],
      ['0x50', 'numeric'],
      [0, 'between'],
      [65_536, 'between'],
    ],
  },
  {
    line: 6,
    says: 'English letters, digits and hyphen; default is forbidden',
    rule: rules.name,
    good: ['zone-1', 'A', 'defaults'],
    bad: [
      ['', 'required'],
      ['區域', 'nameFormat'],
      ['a b', 'nameFormat'],
      ['a_b', 'nameFormat'],
      ['default', 'nameForbidden'],
      ['Default', 'nameForbidden'],
      ['a\n', 'nameFormat'],
    ],
  },
];
