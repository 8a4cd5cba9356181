/**
 * ACME (RFC 8555) with one account at one directory, as far as HTTP-01 and DNS-01 need it. Each method asks once and answers at once: who waits, and
 * for how long, the caller decides (work.ts). What the authority says of URLs is fetched by the given `fetch` alone, which judges them.
 *
 * Own code: the packages there are bring clients of their own that connect wherever a URL says, wait by timers of their own, and lose
 * orders when nonces are refused (docs/handbook/certificates.md).
 */
import { createHash, createHmac, createPublicKey, type KeyObject, sign } from 'node:crypto';
import * as z from 'zod/mini';
import { retryAfterOf } from '../../kit/retry-after.ts';
import { plainText } from '../../kit/text.ts';

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}
export type Fetch = (
  url: string,
  request: { method: 'GET' | 'HEAD' | 'POST'; headers: Record<string, string>; body?: string },
) => Promise<Answer>;

/** What the authority, or the way to it, says against it. */
export class AcmeProblem extends Error {
  override name = 'AcmeProblem';
  /** without `urn:ietf:params:acme:error:` */
  readonly type: string;
  /** when it may be asked again; undefined: it did not say */
  readonly retrySeconds: number | undefined;
  /** of its answer; 0: there was none to be read */
  readonly status: number;

  constructor(type: string, message: string, retrySeconds?: number, status = 0) {
    super(message);
    this.type = type;
    this.retrySeconds = retrySeconds;
    this.status = status;
  }

  /** It says nothing against what was asked: the same may be asked again. */
  get isPassing(): boolean {
    return this.status === 429 || this.status >= 500 || ['badNonce', 'rateLimited', 'serverInternal'].includes(this.type);
  }
}

const url = () => z.string().check(z.maxLength(2000), z.startsWith('https://'));
const Directory = z.object({
  newNonce: url(),
  newAccount: url(),
  newOrder: url(),
  // what is wrong with it keeps nobody from orders
  // oxlint-disable-next-line promise/valid-params -- no promise's, but zod's
  renewalInfo: z.catch(z.optional(url()), undefined),
});
/** RFC 3339 */
const time = () =>
  z.pipe(
    z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i)),
    z.pipe(
      z.transform((value: string) => new Date(value)),
      // what the database has room for
      z.date().check(z.gte(new Date(0)), z.lt(new Date('9999-01-01'))),
    ),
  );
const RenewalInfo = z.object({
  suggestedWindow: z
    .object({ start: time(), end: time() })
    .check(z.refine(({ start, end }: { start: Date; end: Date }) => end > start)),
});
const Problem = z.object({
  type: z._default(z.string(), ''),
  detail: z._default(z.string(), ''),
});
const Order = z.object({
  status: z.enum(['pending', 'ready', 'processing', 'valid', 'invalid']),
  authorizations: z.array(url()).check(z.minLength(1), z.maxLength(100)),
  finalize: url(),
  certificate: z.optional(url()),
  error: z.optional(Problem),
});
const Challenge = z.object({
  type: z.string(),
  url: url(),
  status: z.string(),
  token: z.optional(z.string()),
  error: z.optional(Problem),
});
const Authorization = z.object({
  status: z.enum(['pending', 'valid', 'invalid', 'deactivated', 'expired', 'revoked']),
  challenges: z.array(z.unknown()).check(z.maxLength(20)),
});
export type Order = Omit<z.output<typeof Order>, 'error'> & {
  url: string;
  retrySeconds: number | undefined;
  /** what the authority says of an order that failed */
  problem: string | undefined;
  problemType: string | undefined;
};
export interface Authorization {
  status: z.output<typeof Authorization>['status'];
  /** the challenge of the kind that was asked for, where it offers one */
  challenge: { url: string; token: string; status: string } | undefined;
  /** what the authority says of a challenge that failed */
  problem: string | undefined;
  problemType: string | undefined;
  retrySeconds: number | undefined;
}

/** RFC 8555 8.1: it becomes a path, and the content of a file to some */
const tokenShape = /^[A-Za-z0-9_-]{22,200}$/;
/** How it says that what an order replaces is not to be replaced by it. */
const refusals: ReadonlySet<string> = new Set(['alreadyReplaced', 'malformed', 'unauthorized']);
/** An authority that takes none of them is out of order. */
const nonceTries = 10;
const noncesKept = 20;
const retryMostSeconds = 86_400;

const encode = (value: string | Buffer) => Buffer.from(value).toString('base64url');
const json = (value: unknown) => encode(JSON.stringify(value));

/** What one process knows of an account: whoever asks next goes on with it. */
export interface Remembered {
  nonces: string[];
  urls?: Promise<z.output<typeof Directory>> | undefined;
  /** when they were found: what an authority can do changes */
  urlsAt?: number;
  /** the account's URL, once it is known */
  account?: string | undefined;
}
const urlsKeptMs = 86_400_000;

