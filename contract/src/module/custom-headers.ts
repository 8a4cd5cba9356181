/** Custom headers: what is set on requests to the origin and on answers to visitors. An empty value takes the header away. */
import * as z from 'zod/mini';
import { moduleOf } from '../kit/module.ts';
import { settingOf } from '../kit/setting.ts';
import { arr, obj, str, text } from '../kit/schema.ts';

/**
 * Headers that say where a message ends, whose it is or what part of it is wanted, and those the edge speaks in itself, are not the
 * customer's to write (RFC 9110 §7.6.1, §7.2, §13, §14). The edge holds the same list (edge/lua/headers/custom.lua).
 */
export const reservedHeaders = {
  both: 'connection keep-alive te trailer transfer-encoding upgrade content-length content-encoding content-range host x-request-id x-cache age http2-settings',
  request:
    'accept-encoding cdn-loop expect if-match if-modified-since if-none-match if-range if-unmodified-since range x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip',
  families: 'proxy- x-edge- x-accel- sec-websocket-',
};
const words = (text: string) => text.split(' ');
const mayWrite = (side: 'request' | 'response', name: string) => {
  const field = name.toLowerCase();
  if (words(reservedHeaders.both).includes(field) || words(reservedHeaders.families).some(start => field.startsWith(start)))
    return false;
  return side === 'response' || !words(reservedHeaders.request).includes(field);
};
const headers = (side: 'request' | 'response') =>
  arr(
    obj({
      name: str(64).check(
        z.regex(/^[!#$%&'*+.^`|~\w-]+$/),
        z.refine(name => mayWrite(side, name)),
      ),
      /** printable ASCII of one line; what a domain's document has room for */
      value: text(500).check(z.regex(/^[ -~]*$/)),
    }),
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
});
export const customHeaderCalls = customHeader.calls;

/** The same of one domain alone, beside what its module sets. */
export const domainHeaders = settingOf({
  name: 'customHeaders',
  fields: customHeaderFields,
  defaults: { request: [], response: [] },
  levels: {
    domain: {
      base: '/{area}/site/{siteID}/domain/{domainID}',
      path: '/customHeaders',
      areas: ['user', 'client'],
      resource: 'domains',
    },
  },
  edge: 'domain',
});
export const domainHeaderCalls = domainHeaders.calls.domain;
