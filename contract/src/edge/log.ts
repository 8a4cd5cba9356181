/**
 * One line of a node's access log: written by nginx, shipped as bytes, parsed once (by ClickHouse).
 *
 * Wire form: TSV, one line per request, the byte 0x1e first, then the columns below in this order, then a newline.
 * nginx's `escape=default` writes control bytes, quotes, backslashes and bytes above 126 as \xHH, so neither a tab, a newline nor
 * 0x1e can occur inside a value: a line torn by a crash is recognised by the next 0x1e. A variable that was never set reads "-",
 * one set to nothing reads "".
 */
import * as z from 'zod/mini';

/** `input` is the ClickHouse type the raw text is read as; `String` where "-", "" or a list like `12, 34 : 56` may stand. */
export interface LogColumn {
  readonly name: string;
  /** nginx variable */
  readonly value: string;
  /** the same at a node that may ask relays: Lua assigns it, which costs each line a little */
  readonly relayed?: string;
  readonly input: 'Float64' | 'String' | 'UInt16' | 'UInt64';
}

export const accessLogColumns = [
  /** epoch seconds with milliseconds */
  { name: 'msec', value: '$msec', input: 'Float64' },
  /** 0, "-" or empty when the host belongs to no site */
  { name: 'site_id', value: '$edge_site', input: 'String' },
  { name: 'domain_id', value: '$edge_domain', input: 'String' },
  { name: 'host', value: '$host', input: 'String' },
  { name: 'method', value: '$request_method', input: 'String' },
  /** as the visitor sent it, with the query */
  { name: 'uri', value: '$request_uri', input: 'String' },
  { name: 'proto', value: '$server_protocol', input: 'String' },
  /** what was refused, where the visitor was sent elsewhere (an error page of type urlRedirect) */
  { name: 'status', value: '$edge_status', input: 'UInt16' },
  /** bytes to the visitor, headers included */
  { name: 'bytes', value: '$bytes_sent', input: 'UInt64' },
  { name: 'ip', value: '$remote_addr', input: 'String' },
  /** HIT, MISS, EXPIRED … ; "-" when the cache was not asked */
  { name: 'cache', value: '$edge_cache', input: 'String' },
  /** one number per origin tried; "-" where a relay had it: no origin was asked */
  { name: 'up_bytes', value: '$upstream_bytes_received', relayed: '$edge_up_bytes', input: 'String' },
  /** seconds, one number per origin tried */
  { name: 'up_time', value: '$upstream_response_time', relayed: '$edge_up_time', input: 'String' },
  /** seconds */
  { name: 'rt', value: '$request_time', input: 'String' },
  { name: 'referer', value: '$http_referer', input: 'String' },
  { name: 'ua', value: '$http_user_agent', input: 'String' },
  /** why a protection refused the request: `cause:ruleID`, else "-" */
  { name: 'reason', value: '$edge_reason', input: 'String' },
  /** our own request id, `epoch-pid-connection-request` (at most 40 characters) */
  { name: 'rid', value: '$edge_rid', input: 'String' },
] as const satisfies readonly LogColumn[];

/** First byte of every line. */
export const lineMark = 0x1e;

/** The nginx directive that writes such lines. In a quoted string nginx itself turns `\t` into a tab. @param isRelayed it may ask relays */
export function accessLogFormat(name: string, isRelayed = false): string {
  const values = accessLogColumns.map(({ value, relayed }: LogColumn) => (isRelayed && relayed) || value);
  return `log_format ${name} escape=default "${String.fromCharCode(lineMark)}${values.join('\\t')}";`;
}

/**
 * How a node ships its log. A log file has an id of its own in its name, and a byte position in it is a line's identity. A message on
 * `log.<nodeID>.access` carries the bytes `[from, to)` of one file, zstd-compressed, cut at line ends.
 */
export const logHeaders = {
  file: 'Log-File',
  from: 'Log-From',
  to: 'Log-To',
  /** the node's clock at sending, epoch milliseconds: its difference to the bus's time corrects lines of a node whose clock is wrong */
  sent: 'Log-Sent',
  /** `bytes`; `hole`: the node had to drop this range; `gone`: the node has nothing of this file any more, all of it was stored before */
  kind: 'Log-Kind',
  /** random, another one for each life of the agent: two that take turns are two machines with one data folder */
  run: 'Log-Run',
} as const;
export type LogKind = 'bytes' | 'hole' | 'gone';
export const logRunID = /^[a-z0-9]{8,32}$/;
export const logFileID = /^[a-z0-9]{12,32}$/;
/** The `<stream>` of `log.<nodeID>.<stream>`. */
export const accessStream = 'access';
/** A message holds at most this many bytes before compression; ingest refuses more. */
export const logRangeMaxBytes = 1 << 20;

const positions = z.record(z.string().check(z.regex(logFileID)), z.int().check(z.gte(0)));
/** `mark.<nodeID>`: by file id, how far each file is stored for good; and where ingest wants it sent again from, since the bus lost some. */
export const LogMark = z.object({ marks: z.optional(positions), rewind: z.optional(positions) });
export type LogMark = z.infer<typeof LogMark>;