/** When an authority wants a certificate renewed (RFC 9773). */
export interface RenewalWindow {
  from: Date;
  until: Date;
  /** when it may be asked again */
  retrySeconds: number | undefined;
}
/** Asks without an account. @param certificate its id (certificate-id.ts). @returns undefined: this authority says nothing of renewals */
export async function renewalWindow(
  directory: string,
  certificate: string,
  judged: Fetch,
  known: Remembered,
): Promise<RenewalWindow | undefined> {
  const { renewalInfo } = await found(directory, judged, known);
  if (renewalInfo === undefined) return undefined;
  const answer = await asked(judged, known, `${renewalInfo.replace(/\/$/, '')}/${certificate}`, { method: 'GET', headers: {} });
  const { start, end } = read(RenewalInfo, answer).suggestedWindow;
  return { from: start, until: end, retrySeconds: retryOf(answer) };
}

function found(directory: string, judged: Fetch, known: Remembered) {
  const now = performance.now();
  if (!known.urls || now - (known.urlsAt ?? now) > urlsKeptMs) {
    known.urlsAt = now;
    known.urls = asked(judged, known, directory, { method: 'GET', headers: {} }).then(answer => read(Directory, answer));
    // whoever asks again asks again
    known.urls.catch(() => (known.urls = undefined));
  }
  return known.urls;
}

async function asked(judged: Fetch, known: Remembered, at: string, request: Parameters<Fetch>[1]): Promise<Answer> {
  const answer = await judged(at, { ...request, headers: { 'user-agent': 'Breakwater', ...request.headers } });
  const nonce = answer.headers['replay-nonce'];
  if (typeof nonce === 'string' && /^[A-Za-z0-9_-]{1,500}$/.test(nonce) && known.nonces.length < noncesKept)
    known.nonces.push(nonce);
  if (answer.status >= 200 && answer.status < 300) return answer;
  const said = z.safeParse(Problem, parsed(answer.body)).data;
  const type = typeOf(said?.type ?? '');
  const isBusy = answer.status === 429 || answer.status === 503;
  throw new AcmeProblem(
    isBusy ? 'rateLimited' : type || `status${answer.status}`,
    sentence(type, said?.detail || `the authority answered ${answer.status}`),
    retryOf(answer),
    answer.status,
  );
}

export class Acme {
  readonly #directory: string;
  readonly #key: KeyObject;
  readonly #fetch: Fetch;
  readonly #jwk: { crv: string; kty: string; x: string; y: string };
  readonly #known: Remembered;

  /** @param key EC, P-256 */
  constructor(directory: string, key: KeyObject, fetch: Fetch, known: Remembered = { nonces: [] }) {
    this.#known = known;
    this.#directory = directory;
    this.#key = key;
    this.#fetch = fetch;
    const { crv, kty, x, y } = createPublicKey(key).export({ format: 'jwk' });
    // in the order of their names, as the thumbprint wants them (RFC 7638)
    this.#jwk = { crv: crv!, kty: kty!, x: x!, y: y! };
  }

  /** What is to be answered for a token. */
  keyAuthorization(token: string): string {
    return `${token}.${createHash('sha256').update(JSON.stringify(this.#jwk)).digest('base64url')}`;
  }

  /** The text of the record that proves a name for a token (RFC 8555 8.4). */
  recordValue(token: string): string {
    return createHash('sha256').update(this.keyAuthorization(token)).digest('base64url');
  }

