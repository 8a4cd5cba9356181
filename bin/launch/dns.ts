/** The embedded name server as a part of this machine: it answers for the names that customers' domains lead to. */
import { networkInterfaces } from 'node:os';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { knotAnswers, startKnot } from '#server/resolution/knot-launcher.ts';
import { StartError } from '#server/store/engine-process.ts';
import { bytesFile } from './keys.ts';
import type { Context } from './parts.ts';
import type { Part } from './supervise.ts';

/** Addresses it listens on: loopback, unless somebody says otherwise. Errors: StartError. */
export function dnsHosts(env: NodeJS.ProcessEnv): string[] {
  const { lo = [] } = networkInterfaces();
  // where IPv6 is switched off, nobody can listen on ::1
  if (!env.BREAKWATER_DNS_HOST) return lo.some(one => one.address === '::1') ? ['127.0.0.1', '::1'] : ['127.0.0.1'];
  const list = env.BREAKWATER_DNS_HOST.split(',').map(one => one.trim());
  for (const one of list)
    if (!isIP(one))
      throw new StartError(
        `BREAKWATER_DNS_HOST must be IP addresses of this machine, comma-separated, for example 0.0.0.0,::; "${one}" is none.`,
      );
  return list;
}

export function dnsPart({ settings, logs, env }: Context): Part {
  const { dataFolder, dnsPort: port, dnsHosts: hosts } = settings;
  const key = bytesFile(join(dataFolder, 'dns.key'), 32);
  env.BREAKWATER_DNS_KEY = key.toString('base64');
  env.BREAKWATER_DNS_HOST = hosts.join(',');
  return {
    name: 'dns',
    stopLimitMs: 20_000,
    start: () =>
      startKnot({
        dir: join(dataFolder, 'dns'),
        port,
        hosts,
        key,
        onLine: line => logs.line('dns', line, { quiet: true }),
      }),
    healthy: () => knotAnswers(port),
    healthEveryMs: 2000,
    // each is asked three times, for two seconds: visitors wait as long
    patience: 3,
  };
}
