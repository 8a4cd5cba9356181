/**
 * The one way to fetch a URL, or to connect, for a customer. A name is resolved once, each address is judged (AddressPolicy), and
 * the connection goes to a judged address and to no other, so that a second answer of a resolver changes nothing. Redirects are
 * off unless asked for, and each is judged anew. Time and size are bounded. A body comes as it was sent: nothing is unpacked.
 */
import { lookup } from 'node:dns/promises';
import http from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTLS } from 'node:tls';
import { type AddressKind, type AddressPolicy, looseAddress } from '#contract/rules/address-policy.ts';

export interface Reach {
  policy: AddressPolicy;
  /** of everything together */
  timeoutMs?: number;
  /** addresses of a name; default: as the machine resolves it */
  resolve?: (name: string) => Promise<string[]>;
}
export interface OutboundOptions extends Reach {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** of the answer's body */
  bytesMax?: number;
  /** how many redirects are followed; default none */
  redirects?: number;
  /** certificates that are trusted instead of the machine's */
  ca?: string;
  /** nobody waits for it any more */
  signal?: AbortSignal;
}
export interface OutboundAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
  /** where the answer came from, after redirects */
  url: string;
}

const timeoutDefaultMs = 10_000;
const bytesDefault = 1 << 20;
/** A name with more is nobody's origin; judging them all would be work for nothing. */
const addressesMax = 64;

export type OutboundProblem = 'refused' | 'notURL' | 'notResolved' | 'timeout' | 'tooLarge' | 'tooManyRedirects' | 'connection';
export class OutboundError extends Error {
  override name = 'OutboundError';
  readonly problem: OutboundProblem;
  /** of the address, where it was refused */
  readonly kind: AddressKind | undefined;

  constructor(problem: OutboundProblem, message: string, kind?: AddressKind) {
    super(message);
    this.problem = problem;
    this.kind = kind;
  }
}

const resolveHere = async (name: string) => (await lookup(name, { all: true, verbatim: true })).map(one => one.address);

/** The addresses of a host that may be connected to. @throws OutboundError when there is none */
async function addressesOf(host: string, port: number, { policy, resolve = resolveHere }: Reach, signal: AbortSignal) {
  const named = policy.judgeHost(host, port);
  if (!named.allowed) throw new OutboundError('refused', `${host}:${port} may not be connected to (${named.kind})`, named.kind);
  let found: string[];
  if (looseAddress(host)) found = [host];
  else {
    found = await within(
      signal,
      resolve(host).catch(() => []),
    );
    if (!found.length) throw new OutboundError('notResolved', `${host} has no address`);
  }
  let why: AddressKind | undefined;
  const good = found.slice(0, addressesMax).filter(address => {
    const verdict = isIP(address) ? policy.judge(address, port) : ({ allowed: false, kind: 'notAddress' } as const);
    if (!verdict.allowed) why ??= verdict.kind;
    return verdict.allowed;
  });
  if (!good.length) throw new OutboundError('refused', `${host}:${port} may not be connected to (${why})`, why);
  return good;
}

/** A connection to the first address of the host that takes it. @throws OutboundError */
export async function connectOut(host: string, port: number, reach: Reach): Promise<Socket> {
  const signal = AbortSignal.timeout(reach.timeoutMs ?? timeoutDefaultMs);
  return openSocket(host, port, reach, signal);
}

async function openSocket(host: string, port: number, reach: Reach, signal: AbortSignal): Promise<Socket> {
  let last: Error | undefined;
  for (const address of await addressesOf(host, port, reach, signal)) {
    try {
      return await dial(address, port, signal);
    } catch (error) {
      if (signal.aborted) throw new OutboundError('timeout', `${host}:${port} did not answer in time`);
      last = error as Error;
    }
  }
  throw new OutboundError('connection', last?.message ?? 'no connection');
}

const dial = (address: string, port: number, signal: AbortSignal): Promise<Socket> =>
  new Promise((done, failed) => {
    // an address, so nothing is resolved a second time
    const socket = connect({ host: address, port });
    const late = () => socket.destroy(new Error('it took too long'));
    signal.addEventListener('abort', late, { once: true });
    socket.once('connect', () => {
      signal.removeEventListener('abort', late);
      socket.removeListener('error', failed);
      done(socket);
    });
    socket.once('error', failed);
  });

