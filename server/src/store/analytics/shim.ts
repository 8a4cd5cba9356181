/**
 * ClickHouse's HTTP form over embedded chDB: enough of it that a client cannot tell the two apart.
 * Settings and parameters of a request hold for its statement alone (chDB's own client hook turns settings into SET on the session,
 * where a deduplication token leaks into other inserts). Bodies of inserts stay bytes: they go to a file in memory and are read
 * by file(), which costs chDB less than half of its buffer insert.
 */
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { timingSafeEqual } from 'node:crypto';
import zlib from 'node:zlib';
import type { Session } from 'chdb';
import { freeze, Gate, unfreeze } from './freeze.ts';

export interface ShimOptions {
  /** a session whose current database is the one named */
  session: (database: string) => Session;
  /** empty: none asked */
  password: string;
  /** the data folder, where it may be frozen for a backup: `POST /freeze?name=…`, `POST /unfreeze?name=…` */
  data?: string;
  /** largest body of one insert, bytes */
  maxBody?: number;
}

/** Parameters of the HTTP interface itself; everything else in the address is a setting. */
const ours = new Set(
  (
    'query database query_id session_id session_timeout session_check user password compress decompress role default_format wait_end_of_query ' +
    'enable_http_compression buffer_size client_protocol_version send_progress_in_http_headers http_headers_progress_interval_ms ' +
    'cancel_http_readonly_queries_on_client_close'
  ).split(' '),
);

class HttpError extends Error {
  readonly status: number;
  readonly code: number;
  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

function settingsClause(params: URLSearchParams): string {
  const parts: string[] = [];
  for (const [name, value] of params) {
    if (ours.has(name) || name.startsWith('param_')) continue;
    if (!/^\w{1,100}$/.test(name)) throw new HttpError(400, 36, `not a setting name: ${name.slice(0, 100)}`);
    parts.push(`${name}=${/^\d{1,18}$/.test(value) ? value : `'${value.replace(/[\\']/g, '\\$&')}'`}`);
  }
  return parts.length ? ` SETTINGS ${parts.join(', ')}` : '';
}

/** The HTTP form escapes a parameter as TSV does; chDB's binding takes the plain text and escapes again. */
const unescapes: Record<string, string> = { t: '\t', n: '\n', r: '\r', 0: '\0', b: '\b', f: '\f' };
const unescape = (text: string) => text.replace(/\\([\s\S])/g, (_, c: string) => unescapes[c] ?? c);

/** `[1,2]` or `['a','b']` as chDB's binding wants it; the escapes inside are the literal's own. */
const elements = (literal: string) =>
  Array.from(literal.matchAll(/'((?:[^'\\]|\\[\s\S])*)'|-?\d+(?:\.\d+)?/g), m =>
    m[1] !== undefined ? unescape(m[1]) : m[0].includes('.') ? Number(m[0]) : BigInt(m[0]),
  );

function bindings(params: URLSearchParams, sql: string): Record<string, unknown> | undefined {
  const found: Record<string, unknown> = {};
  for (const [name, value] of params) {
    if (!name.startsWith('param_')) continue;
    const key = name.slice(6);
    if (!/^\w{1,100}$/.test(key)) throw new HttpError(400, 36, `not a parameter name: ${key.slice(0, 100)}`);
    found[key] = new RegExp(`\\{\\s*${key}\\s*:\\s*Array\\b`).test(sql) ? elements(value) : unescape(value);
  }
  return Object.keys(found).length ? found : undefined;
}

/** The fields of a form, as ClickHouse takes a query and its parameters in a body. */
function formFields(body: Buffer, boundary: string): Map<string, string> {
  const fields = new Map<string, string>();
  const mark = Buffer.from(`--${boundary}`);
  let at = body.indexOf(mark);
  while (at >= 0) {
    const start = at + mark.length + 2;
    const next = body.indexOf(mark, start);
    if (next < 0) break;
    const head = body.indexOf('\r\n\r\n', start);
    const name = /name="([^"]*)"/i.exec(body.subarray(start, head).toString('latin1'))?.[1];
    if (head < 0 || head > next || name === undefined) throw new HttpError(400, 36, 'not a form: a field has no name');
    fields.set(name, body.subarray(head + 4, next - 2).toString('utf8'));
    at = next;
  }
  return fields;
}

const tmpfs = fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();

