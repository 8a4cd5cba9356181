/** One line of the access log in words, and as others can use it. Pure. */
import { blockReasons } from '#contract/limits.ts';
import type { RowOf } from '../kit/client.ts';

export type LogLine = RowOf<'POST /{area}/logs/access'>;

const causes = new Map<number, string>(Object.entries(blockReasons).map(([name, number]) => [number, name]));
/** Name of the cause of a block; undefined when nothing was blocked, the number itself for one that a newer node knows. */
export const causeOf = ({ reason }: Pick<LogLine, 'reason'>): string | undefined =>
  reason === 0 ? undefined : (causes.get(reason) ?? String(reason));

/** What the line shows of the cache; `-` when it was not asked. */
export const cacheOf = ({ cacheStatus }: Pick<LogLine, 'cacheStatus'>) => cacheStatus || '-';

/** HTTP/2 and later are only spoken over TLS. Nothing else in the line tells the scheme. */
export const urlOf = ({ protocol, domain, uri }: Pick<LogLine, 'protocol' | 'domain' | 'uri'>) =>
  `${/^HTTP\/[23]/.test(protocol) ? 'https' : 'http'}://${domain}${uri.startsWith('/') ? uri : `/${uri}`}`;

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The request again, for a shell. A body was never logged, so there is none. */
export function curlOf(line: LogLine): string {
  const method =
    line.method === 'HEAD'
      ? ['-I']
      : line.method === 'GET'
        ? ['-i']
        : ['-i', '-X', /^[A-Z]+$/.test(line.method) ? line.method : quoted(line.method)];
  const headers = [
    ['User-Agent', line.userAgent],
    ['Referer', line.referer],
  ].flatMap(([name, value]) => (value && value !== '-' ? ['-H', quoted(`${name}: ${value}`)] : []));
  return ['curl', ...method, quoted(urlOf(line)), ...headers].join(' ');
}

/** Lines have no number of their own, and a line without a request id may stand beside another. */
export const keyOf = (line: LogLine) => `${line.requestID} ${line.time}`;

const two = (value: number) => String(value).padStart(2, '0');
/** `16:05:09.123`: lines come many a second. */
export function clockOf(time: string): string {
  const date = new Date(time);
  const millis = String(date.getMilliseconds()).padStart(3, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${millis}`;
}
