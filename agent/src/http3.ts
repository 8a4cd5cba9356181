/**
 * Whether a node can speak HTTP/3 where its zone wants it. It takes an nginx that was built with it, and UDP at the ports of https: nginx
 * listens on all of its ports or does not start, so HTTP/3 is left out where another program has one of them,
 * or a worker of before a reload, whose sockets would get their share of what visitors send and be read by nobody.
 */
import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';
import { holdsUDP } from './processes.ts';
import type { NodeFacts } from './render/nginx.ts';

type Facts = Pick<NodeFacts, 'http3' | 'hasHTTP3' | 'httpsPorts' | 'listen'>;

/** As nginx would find out: on each of its addresses. */
async function isFree(port: number, addresses: readonly string[]): Promise<boolean> {
  for (const address of addresses) {
    const free = await new Promise<boolean>(resolve => {
      const socket = createSocket(isIP(address) === 6 ? { type: 'udp6', ipv6Only: true } : { type: 'udp4' });
      socket.once('error', () => resolve(false));
      socket.bind({ port, address, exclusive: true }, () => socket.close(() => resolve(true)));
    });
    if (!free) return false;
  }
  return true;
}

export class HTTP3 {
  /** Why visitors find none though the zone wants it, in words; null: they do, or it does not. */
  problem: string | null = null;
  /** It may be there as soon as another program, or a worker of before, gives a port back. */
  isTaken = false;

  /**
   * @param configured what the running nginx was configured by; empty: none runs, and nobody of ours has a port
   * @param old its workers of before a reload: they hold the ports of then until they end
   */
  async choose({ http3, hasHTTP3, httpsPorts, listen }: Facts, configured: string, old = () => [] as number[]): Promise<boolean> {
    this.isTaken = false;
    this.problem = null;
    if (!http3) return false;
    if (!hasHTTP3) this.problem = 'its nginx was built without HTTP/3';
    else if (!httpsPorts.length) this.problem = 'it speaks no https';
    else {
      const unheld = httpsPorts.filter(port => !configured.includes(`:${port} quic`));
      for (const port of unheld)
        if (!(await isFree(port, listen ?? ['0.0.0.0', '::']))) {
          this.isTaken = true;
          this.problem = old().some(pid => holdsUDP(pid, port))
            ? `UDP port ${port} is held by a worker of before that still has answers to end`
            : `UDP port ${port} is taken by another program`;
        }
    }
    return this.problem === null;
  }
}
