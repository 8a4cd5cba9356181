/**
 * How the console talks to the API (§7, §4 Session refresh). Knows no React and no domain word; what it needs of the browser is handed in.
 */
import { startCodes } from '#contract/errors/codes-start.ts';
import { transport as limits } from '#contract/limits-start.ts';
import type { Area } from './area.ts';
import type { Credentials, CredentialStore } from './credentials.ts';

/** What the API answers instead of an answer; code 0: no answer came at all. */
export class ApiError extends Error {
  readonly code: number;
  readonly status: number;
  readonly errorData: unknown;
  readonly extra: unknown;
  constructor(fields: { code: number; message: string; status?: number; errorData?: unknown; extra?: unknown }) {
    super(fields.message);
    this.name = 'ApiError';
    this.code = fields.code;
    this.status = fields.status ?? 0;
    this.errorData = fields.errorData;
    this.extra = fields.extra;
  }
}

/** A file that came to an end before its own: the right to it, or the connection, did, or nothing came for too long. */
export class BrokenOff extends Error {}

/** Codes after which the session is over (§8): state is reset and the login form opens. */
const [tokenExpired] = startCodes.tokenExpired;
const { invalidToken, revokeTokenFailed, refreshTokenFailed } = startCodes;
export const sessionCodes: readonly number[] = [invalidToken[0], tokenExpired, revokeTokenFailed[0], refreshTokenFailed[0]];
/** No credentials, or none that count: on a page of the inside that is the end of the session too (decisions.md, Sessions). */
const [credentialFailed] = startCodes.credentialFailed;
export const isSessionCode = (code: number) => code === credentialFailed || sessionCodes.includes(code);

/** Calls that show and renew the mark of a device somebody signed in from; no other call sends a cookie. */
const marksDevice: ReadonlySet<string> = new Set([
  'POST /{area}/verify',
  'POST /{area}/login',
  'POST /{area}/passkey/verify',
  'POST /{area}/oidc/finish',
  'PATCH /{area}/password',
]);

/** Calls that take files: their body goes as form data. */
const takesForm: ReadonlySet<string> = new Set(['POST /client/setting/logo', 'PUT /client/setting/logo']);

export interface Input {
  query?: object;
  body?: unknown;
  [param: string]: unknown;
}
export interface CallOptions {
  /**
   * `login`: made on a login-type page; no credentials are sent and a refusal ends no session. `step`: a password, a code or a challenge of
   * one's own is judged, with the session's credentials; what refuses it ends no session either.
   */
  from?: 'login' | 'step';
  /** Made with these credentials, which are not (yet) the session's. */
  as?: Credentials;
  signal?: AbortSignal;
  /** The answer is a file: what the server says of it comes with its text, or with what the browser keeps of one that may be large. */
  isFile?: boolean | 'large';
  /** Of a large file: told how many bytes have come. */
  onBytes?: (count: number) => void;
  /** The version of the row that was seen: a change of another one is refused (decisions.md, Wire). */
  version?: number | undefined;
  /** Told the version the row has now, where the answer names it (`ETag`). */
  onVersion?: (version: number) => void;
}
export interface TransportOptions {
  area: Area;
  credentials: CredentialStore;
  language: () => string;
  /** The session is over: reset state, go to the login form, show the message. */
  onSessionEnd: (message: string) => void;
  /** How a call ended: with an answer, whatever it said, or with none. */
  heard?: (answered: boolean) => void;
  /** A call has waited for this long without an answer; what is answered is called when it ends. */
  slow?: { afterMs: number; waits: () => () => void };
  /** Serialises the refresh over tabs; `navigator.locks` where there is one. */
  lock?: <T>(name: string, task: () => Promise<T>) => Promise<T>;
  base?: string;
  delayMs?: number;
  silenceMs?: number;
}

export type Transport = ReturnType<typeof createTransport>;

