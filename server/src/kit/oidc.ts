/**
 * An operator's OpenID provider: its discovery document, kept for some minutes; where people are sent to; what comes back. Everything that is
 * asked of it goes through `outbound`, where the operator's origins may lie, and no redirect is followed.
 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import * as client from 'openid-client';
import { Fail, failFields } from '#contract/errors.ts';
import { type Db, row } from '../store/db.ts';
import { newToken } from './crypto.ts';
import { mailPolicy } from './mail/send.ts';
import { outbound, OutboundError } from './outbound.ts';
import { Sealed } from './sealed.ts';
import type { Services } from './services.ts';
import { plainText } from './text.ts';

export interface Provider {
  id: number;
  version: number;
  clientID: number;
  issuer: string;
  client: string;
  secret: string;
  label: string;
  forOperator: boolean;
  forCustomers: boolean;
  byEmail: boolean;
}
/** What the provider said of somebody; an e-mail only if it has verified it. */
export interface Told {
  issuer: string;
  subject: string;
  name: string;
  verifiedEmail: string | undefined;
}

const timeoutMs = 8000;
const keptMs = 5 * 60_000;
/** what could not be had: strangers who press the button send no storm to a provider that is down */
const failedMs = 5000;
const keptMax = 1000;

/** That of an operator, in the open; undefined: none is whole. `isOn`: those alone that are turned on. */
export async function providerOf(db: Db, services: Services, clientID: number, isOn = true): Promise<Provider | undefined> {
  const found = await row<Provider & { secret: string | null }>(
    db,
    sql`select *, "rowVersion" as version from oidc where "clientID" = ${clientID} and "deletedAt" is null and issuer <> '' and client <> ''
        and secret is not null and (enable or ${!isOn})`,
  );
  const secret = found && new Sealed('oidc', ['secret'], services.sealing).open('secret', found.secret);
  return found && secret ? { ...found, secret } : undefined;
}
export const labelOf = ({ label, issuer }: Pick<Provider, 'label' | 'issuer'>) => label || new URL(issuer).host;
export const isFor = (provider: Provider | undefined, area: string): provider is Provider =>
  !!provider && (area === 'client' ? provider.forOperator : provider.forCustomers);

/** @throws OutboundError */
function fetchBy(services: Services, clientID: number): client.CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const answer = await outbound(url, {
      policy: await mailPolicy(services.database.doors, clientID),
      timeoutMs,
      method: method as 'GET' | 'POST', // nothing else is asked of a provider
      headers,
      ...(body ? { body: body instanceof Uint8Array ? Buffer.from(body) : String(body) } : {}),
      ...(signal ? { signal } : {}),
    });
    if (answer.status >= 500 || answer.status < 200) throw new OutboundError('connection', `it answered ${answer.status}`);
    const isEmpty = [204, 205, 304].includes(answer.status);
    const told = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as [string, string]);
    return new Response(isEmpty ? null : new Uint8Array(answer.body), { status: answer.status, headers: told });
  };
}

const kept = new WeakMap<Services, Map<string, { found: Promise<client.Configuration>; until: number }>>();

async function configurationOf(services: Services, provider: Provider): Promise<client.Configuration> {
  let all = kept.get(services);
  if (!all) kept.set(services, (all = new Map()));
  const key = `${provider.id} ${provider.version}`;
  const known = all.get(key);
  if (known && known.until > performance.now()) return known.found;
  const found = discover(services, provider);
  if (all.size >= keptMax) all.clear();
  const made = { found, until: performance.now() + keptMs };
  all.set(key, made);
  found.catch(() => void (made.until = performance.now() + failedMs));
  return found;
}
async function discover(services: Services, { issuer, client: id, secret, clientID }: Provider): Promise<client.Configuration> {
  const made = await client.discovery(new URL(issuer), id, { client_secret: secret }, client.ClientSecretPost(secret), {
    [client.customFetch]: fetchBy(services, clientID),
    timeout: timeoutMs / 1000,
    // the rule of the issuer lets loopback alone be without TLS
    ...(issuer.startsWith('http:') ? { execute: [client.allowInsecureRequests] } : {}),
  });
  const ways = made.serverMetadata().token_endpoint_auth_methods_supported;
  if (ways?.includes('client_secret_post')) return made;
  // Discovery 3: left out, it is this one
  const basic = new client.Configuration(made.serverMetadata(), id, { client_secret: secret }, client.ClientSecretBasic(secret));
  basic[client.customFetch] = fetchBy(services, clientID);
  basic.timeout = timeoutMs / 1000;
  if (issuer.startsWith('http:')) client.allowInsecureRequests(basic);
  return basic;
}

/** Why it could not be asked, in words; undefined: it was, and refused. */
function away(error: unknown): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof OutboundError) return at.message;
    if (at.name === 'TimeoutError' || at.name === 'AbortError') return 'no answer in time';
  }
  return undefined;
}
const providerAway = (why: string) => failFields([{ path: 'issuer', rule: 'oidcAway', bounds: { why: why.slice(0, 200) } }]);
/** To whoever signs in: where it lies, and what it said, is its operator's to know. */
export const providerGone = () => failFields([{ path: '', rule: 'oidcGone' }]);

/** What it says of a client it does not know, or whose secret is another (RFC 6749 5.2); undefined: it says something else. */
function clientRefused(error: unknown): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { error: code, error_description: why } = at as { error?: unknown; error_description?: unknown }; // RFC 6749 5.2
    if (code === 'invalid_client' || code === 'unauthorized_client')
      return plainText(`${code}${typeof why === 'string' ? `: ${why}` : ''}`, 200);
    if (at instanceof client.WWWAuthenticateChallengeError && at.status === 401) return 'HTTP 401';
  }
  return undefined;
}

