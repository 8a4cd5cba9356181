/**
 * The one way to the analytics store, over ClickHouse's HTTP form: the embedded store process (store.ts) and a ClickHouse server are
 * reached by the same code. Values travel as query parameters (`{name:Type}` in the text) in the body, so that their number is not
 * bounded by the length of an address; settings travel with each statement.
 */
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { settingOf } from '#host/secrets.ts';

export interface AnalyticsOptions {
  /** `http://127.0.0.1:8123`; user, password and database may stand in it (`http://u:p@host:8123/database`) */
  url: string;
  user?: string | undefined;
  password?: string | undefined;
  /** default `breakwater` */
  database?: string | undefined;
  /** name of a ClickHouse cluster: tables become Replicated… and DDL runs ON CLUSTER */
  cluster?: string | undefined;
}

/** How long a question may take: the store gives up first and says so, then we do. */
const queryLimitSeconds = 25;
const queryLimitMs = 30_000;
/** DDL and nightly lists may take their time, but nobody waits for ever. */
const statementLimitMs = 600_000;
/** Whose loop stands still for so long is started again. */
export const ingestLoopMs = 120_000;
/** So an insert is given up and repeated before that: a repeat changes nothing where it had arrived. */
export const insertLimitMs = 90_000;

export type QueryValue = string | number | boolean | readonly (string | number)[];
export type Settings = Record<string, string | number>;

/** An error the store answered (`code` is ClickHouse's), or 0 when it could not be reached. */
export class AnalyticsError extends Error {
  readonly code: number;
  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AnalyticsError';
    this.code = code;
  }
}

export interface Analytics {
  readonly database: string;
  readonly cluster: string | undefined;
  /** Rows of a SELECT. 64-bit integers come as numbers: exact below 2^53 (9 petabytes). */
  query<T>(sql: string, values?: Record<string, QueryValue>, settings?: Settings): Promise<T[]>;
  /** DDL, INSERT … SELECT: no answer. */
  command(sql: string, values?: Record<string, QueryValue>, settings?: Settings, database?: string): Promise<void>;
  /** Sends bytes as they are. `into` is `table` or `table (columns)`. */
  insert(into: string, format: string, body: Buffer | readonly Buffer[], settings?: Settings): Promise<void>;
  ping(): Promise<boolean>;
  close(): void;
}

interface SendOptions {
  limitMs?: number;
  contentType?: string;
}

/** A parameter's text as ClickHouse reads it: escaped like TSV; arrays as literals. */
function parameter(value: QueryValue): string {
  if (typeof value === 'string') return escape(value);
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'number') return String(value);
  return `[${value.map(v => (typeof v === 'number' ? String(v) : `'${escape(v).replaceAll("'", "\\'")}'`)).join(',')}]`;
}
const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\0': '\\0' };
const escape = (text: string) => text.replace(/[\\\t\n\r\0]/g, c => escapes[c]!);

