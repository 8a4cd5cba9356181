/** What of an installation other machines reach, and by which addresses: console, API and bus, with TLS or not at all. */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { partsOf } from '#server/bus/address.ts';
import { isLoopback } from '#server/bus/tls.ts';
import { StartError } from '#server/store/engine-process.ts';

export interface PairFiles {
  cert: string;
  key: string;
}

export interface Addresses {
  /** Console and API beyond loopback; they listen on loopback too, plainly. */
  outer?: {
    host: string;
    port: number;
    /** files somebody gave; undefined: a certificate of our own authority */
    files?: PairFiles;
  };
  /** https address by which people and nodes reach console and API; undefined: nobody from elsewhere does */
  publicUrl?: string;
  /** The bus with TLS; the port is one of its own choice where nobody from elsewhere comes */
  bus?: { host: string; port?: number };
  /** files somebody gave for the bus */
  busFiles?: PairFiles;
  /** what nodes are told of the bus, where it is not the address it listens on */
  busAddress?: string;
}

export const portsOfAddresses = { tls: 8444, bus: 4222 } as const;
const isEverywhere = (host: string) => host === '0.0.0.0' || host === '::';
const bracketed = (host: string) => (isIP(host) === 6 ? `[${host}]` : host);

/**
 * @param natsUrl of a bus somebody else runs: then ours is not started
 * @throws StartError: one sentence for the person who set it
 */
export function readAddresses(
  env: NodeJS.ProcessEnv,
  natsUrl: string | undefined,
  portOf: (name: string, fallback: number) => number,
): Addresses {
  const host = address(env, 'BREAKWATER_HOST');
  const files = pair(env, 'BREAKWATER_TLS_CERT', 'BREAKWATER_TLS_KEY');
  const busFiles = pair(env, 'BREAKWATER_BUS_CERT', 'BREAKWATER_BUS_KEY');
  if (busFiles && !env.BREAKWATER_BUS_CA)
    throw new StartError('BREAKWATER_BUS_CERT, BREAKWATER_BUS_KEY and BREAKWATER_BUS_CA belong together: set all three or none.');
  const isOpen = host !== undefined && !isLoopback(host);
  const beyond = [...(files ? ['BREAKWATER_TLS_CERT'] : []), ...(env.BREAKWATER_TLS_PORT ? ['BREAKWATER_TLS_PORT'] : [])];
  if (!isOpen && beyond.length) {
    const instead = host ? `BREAKWATER_HOST=${host} is none. Set it to another one` : 'set BREAKWATER_HOST too';
    throw new StartError(
      `${beyond.join(' and ')} ${beyond.length > 1 ? 'are' : 'is'} for an address beyond loopback: ${instead}, for example to 0.0.0.0.`,
    );
  }
  const port = portOf('BREAKWATER_TLS_PORT', portsOfAddresses.tls);
  const publicUrl = publicOf(env.BREAKWATER_PUBLIC_URL) ?? (isOpen ? urlOf(host, port) : undefined);
  const busHost = address(env, 'BREAKWATER_BUS_HOST') ?? (isOpen ? host : undefined);
  const opensBus = !natsUrl && busHost !== undefined && (!isLoopback(busHost) || busFiles !== undefined);
  const busPort = portOf('BREAKWATER_BUS_PORT', portsOfAddresses.bus);
  const told = env.BREAKWATER_BUS_ADDRESS || (opensBus && isOpen && !busFiles ? new URL(publicUrl!).hostname : undefined);
  try {
    for (const one of told?.split(',') ?? []) partsOf(one.trim());
  } catch (error) {
    throw new StartError((error as Error).message);
  }
  return {
    ...(isOpen && { outer: { host, port, ...(files && { files }) } }),
    ...(publicUrl && { publicUrl }),
    ...(opensBus && { bus: { host: busHost, ...(!isLoopback(busHost) && { port: busPort }) } }),
    ...(busFiles && { busFiles }),
    ...(told && { busAddress: told }),
  };
}

function urlOf(host: string, port: number): string {
  if (isEverywhere(host))
    throw new StartError(
      `BREAKWATER_HOST=${host} listens everywhere, and is no address to be told: name what others reach this machine by in BREAKWATER_PUBLIC_URL, for example https://cdn.example.com:${port}.`,
    );
  return `https://${bracketed(host)}:${port}`;
}

/** Only the origin of the URL counts: nodes and browsers add their own paths. */
function publicOf(text: string | undefined): string | undefined {
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:')
    throw new StartError(
      `BREAKWATER_PUBLIC_URL would be plain, and passwords and keys of nodes go over it: give the https address, ${text.replace(/^http/i, 'https')}.`,
    );
  if (
    url?.protocol !== 'https:' ||
    url.pathname !== '/' ||
    url.search ||
    url.hash ||
    url.username ||
    /^(0\.0\.0\.0|\[::\])$/.test(url.hostname)
  )
    throw new StartError(
      'BREAKWATER_PUBLIC_URL must be an https address without a path, for example https://cdn.example.com:8444.',
    );
  return url.origin;
}

function address(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  if (!isIP(text) && text !== 'localhost')
    throw new StartError(`${name} must be an IP address of this machine, 0.0.0.0 or :: for all; "${text}" is none.`);
  return text;
}

function pair(env: NodeJS.ProcessEnv, certName: string, keyName: string): PairFiles | undefined {
  const { [certName]: cert, [keyName]: key } = env;
  if (!cert && !key) return undefined;
  if (!cert || !key) throw new StartError(`${certName} and ${keyName} belong together: set both or none.`);
  return { cert: resolve(cert), key: resolve(key) };
}
