/** Custom headers: what is set on requests to the origin and on answers to visitors. An empty value takes the header away. */
import * as z from 'zod/mini';
import { moduleOf } from '../kit/module.ts';
import { broken } from '../rules/rule.ts';
import { zodRule } from '../rules/zod.ts';
import { at, settingOf } from '../kit/setting.ts';
import { arr, obj, str, text } from '../kit/schema.ts';

/**
 * Headers that say where a message ends, whose it is or what part of it is wanted, and those the edge speaks in itself, are not the
 * customer's to write (RFC 9110 §7.6.1, §7.2, §13, §14). Nor are the date, the validators and the ranges of an answer: the edge answers
 * conditions and ranges by those the origin gave. `_` counts as `-`, as nginx reads names. The edge holds the same list
 * (edge/lua/headers/custom.lua).
 */
export const reservedHeaders = {
  both: 'connection keep-alive te trailer transfer-encoding upgrade content-length content-encoding content-range host x-request-id x-cache age http2-settings',
  request:
    'accept-encoding cdn-loop expect if-match if-modified-since if-none-match if-range if-unmodified-since range x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip',
  response: 'accept-ranges date etag last-modified',
  families: 'proxy- x-edge- x-accel- sec-websocket-',
};
const words = (text: string) => text.split(' ');
const mayWrite = (side: 'request' | 'response', name: string) => {
  const field = name.toLowerCase().replaceAll('_', '-');
  if (words(reservedHeaders.both).includes(field) || words(reservedHeaders.families).some(start => field.startsWith(start)))
    return false;
  return !words(reservedHeaders[side]).includes(field);
};
/** What an answer varies by may be added to, not taken away: caches behind the edge go by it, and it says so of what it compresses. */
const leavesVary = (side: 'request' | 'response', { name, value }: { name: string; value: string }) =>
  side === 'request' || name.toLowerCase() !== 'vary' || value !== '';
const headers = (side: 'request' | 'response') =>
  arr(
    obj({
      name: str(64).check(
        z.regex(/^[!#$%&'*+.^`|~\w-]+$/),
        zodRule({
          name: 'headerReserved',
          check: (name: string) => (mayWrite(side, name) ? true : broken('headerReserved', { name })),
        }),
      ),
      /** printable ASCII of one line; what a domain's document has room for */
      value: text(500).check(z.regex(/^[ -~]*$/)),
    }).check(z.refine(row => leavesVary(side, row), { path: ['value'] })),
    20,
  );
export const customHeaderFields = { request: headers('request'), response: headers('response') };

export const customHeader = moduleOf({
  type: 'customHeader',
  resource: 'modules',
  list: '/module/customHeaders',
  one: '/module/customHeader/{moduleID}',
  assign: '/domains/module/customHeader',
  idField: 'moduleID',
  items: 'modules',
  fields: customHeaderFields,
  defaults: { request: [], response: [] },
});

/** The same of one domain alone, beside what its module sets. */
export const domainHeaders = settingOf({
  name: 'customHeaders',
  fields: customHeaderFields,
  defaults: { request: [], response: [] },
  levels: { domain: { ...at.domain, path: '/customHeaders' } },
  edge: 'domain',
});