/** Rejects when time is over, whatever `act` does. */
async function within<T>(signal: AbortSignal, act: Promise<T>): Promise<T> {
  let stop = () => {};
  const over = new Promise<never>((_, failed) => {
    stop = () => failed(new OutboundError('timeout', 'it took too long'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([act, over]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || !url.hostname)
    throw new OutboundError('notURL', 'only http and https URLs are fetched');
  if (url.username || url.password) throw new OutboundError('notURL', 'a URL with a user name is not fetched');
  return url;
}

/** @throws OutboundError */
export async function outbound(address: string, options: OutboundOptions): Promise<OutboundAnswer> {
  const late = AbortSignal.timeout(options.timeoutMs ?? timeoutDefaultMs);
  const signal = options.signal ? AbortSignal.any([late, options.signal]) : late;
  let url = urlOf(address);
  let asked: OutboundOptions = options;
  for (let left = options.redirects ?? 0; ; left--) {
    const answer = await ask(url, asked, signal);
    const { location } = answer.headers;
    if (![301, 302, 303, 307, 308].includes(answer.status) || location === undefined || options.redirects === undefined)
      return answer;
    if (left <= 0) throw new OutboundError('tooManyRedirects', `more than ${options.redirects} redirects`);
    if (!URL.canParse(location, url)) throw new OutboundError('notURL', 'a redirect to no URL');
    const next = urlOf(new URL(location, url).href);
    if (url.protocol === 'https:' && next.protocol === 'http:')
      throw new OutboundError('refused', 'a redirect from https to http');
    if (next.origin !== url.origin) asked = { ...asked, headers: withoutSecrets(asked.headers) };
    // RFC 9110 15.4: these are followed by GET, without the body
    if (answer.status === 303 || ((answer.status === 301 || answer.status === 302) && asked.method === 'POST')) {
      const { body: _, ...rest } = asked;
      asked = { ...rest, method: 'GET' };
    }
    url = next;
  }
}

/** Another host gets none of what was meant for the first. */
const withoutSecrets = (headers: Record<string, string> = {}) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(authorization|cookie|proxy-authorization|x-.*)$/i.test(name)),
  );

async function ask(url: URL, options: OutboundOptions, signal: AbortSignal): Promise<OutboundAnswer> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isTLS = url.protocol === 'https:';
  const port = Number(url.port) || (isTLS ? 443 : 80);
  const socket = await openSocket(host, port, options, signal);
  try {
    return await within(signal, exchange(url, host, isTLS, socket, options));
  } finally {
    socket.destroy();
  }
}

function exchange(url: URL, host: string, isTLS: boolean, socket: Socket, options: OutboundOptions): Promise<OutboundAnswer> {
  const { method = 'GET', headers = {}, body, bytesMax = bytesDefault, ca } = options;
  return new Promise((done, failed) => {
    // Without an agent this is the only connection there is; with `agent: false` node would make one of its own.
    const open = (): Socket =>
      isTLS ? connectTLS({ socket, host, servername: isIP(host) ? '' : host, ...(ca ? { ca } : {}) }) : socket;
    const request = http.request(
      {
        method,
        path: url.pathname + url.search,
        headers: { ...headers, host: url.host, connection: 'close' },
        createConnection: open,
      },
      answer => {
        const parts: Buffer[] = [];
        let size = 0;
        answer.on('data', (part: Buffer) => {
          size += part.length;
          if (size > bytesMax) {
            failed(new OutboundError('tooLarge', `the answer has more than ${bytesMax} bytes`));
            request.destroy();
          } else parts.push(part);
        });
        answer.on('end', () =>
          done({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts), url: url.href }),
        );
        answer.on('error', error => failed(new OutboundError('connection', error.message)));
      },
    );
    request.on('error', error => failed(error instanceof OutboundError ? error : new OutboundError('connection', error.message)));
    request.end(body);
  });
}
