/** Where a node listens, as it is told when it is started. */
import { isIP } from 'node:net';
import { type AgentOptions, portsOf } from './agent-options.ts';

/** The value of an option, or of the variable in its place. */
type Read = (name: string, variable: string) => string | undefined;
export type Start = Pick<AgentOptions, 'httpPorts' | 'httpsPorts' | 'relayPort' | 'healthPort' | 'listen'>;

export const listenOf = (read: Read) => read('listen', 'BREAKWATER_EDGE_HOST')?.split(',').filter(Boolean);

/** @param isShadow its health is nobody's to ask, whatever it was told (0, by the agent that starts it). @throws a sentence: something is no port */
export function startOf(read: Read, isShadow = false): Start {
  const relay = read('relay', 'BREAKWATER_EDGE_RELAY');
  const listen = listenOf(read);
  return {
    httpPorts: ports(read('http', 'BREAKWATER_EDGE_HTTP') ?? '80', '--http'),
    httpsPorts: ports(read('https', 'BREAKWATER_EDGE_HTTPS') ?? '', '--https'),
    ...(relay && { relayPort: ports(relay, '--relay')[0]! }),
    ...(listen && { listen }),
    healthPort: isShadow ? 0 : ports(read('health', 'BREAKWATER_AGENT_PORT') ?? '9180', '--health')[0]!,
  };
}

const ports = (value: string, name: string) =>
  value
    .split(',')
    .filter(Boolean)
    .map(one => {
      const port = Number(one);
      if (!Number.isInteger(port) || port < 1 || port > 65535) throw new Error(`${name}: ${one} is not a port`);
      return port;
    });

/** Asked before a machine joins, while another start can still be chosen. @throws a sentence: nginx or the agent would not start so */
export function checkStart(start: Start): void {
  const { httpPorts, httpsPorts, healthPort, listen } = start;
  if (!httpPorts.length && !httpsPorts.length) throw new Error('--http, --https: there is no port for visitors');
  if (!healthPort) throw new Error('--health: there is no port');
  if (listen && !listen.length) throw new Error('--listen: there is no address');
  for (const address of listen ?? []) if (!isIP(address)) throw new Error(`--listen: ${address} is no IP address`);
  const all = portsOf(start);
  const twice = all.find((port, i) => all.indexOf(port) !== i);
  if (twice) throw new Error(`port ${twice} is given twice: those of --http, --https, --relay and --health must be different`);
}