export function analytics(options: AnalyticsOptions): Analytics {
  const url = new URL(options.url);
  const secure = url.protocol === 'https:';
  const agent = new (secure ? https : http).Agent({ keepAlive: true, maxSockets: 32 });
  const user = options.user ?? (decodeURIComponent(url.username) || 'default');
  const password = options.password ?? decodeURIComponent(url.password);
  const database = options.database ?? (url.pathname.slice(1) || 'breakwater');
  if (!/^\w+$/.test(database)) throw new Error(`not a database name: ${database}`);
  const headers = { 'X-ClickHouse-User': user, ...(password ? { 'X-ClickHouse-Key': password } : {}) };

  function send(search: URLSearchParams, body: readonly Buffer[], options: SendOptions = {}): Promise<Buffer> {
    const { limitMs = statementLimitMs, contentType } = options;
    return new Promise((resolve, reject) => {
      const unreachable = (error: Error) =>
        reject(new AnalyticsError(0, `analytics store at ${url.host}: ${error.message}`, { cause: error }));
      const length = body.reduce((sum, part) => sum + part.length, 0);
      const request = (secure ? https : http).request(
        {
          agent,
          host: url.hostname,
          port: url.port || (secure ? 8443 : 8123),
          method: 'POST',
          path: `/?${search}`,
          headers: { ...headers, ...(contentType ? { 'Content-Type': contentType } : {}), 'Content-Length': length },
        },
        response => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('error', unreachable);
          response.on('end', () => {
            const answer = Buffer.concat(parts);
            if (response.statusCode === 200 && !response.headers['x-clickhouse-exception-code']) return resolve(answer);
            const text = answer.toString('utf8').trim();
            const code = Number(response.headers['x-clickhouse-exception-code'] ?? /Code: (\d+)/.exec(text)?.[1] ?? -1);
            reject(new AnalyticsError(code, text.slice(0, 2000) || `HTTP ${response.statusCode}`));
          });
          response.on('aborted', () => unreachable(new Error('connection lost in mid-answer')));
        },
      );
      const timer = setTimeout(() => request.destroy(new Error(`no answer in ${limitMs / 1000} s`)), limitMs);
      request.on('close', () => clearTimeout(timer));
      request.on('error', unreachable);
      for (const part of body) request.write(part);
      request.end();
    });
  }

  function search(settings: Settings | undefined, into = database) {
    const params = new URLSearchParams({ database: into });
    for (const [name, value] of Object.entries(settings ?? {})) params.set(name, String(value));
    return params;
  }

  /** A statement with its values as fields of a form; without values as it is. */
  function ask(sql: string, values: Record<string, QueryValue> = {}, params: URLSearchParams, limitMs: number) {
    const fields = Object.entries(values).map(([name, value]) => [`param_${name}`, parameter(value)]);
    if (fields.length === 0) return send(params, [Buffer.from(sql)], { limitMs });
    // random, so that no value can hold it
    const boundary = randomBytes(24).toString('hex');
    const parts = [['query', sql], ...fields].map(
      ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const body = [Buffer.from(`${parts.join('')}--${boundary}--\r\n`)];
    return send(params, body, { limitMs, contentType: `multipart/form-data; boundary=${boundary}` });
  }

  return {
    database,
    cluster: options.cluster,
    async query<T>(sql: string, values?: Record<string, QueryValue>, settings?: Settings) {
      const params = search({
        output_format_json_quote_64bit_integers: 0,
        max_execution_time: queryLimitSeconds,
        // an error in mid-answer must be an error, not half an answer
        wait_end_of_query: 1,
        ...settings,
      });
      const answer = await ask(`${sql}\nFORMAT JSONEachRow`, values, params, queryLimitMs);
      const text = answer.toString('utf8').trimEnd();
      return text === '' ? [] : (JSON.parse(`[${text.replaceAll('\n', ',')}]`) as T[]);
    },
    async command(sql, values, settings, into) {
      await ask(sql, values, search(settings, into), statementLimitMs);
    },
    async insert(into, format, body, settings) {
      const params = search(settings);
      params.set('query', `INSERT INTO ${into} FORMAT ${format}`);
      await send(params, Buffer.isBuffer(body) ? [body] : (body as readonly Buffer[]), { limitMs: insertLimitMs });
    },
    async ping() {
      try {
        await send(new URLSearchParams({ query: 'SELECT 1' }), [], { limitMs: 5000 });
        return true;
      } catch {
        return false;
      }
    },
    close: () => agent.destroy(),
  };
}

/** What CLICKHOUSE_URL, CLICKHOUSE_USER, CLICKHOUSE_PASSWORD, CLICKHOUSE_DATABASE, CLICKHOUSE_CLUSTER say; the URL's own parts go first. */
export function analyticsOptions(env: NodeJS.ProcessEnv): AnalyticsOptions | undefined {
  const address = settingOf('CLICKHOUSE_URL', env);
  if (!address) return undefined;
  const url = new URL(address);
  return {
    url: url.href,
    user: decodeURIComponent(url.username) || env.CLICKHOUSE_USER,
    password: decodeURIComponent(url.password) || settingOf('CLICKHOUSE_PASSWORD', env),
    database: url.pathname.slice(1) || env.CLICKHOUSE_DATABASE,
    cluster: env.CLICKHOUSE_CLUSTER,
  };
}

export function analyticsFromEnvironment(env: NodeJS.ProcessEnv = process.env): Analytics {
  const options = analyticsOptions(env);
  if (!options)
    throw new Error('CLICKHOUSE_URL is not set: give the address of the analytics store, for example http://127.0.0.1:8123');
  return analytics(options);
}
