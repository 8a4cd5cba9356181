import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'page.cors': 'CORS',
  'page.customHeaders': 'Custom headers',
  'page.domainHeaders': 'Headers of this domain',
  'page.proxyRewrites': 'Origin rewrites',

  'noun.cors': 'CORS module',
  'noun.customHeaders': 'header module',
  'noun.proxyRewrites': 'rewrite module',

  'empty.cors': 'Add one, then give it to domains in the list of domains.',
  'empty.customHeaders': 'Add one, then give it to domains in the list of domains.',
  'empty.proxyRewrites': 'Add one, then give it to domains in the list of domains.',

  'tab.cors': 'CORS',
  'tab.customHeaders': 'Custom headers',
  'tab.proxyRewrites': 'Origin rewrites',

  'field.cors': 'CORS',
  'field.customHeaders': 'Custom headers',
  'field.proxyRewrites': 'Origin rewrites',
  'field.corsID': 'CORS',
  'field.moduleID': 'Module',
  'field.allowOrigin': 'Allowed origin',
  'field.allowMethods': 'Allowed methods',
  'field.allowHeaders': 'Allowed request headers',
  'field.exposeHeaders': 'Readable response headers',
  'field.allowCredentials': 'Allow cookies',
  'field.maxAge': 'Max age (s)',
  'field.headerName': 'Name',
  'field.headerValue': 'Value',
  'field.request': 'To the origin',
  'field.response': 'To visitors',
  'field.rules': 'Rules',
  'field.matchType': 'Match',
  'field.source': "Visitor's path",
  'field.target': 'Path at the origin',

  'help.allowOrigin':
    '* for every origin, or one, for example https://www.example.com; https://*.example.com is every origin below it.',
  'help.allowCredentials': 'Not together with the origin *.',
  'help.requestHeaders': "The same for every visitor, in place of the visitor's own. An empty value takes the header away.",
  'help.responseHeaders':
    "In place of the origin's; Set-Cookie and Vary are added to. An empty value takes the header away, except Vary. Date, ETag, Last-Modified and Accept-Ranges stay the origin's: conditional and partial requests are answered by them.",
  'help.rewriteRules':
    "The first rule that matches counts; the visitor's query stays. Prefix: its part of the path is replaced; it ends where a segment does, so /a is /a and /a/b, not /about. Exact and regular expression: the whole path is, with $1 to $9 for what the brackets found. Cache and purges go by the visitor's URL; purge what was cached before you changed a rule.",

  'action.cors': 'CORS',
  'action.customHeaders': 'Custom headers',
  'action.proxyRewrites': 'Origin rewrites',
  'action.domainHeaders': 'Headers of this domain',
  'action.addHeader': 'Add a header',
  'action.addRewrite': 'Add a rule',

  'matchType.prefix': 'Prefix',
  'matchType.exact': 'Exact',
  'matchType.advanced': 'Regular expression',

  'page.urlRedirects': 'URL redirects',
  'page.redirects': 'Redirects',
  'noun.urlRedirects': 'redirect module',
  'noun.redirects': 'redirect',
  'empty.urlRedirects': 'Add one, fill it with redirects, then give it to domains in the list of domains.',
  'empty.redirects': 'Add redirects one by one, or paste many at once.',
  'tab.urlRedirects': 'URL redirects',
  'field.urlRedirects': 'URL redirects',
  'field.redirectCount': 'Redirects',
  'field.redirectTarget': 'Target',
  'field.statusCode': 'Status',
  'field.keepQuery': 'Keep query',
  'field.redirectLines': 'One redirect a line',
  'field.items': 'Redirects',
  'help.redirectSource':
    'Exact: a path, with a query perhaps. Prefix: a path and everything below it. Regular expression: on the path, or on path?query. Exact ones come first, then the longest prefix, then expressions in the order they were made.',
  'help.redirectTarget':
    'A path, or an address with http:// or https://. Prefix: what stands behind the prefix is added. Regular expression: $1 to $9 are what its brackets found.',
  'help.redirectStatus':
    '301 and 308 are permanent, 302 and 307 temporary; 307 and 308 keep the method. Browsers keep a permanent one for an hour.',
  'help.keepQuery': "The visitor's query is put behind the target's.",
  'help.redirectLines':
    'Source, target and status: /old /new 301, with blanks or commas between them. A source ending in * is a prefix, one beginning with ~ a regular expression; noquery at the end drops the query.',
  'action.urlRedirects': 'URL redirects',
  'redirect.paste': 'Paste many',
  'redirect.back': 'All redirect modules',
  'redirect.try': 'Try',
  'redirect.tryHint': '/path?query or a whole address',
  'redirect.stopped':
    'Stopped: there was no answer after 1 second. Look at the expressions of this module, for example for a repetition within a repetition.',
  'redirect.none': 'No redirect of this module matches.',
  'redirect.loop': '{source} matches, but {location} would never end: visitors are not redirected.',
  'redirect.tooLong': '{source} matches, but its target would have more than {max} bytes: visitors are not redirected.',
  'redirect.found': '{source} matches: {status} to {location}',

  'action.copyToSites': 'Copy to other sites…',
  'copy.title': 'Copy “{name}” to other sites',
  'copy.own': 'this very site',
  'copy.failed': 'Copy Failed !',
  'copy.begun': 'Copying has begun',
  'field.overwrite': 'Overwrite modules of the same name',
  'help.overwriteModule':
    'Where a site has a module of this type and name, its settings and contents are replaced by this one; else that site is left as it is. Assignments to domains are not copied.',

  'action.assignDomains': 'Assign to domains…',
  'field.domainIDs': 'Domains',
  'help.assignDomains':
    'The chosen domains get this module in place of the one of its type they have now; others stay as they are.',
  'module.assignFailed': 'Assign Failed !',
  'module.assign': '{name}: assign to domains',
} satisfies SameAs<typeof texts>;