export function createShim({ session, password, data, maxBody = 1 << 29 }: ShimOptions): http.Server {
  let serial = 0;
  /** inserts hold it together; who freezes holds it alone */
  const gate = new Gate();

  function allowed(request: http.IncomingMessage, params: URLSearchParams): boolean {
    if (!password) return true;
    const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const given =
      request.headers['x-clickhouse-key'] ??
      (basic
        ? Buffer.from(basic, 'base64')
            .toString()
            .replace(/^[^:]*:/, '')
        : params.get('password')) ??
      '';
    const a = Buffer.from(String(given));
    const b = Buffer.from(password);
    return a.length === b.length && timingSafeEqual(a, b);
  }

  /** Body of a request into memory (a statement) or a file (rows). Writes are synchronous: the target is memory, and queries hold the thread pool. */
  async function receive(request: http.IncomingMessage, write: (part: Buffer) => void) {
    let stream: AsyncIterable<Buffer> = request;
    if (request.headers['content-encoding'] === 'gzip') stream = request.pipe(zlib.createGunzip());
    let size = 0;
    for await (const part of stream) {
      size += part.length;
      if (size > maxBody) throw new HttpError(413, 307, `the body is larger than ${maxBody} bytes`);
      write(part);
    }
    return size;
  }

  async function answer(request: http.IncomingMessage): Promise<Uint8Array> {
    const url = new URL(request.url ?? '/', 'http://store');
    const params = url.searchParams;
    if (url.pathname === '/ping') return Buffer.from('Ok.\n');
    if (!allowed(request, params))
      throw new HttpError(
        403,
        516,
        'Code: 516. DB::Exception: Authentication failed: the password is wrong. (AUTHENTICATION_FAILED)',
      );
    const frozen = /^\/(un)?freeze$/.exec(url.pathname);
    if (frozen) {
      const name = params.get('name') ?? '';
      if (!data || request.method !== 'POST' || !/^\w{1,64}$/.test(name)) throw new HttpError(400, 36, 'nothing to freeze');
      const ask = async (sql: string) => (await session('default').queryAsync(sql, { format: 'TabSeparatedRaw' })).text();
      await (frozen[1] ? unfreeze(data, name) : gate.alone(() => freeze({ data, name, ask })));
      return Buffer.from('Ok.\n');
    }
    const settings = settingsClause(params);
    const format = params.get('default_format') ?? 'TabSeparated';
    const queryText = params.get('query') ?? '';
    const insert = /^\s*insert\s+into\s+(?:table\s+)?([\w.`"]+\s*(?:\([^)]*\))?)\s*format\s+(\w+)\s*$/i.exec(queryText);
    if (insert) {
      // Without a name from the start, so that a kill leaves nothing behind in memory.
      const file = path.join(tmpfs, `breakwater-insert-${process.pid}-${++serial}`);
      const fd = fs.openSync(file, 'wx+', 0o600);
      fs.unlinkSync(file);
      try {
        const size = await receive(request, part => fs.writeSync(fd, part));
        if (size > 0)
          await gate.shared(() =>
            session(params.get('database') ?? 'default').queryAsync(
              `INSERT INTO ${insert[1]}${settings} SELECT * FROM file('/proc/self/fd/${fd}', '${insert[2]}')`,
            ),
          );
      } finally {
        fs.closeSync(fd);
      }
      return new Uint8Array();
    }
    const parts: Buffer[] = queryText ? [Buffer.from(`${queryText}\n`)] : [];
    await receive(request, part => parts.push(part));
    const body = Buffer.concat(parts);
    const boundary = /^multipart\/form-data;\s*boundary="?([^";]+)"?/i.exec(request.headers['content-type'] ?? '')?.[1];
    let sql: string;
    if (boundary) {
      const fields = formFields(body, boundary);
      sql = queryText + (fields.get('query') ?? '');
      for (const [name, value] of fields) if (name.startsWith('param_')) params.set(name, value);
    } else sql = body.toString('utf8');
    sql = sql.trim();
    if (/^(select|with|insert)\b/i.test(sql)) sql += `\n${settings}`;
    const on = session(params.get('database') ?? 'default');
    const values = bindings(params, sql);
    const run = () => (values ? on.queryBindAsync(sql, values, { format }) : on.queryAsync(sql, { format }));
    const result = await (/^(select|with|show|describe|exists)\b/i.test(sql) ? run() : gate.shared(run));
    return result.bytes();
  }

  const server = http.createServer((request, response) => {
    answer(request).then(
      bytes => {
        response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': bytes.length });
        response.end(bytes);
      },
      (error: Error) => {
        const text = error.message;
        const status = error instanceof HttpError ? error.status : /^Code: (47|60|62|46|81)\b/.test(text) ? 404 : 500;
        const code = error instanceof HttpError ? error.code : Number(/Code: (\d+)/.exec(text)?.[1] ?? 1002);
        if (!request.complete) response.shouldKeepAlive = false;
        response.writeHead(status, { 'X-ClickHouse-Exception-Code': String(code), 'Content-Type': 'text/plain; charset=utf-8' });
        response.end(`${text}\n`);
      },
    );
  });
  server.requestTimeout = 0;
  server.keepAliveTimeout = 60_000;
  return server;
}