  /** Registers the key, or finds that it is. `bound`: what the authority gave its customer (EAB). */
  async register(bound?: { kid: string; hmacKey: string }): Promise<string> {
    const { newAccount } = await this.#found();
    const payload: Record<string, unknown> = { termsOfServiceAgreed: true };
    if (bound) {
      const head = json({ alg: 'HS256', kid: bound.kid, url: newAccount });
      const body = json(this.#jwk);
      const mac = createHmac('sha256', Buffer.from(bound.hmacKey, 'base64url')).update(`${head}.${body}`).digest('base64url');
      payload['externalAccountBinding'] = { protected: head, payload: body, signature: mac };
    }
    const answer = await this.#post(newAccount, payload, true);
    this.#known.account = locationOf(answer);
    return this.#known.account;
  }

  /** @param replaces the id of the certificate that this one takes the place of; told to who knows of renewals alone (RFC 9773 5) */
  async order(names: readonly string[], replaces?: string): Promise<Order> {
    const { newOrder, renewalInfo } = await this.#found();
    const identifiers = names.map(value => ({ type: 'dns', value }));
    const told = replaces !== undefined && renewalInfo !== undefined;
    const answer = await this.#post(newOrder, { identifiers, ...(told ? { replaces } : {}) }).catch((error: unknown) => {
      // it is another's already, or of an account we had: the order stands without it
      if (!told || !(error instanceof AcmeProblem) || !refusals.has(error.type)) throw error;
      return this.#post(newOrder, { identifiers });
    });
    return orderOf(answer, locationOf(answer));
  }
  async orderAt(at: string): Promise<Order> {
    return orderOf(await this.#post(at, ''), at);
  }

  async authorization(at: string, kind: 'http-01' | 'dns-01' = 'http-01'): Promise<Authorization> {
    const answer = await this.#post(at, '');
    const { status, challenges } = read(Authorization, answer);
    const found = challenges.flatMap(one => {
      const { data } = z.safeParse(Challenge, one);
      return data?.type === kind && data.token !== undefined && tokenShape.test(data.token)
        ? [{ ...data, token: data.token }]
        : [];
    })[0];
    const said = challenges.flatMap(one => z.safeParse(Challenge, one).data?.error ?? [])[0];
    return {
      status,
      challenge: found && { url: found.url, token: found.token, status: found.status },
      problem: said && sentence(said.type, said.detail),
      problemType: said && typeOf(said.type),
      retrySeconds: retryOf(answer),
    };
  }

  /** Says that the answer is there. */
  async accept(challenge: string): Promise<void> {
    await this.#post(challenge, {});
  }

  /** Takes back that a name is ours: who orders it next proves it anew (RFC 8555 7.5.2). */
  async deactivate(authorization: string): Promise<void> {
    await this.#post(authorization, { status: 'deactivated' });
  }

  /** @param request DER */
  async finalize(at: string, order: string, request: Buffer): Promise<Order> {
    return orderOf(await this.#post(at, { csr: encode(request) }), order);
  }

  /** PEM: the certificate and those above it */
  async certificate(at: string): Promise<string> {
    const answer = await this.#post(at, '', false, 'application/pem-certificate-chain');
    return answer.body.toString('utf8');
  }

  #found() {
    return found(this.#directory, this.#fetch, this.#known);
  }
  #ask(at: string, request: Parameters<Fetch>[1]) {
    return asked(this.#fetch, this.#known, at, request);
  }

  async #nonce(): Promise<string> {
    const kept = this.#known.nonces.pop();
    if (kept !== undefined) return kept;
    const { newNonce } = await this.#found();
    await this.#ask(newNonce, { method: 'HEAD', headers: {} });
    const fresh = this.#known.nonces.pop();
    if (fresh === undefined) throw new AcmeProblem('malformed', 'the authority gave no nonce');
    return fresh;
  }

  /** Signed; '' asks for what stands there. A nonce that is refused is replaced: nothing has happened then (RFC 8555 6.5). */
  async #post(at: string, payload: unknown, isNew = false, accept = 'application/json'): Promise<Answer> {
    const who = isNew ? { jwk: this.#jwk } : { kid: this.#known.account };
    const body = payload === '' ? '' : json(payload);
    for (let tries = 1; ; tries++) {
      const head = json({ alg: 'ES256', nonce: await this.#nonce(), url: at, ...who });
      const signature = sign('sha256', Buffer.from(`${head}.${body}`), { key: this.#key, dsaEncoding: 'ieee-p1363' });
      try {
        return await this.#ask(at, {
          method: 'POST',
          headers: { 'content-type': 'application/jose+json', accept },
          body: JSON.stringify({ protected: head, payload: body, signature: encode(signature) }),
        });
      } catch (error) {
        if (!(error instanceof AcmeProblem) || error.type !== 'badNonce' || tries >= nonceTries) throw error;
      }
    }
  }
}

const typeOf = (type: string) => plainText(type.replace(/^urn:ietf:params:acme:error:/, ''), 60);
/** An authority's words as logs and screens have room for: the one way they come in. */
const sentence = (type: string, detail: string) => {
  const name = typeOf(type);
  return plainText(`${plainText(detail, 330)}${name ? ` (${name})` : ''}`, 400);
};

function parsed(body: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return value;
  } catch {
    return undefined;
  }
}
function read<T extends z.ZodMiniType>(shape: T, { body }: Answer): z.output<T> {
  const result = z.safeParse(shape, parsed(body));
  if (!result.success) throw new AcmeProblem('malformed', 'the authority answered something that is not ACME');
  return result.data;
}
function orderOf(answer: Answer, at: string): Order {
  const { error, ...order } = read(Order, answer);
  return {
    ...order,
    url: at,
    retrySeconds: retryOf(answer),
    problem: error && sentence(error.type, error.detail),
    problemType: error && typeOf(error.type),
  };
}
function locationOf({ headers }: Answer): string {
  const result = z.safeParse(url(), headers['location']);
  if (!result.success) throw new AcmeProblem('malformed', 'the authority did not say where it is');
  return result.data;
}
const retryOf = ({ headers }: Answer): number | undefined => retryAfterOf(headers, retryMostSeconds);
