/** TLS of the bus: what a client needs to know, and when it is a must. */
import { readFileSync } from 'node:fs';
import type { TlsOptions } from '@nats-io/transport-node';

export interface BusTls {
  /** PEM of the authority that vouches for the bus */
  ca: string;
  /** the name in the bus's certificate */
  servername?: string | undefined;
}

export const isLoopback = (host: string) => /^(127\.\d+\.\d+\.\d+|\[?::1\]?|localhost)$/.test(host);

/** A comma-separated list of addresses. */
const addressesOf = (urls: string) => urls.split(',').map(one => new URL(one.includes('://') ? one : `nats://${one}`));

/**
 * What goes into `connect`. Loopback speaks plainly: the option must then be null, since a client that may upgrade hangs.
 * @throws when the bus is elsewhere, or speaks TLS, and there is no authority to check it by
 */
export function clientTls(tls: BusTls | undefined, urls?: string): { tls: TlsOptions | null } {
  if (tls) return { tls: { ca: tls.ca, ...(tls.servername && { servername: tls.servername }) } as TlsOptions };
  for (const { protocol, hostname } of urls === undefined ? [] : addressesOf(urls)) {
    if (!isLoopback(hostname)) throw new Error(`the bus ${hostname} is not this machine: it needs TLS (BREAKWATER_BUS_CA)`);
    if (protocol === 'tls:') throw new Error(`the bus ${hostname} speaks TLS: who vouches for it? (BREAKWATER_BUS_CA)`);
  }
  return { tls: null };
}

/** From the environment of a process: `BREAKWATER_BUS_CA`, the path of a PEM file, and `BREAKWATER_BUS_NAME`. */
export function busTlsOf(env: NodeJS.ProcessEnv): BusTls | undefined {
  const file = env['BREAKWATER_BUS_CA'];
  return file ? { ca: readFileSync(file, 'utf8'), servername: env['BREAKWATER_BUS_NAME'] } : undefined;
}
