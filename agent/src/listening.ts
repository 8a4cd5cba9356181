/**
 * Addresses of sub-nodes on which nginx listens by entries of their own. nginx listens on all of its addresses or does not start: one that
 * this machine has not, or where something else holds the port, is left out until it can be had.
 */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isFree } from './ports.ts';

export interface Listening {
  /** what nginx is to listen on; undefined: every address, as it is by itself */
  listen: string[] | undefined;
  /** of those that were asked for the ones it cannot have, and why */
  problem: string | null;
}

const hasAddress = (address: string) =>
  // the whole of 127.0.0.0/8 is this machine's
  address.startsWith('127.') || Object.values(networkInterfaces()).some(all => all?.some(one => one.address === address));

/**
 * @param usual addresses it was started with; undefined: all of them
 * @param asked of its sub-nodes
 * @param isHeld whether nginx is told to listen there already
 */
export async function listeningOn(
  usual: readonly string[] | undefined,
  asked: readonly string[],
  ports: readonly number[],
  isHeld: (address: string, port: number) => boolean,
): Promise<Listening> {
  if (!usual) return { listen: undefined, problem: null };
  const covered = (address: string) => usual.includes(address) || usual.includes(isIP(address) === 6 ? '::' : '0.0.0.0');
  const more: string[] = [];
  const away: string[] = [];
  for (const address of asked) {
    if (covered(address)) continue;
    if (!hasAddress(address)) away.push(`${address} is none of this machine’s addresses`);
    else {
      const taken: number[] = [];
      for (const port of ports) if (!isHeld(address, port) && !(await isFree(port, [address]))) taken.push(port);
      if (taken.length) away.push(`port ${taken.join(', ')} of ${address} is taken by another program`);
      else more.push(address);
    }
  }
  return { listen: [...usual, ...more], problem: away.length ? away.join('; ').slice(0, 400) : null };
}