export function createTransport(options: TransportOptions) {
  const { area, credentials, base = limits.basePath, delayMs = limits.delayAfterCallMs } = options;
  const { silenceMs = limits.fileSilenceMs } = options;
  const lock = options.lock ?? ((_name, task) => task());
  let refreshing: Promise<void> | undefined;
  // Ten calls that fail together end one session.
  let isOver = false;

  async function call(key: string, input: Input = {}, callOptions: CallOptions = {}): Promise<unknown> {
    if (callOptions.as) return send(key, input, callOptions.as, callOptions);
    const used = callOptions.from === 'login' ? null : credentials.read();
    if (used) isOver = false;
    try {
      return await send(key, input, used, callOptions);
    } catch (error) {
      if (!(error instanceof ApiError) || callOptions.from === 'login' || !isSessionCode(error.code)) throw error;
      if (error.code !== tokenExpired || !used) throw callOptions.from ? error : end(error, used);
    }
    await refresh(used);
    const renewed = credentials.read();
    try {
      return await send(key, input, renewed, callOptions);
    } catch (error) {
      throw error instanceof ApiError && !callOptions.from && isSessionCode(error.code) ? end(error, renewed) : error;
    }
  }

  /** One refresh for all who wait, here and in other tabs: whoever comes second finds new credentials and goes on. */
  function refresh(used: Credentials) {
    refreshing ??= lock(`breakwater-refresh-${area}`, async () => {
      const held = credentials.read();
      if (held && held.accessToken !== used.accessToken) return;
      const { accessToken, refreshToken } = used;
      // as the contract answers
      credentials.write((await send('PATCH /{area}', { body: { accessToken, refreshToken } }, null)) as Credentials);
    })
      .catch((error: unknown) => {
        // Without an answer nothing is known about the session: only a refusal ends it.
        throw error instanceof ApiError && [400, 401, 403].includes(error.status) ? end(error, used) : error;
      })
      .finally(() => (refreshing = undefined));
    return refreshing;
  }

  /** used: what the call was made with. Who signed out meanwhile ended it already, and who signed in anew has another one. */
  function end(error: ApiError, used: Credentials | null) {
    const held = credentials.read();
    if (!isOver && (!used || held?.accessToken === used.accessToken)) {
      isOver = true;
      credentials.clear();
      options.onSessionEnd(error.message);
    }
    return error;
  }

  async function send(
    key: string,
    input: Input,
    as: Credentials | null,
    { signal, version, onVersion, isFile, onBytes }: CallOptions = {},
  ): Promise<unknown> {
    const { method, path, query, body } = requestOf(key, area, input);
    const headers: Record<string, string> = { accept: 'application/json', 'accept-language': options.language() };
    if (as) headers['authorization'] = `${as.tokenType} ${as.accessToken}`;
    const isForm = takesForm.has(key);
    // form data says its own boundary
    if (body !== undefined && !isForm) headers['content-type'] = 'application/json';
    if (version !== undefined) headers['if-match'] = `"${version}"`;
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(new DOMException('Timeout', 'TimeoutError')), limits.requestTimeoutMs);
    const timeout = patience.signal;
    let ended: (() => void) | undefined;
    const waiting = options.slow && setTimeout(() => (ended = options.slow!.waits()), options.slow.afterMs);
    try {
      const response = await fetch(base + path + query, {
        method,
        headers,
        // what goes as a form has fields
        body: body === undefined ? undefined : isForm ? formOf(body as object) : JSON.stringify(body),
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        credentials: marksDevice.has(key) ? 'same-origin' : 'omit',
        cache: 'no-store',
      });
      options.heard?.(true);
      if (isFile === 'large' && response.ok) {
        clearTimeout(timer);
        // it is answered: what comes slowly is no slow server
        clearTimeout(waiting);
        ended?.();
        ended = undefined;
        const content = await largeOf(response, { patience, silenceMs, onBytes, signal });
        return { disposition: response.headers.get('content-disposition'), content };
      }
      const answer = await answerOf(response);
      const [, now] = /^"(\d+)"$/.exec(response.headers.get('etag') ?? '') ?? [];
      if (now !== undefined) onVersion?.(Number(now));
      return isFile ? { disposition: response.headers.get('content-disposition'), text: answer } : answer;
    } catch (error) {
      if (error instanceof ApiError || error instanceof BrokenOff || signal?.aborted) throw error;
      options.heard?.(false);
      throw new ApiError({ code: 0, message: error instanceof Error ? error.message : String(error) });
    } finally {
      clearTimeout(timer);
      clearTimeout(waiting);
      ended?.();
      if (delayMs) await new Promise(resolve => setTimeout(resolve, delayMs));
    }
  }

  return { call, credentials };
}

function formOf(body: object): FormData {
  const form = new FormData();
  // of any object
  for (const [name, value] of Object.entries(body) as [string, unknown][])
    if (value !== undefined) form.append(name, value instanceof Blob ? value : String(value));
  return form;
}

interface Coming extends Pick<CallOptions, 'onBytes' | 'signal'> {
  patience: AbortController;
  silenceMs: number;
}
/** All of a file, for as long as it takes while some of it comes. @throws BrokenOff */
async function largeOf(response: Response, { patience, silenceMs, onBytes, signal }: Coming): Promise<Blob> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let count = 0;
  const heard = (more: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => patience.abort(), silenceMs);
    onBytes?.((count += more));
  };
  heard(0);
  const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(piece, to) {
      heard(piece.byteLength);
      to.enqueue(piece);
    },
  });
  try {
    // where it is kept is the browser's business
    return await new Response(response.body?.pipeThrough(counted), { headers: response.headers }).blob();
  } catch (error) {
    throw signal?.aborted ? error : new BrokenOff('', { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

async function answerOf(response: Response): Promise<unknown> {
  const isJSON = response.headers.get('content-type')?.includes('json');
  const answer: unknown = isJSON ? await response.json() : await response.text();
  if (response.ok) return answer;
  const fields = (isJSON && answer && typeof answer === 'object' ? answer : {}) as { code?: number; message?: string };
  throw new ApiError({
    ...fields,
    code: Number(fields.code ?? 0),
    message: fields.message ?? response.statusText,
    status: response.status,
  });
}

/** `'GET /{area}/site/{siteID}/domains'` with `{siteID: 3, query: {page: 2}}` as a request. */
export function requestOf(key: string, area: Area, { query, body, ...params }: Input) {
  const space = key.indexOf(' ');
  const path = key.slice(space + 1).replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = name === 'area' ? area : params[name];
    if (value === undefined) throw new Error(`${key} needs ${name}`);
    return encodeURIComponent(String(value));
  });
  return { method: key.slice(0, space), path, query: queryString(query), body };
}

function queryString(query: object | undefined) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== null && one !== '') search.append(name, String(one));
  const text = search.toString();
  return text && `?${text}`;
}