/** What it answered instead of what was expected, as codes; not the library's words about it. */
function answered(error: unknown): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof client.ResponseBodyError)
      return plainText(`HTTP ${at.status}, ${at.error}${at.error_description ? `: ${at.error_description}` : ''}`, 150);
    if (at.cause instanceof Response) return plainText(`HTTP ${at.cause.status}, ${at.cause.headers.get('content-type')}`, 150);
    if (at instanceof client.WWWAuthenticateChallengeError) return `HTTP ${at.status}`;
  }
  return undefined;
}
/** That a code which nobody was given is none: who asked is judged before it (RFC 6749 5.2). */
const isCodeRefused = (error: unknown) => error instanceof client.ResponseBodyError && error.error === 'invalid_grant';

/** The address at which it signs people in. @throws 101003 `oidcAway` at the issuer, `oidcClient` at the secret */
export async function tryProvider(services: Services, provider: Provider, redirectURI: string): Promise<string> {
  try {
    const config = await discover(services, provider);
    const { authorization_endpoint: endpoint, issuer } = config.serverMetadata();
    if (!endpoint) throw new Error(`${issuer} names no authorization_endpoint`);
    const refused: unknown = await client
      .genericGrantRequest(config, 'authorization_code', {
        code: newToken(),
        redirect_uri: redirectURI,
        code_verifier: newToken(),
      })
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    const why = clientRefused(refused);
    if (why !== undefined) throw failFields([{ path: 'secret', rule: 'oidcClient', bounds: { why } }]);
    if (isCodeRefused(refused)) return endpoint;
    if (away(refused) !== undefined) throw refused;
    // anything else says nothing of the client: no token_endpoint, or one that takes whatever comes
    throw providerAway(`token_endpoint: ${answered(refused) ?? (refused instanceof Error ? refused.message : 'HTTP 200')}`);
  } catch (error) {
    if (error instanceof Fail) throw error;
    const why = away(error) ?? (error instanceof Error ? ((error.cause as Error | undefined)?.message ?? error.message) : '');
    throw providerAway(why);
  }
}

/** What goes along, each by the key of the page alone. */
const derived = (flowKey: string, what: 'state' | 'nonce' | 'verifier') =>
  createHash('sha256').update(`${what} ${flowKey}`).digest('base64url');

/** Where somebody is sent to sign in. @throws 101003 `oidcGone` */
export async function addressOf(services: Services, provider: Provider, flowKey: string, redirectURI: string): Promise<string> {
  try {
    const config = await configurationOf(services, provider);
    const at = client.buildAuthorizationUrl(config, {
      redirect_uri: redirectURI,
      scope: 'openid email profile',
      state: derived(flowKey, 'state'),
      nonce: derived(flowKey, 'nonce'),
      code_challenge: await client.calculatePKCECodeChallenge(derived(flowKey, 'verifier')),
      code_challenge_method: 'S256',
    });
    // a browser goes there: no scheme that runs something
    if (!['https:', 'http:'].includes(at.protocol)) throw new Error('no address of the web');
    return at.href;
  } catch {
    throw providerGone();
  }
}

interface Came {
  flowKey: string;
  code: string;
  state: string;
  iss?: string | undefined;
}
/** It takes none of our questions, for it does not know the client, or by another secret: its operator's to mend. */
export class ClientRefused extends Error {
  override name = 'ClientRefused';
}

/** Who came back; undefined: the provider says it is not so. @throws 101003 `oidcGone`, ClientRefused */
export async function whoCame(
  services: Services,
  provider: Provider,
  { flowKey, code, state, iss }: Came,
  redirectURI: string,
): Promise<Told | undefined> {
  try {
    const config = await configurationOf(services, provider);
    const at = new URL(redirectURI);
    at.search = new URLSearchParams({ code, state, ...(iss ? { iss } : {}) }).toString();
    const tokens = await client
      .authorizationCodeGrant(config, at, {
        pkceCodeVerifier: derived(flowKey, 'verifier'),
        expectedState: derived(flowKey, 'state'),
        expectedNonce: derived(flowKey, 'nonce'),
        idTokenExpected: true,
      })
      .catch((error: unknown) => {
        const refused = clientRefused(error);
        throw refused === undefined ? error : new ClientRefused(refused);
      });
    const claims = tokens.claims()!;
    // Core 2: no longer than that; and two that the database takes for one are none
    if (claims.sub.length > 255 || /\p{Cc}|\p{Cs}/u.test(claims.sub)) return undefined;
    const more =
      claims['email'] === undefined && config.serverMetadata().userinfo_endpoint
        ? await client.fetchUserInfo(config, tokens.access_token, claims.sub)
        : claims;
    const text = (value: unknown) => (typeof value === 'string' && !/\p{Cc}|\p{Cs}/u.test(value) ? value.slice(0, 254) : '');
    const email = text(more['email']);
    return {
      issuer: claims.iss,
      subject: claims.sub,
      name: email || text(more['name']) || text(more['preferred_username']) || claims.sub.slice(0, 254),
      verifiedEmail: email && more['email_verified'] === true ? email : undefined,
    };
  } catch (error) {
    if (away(error) !== undefined) throw providerGone();
    if (error instanceof ClientRefused) throw error;
    return undefined;
  }
}
