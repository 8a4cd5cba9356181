/**
 * Which ports of its zone a node can listen on. nginx listens on all of its ports or does not start: one that something else on the machine
 * holds would take the others along, so it is left out until it is free.
 */
import { createServer } from 'node:net';
import type { Control } from './control.ts';
import type { NodeFacts, ZonePort } from './render/nginx.ts';

/** It tries for some seconds to listen on a port that is taken. */
const reloadLimitMs = 5000;

interface Unopened {
  port: number;
  why: 'taken' | 'other' | 'noTLS';
}
interface Sorted {
  open: ZonePort[];
  unopened: Unopened[];
}
type Facts = Pick<NodeFacts, 'httpPorts' | 'httpsPorts' | 'listen' | 'ports'>;

/** @param held where the running nginx listens already */
async function sortPorts({ httpPorts, httpsPorts, listen, ports = [] }: Facts, held: ReadonlySet<number>): Promise<Sorted> {
  const sorted: Sorted = { open: [], unopened: [] };
  for (const one of ports) {
    const { port, scheme } = one;
    const usual = scheme === 'http' ? httpPorts : httpsPorts;
    // one of its usual ports is open anyway
    if (usual.includes(port) && !one.proxyProtocol) continue;
    if (httpPorts.includes(port) || httpsPorts.includes(port)) sorted.unopened.push({ port, why: 'other' });
    else if (scheme === 'https' && !httpsPorts.length) sorted.unopened.push({ port, why: 'noTLS' });
    else if (held.has(port) || (await isFree(port, listen ?? ['0.0.0.0', '::']))) sorted.open.push(one);
    else sorted.unopened.push({ port, why: 'taken' });
  }
  return sorted;
}

const says = {
  taken: 'is taken by another program',
  other: 'is one of its own, for something else',
  noTLS: 'cannot be opened: it speaks no https',
} as const;
const sayUnopened = (unopened: readonly Unopened[]): string =>
  unopened.map(({ port, why }) => `port ${port} ${says[why]}`).join(', ');

/** As nginx would find out: on each of its addresses. */
export async function isFree(port: number, addresses: readonly string[]): Promise<boolean> {
  for (const host of addresses) {
    const free = await new Promise<boolean>(resolve => {
      const server = createServer(socket => socket.destroy());
      server.once('error', () => resolve(false));
      server.listen({ port, host, exclusive: true, ipv6Only: true }, () => server.close(() => resolve(true)));
    });
    if (!free) return false;
  }
  return true;
}

/** What of the ports of its zone an nginx has. */
export class ZonePorts {
  readonly #control: Pick<Control, 'brief'>;
  /** those that its configuration names, those on which it listens, and those that are left out */
  #named: readonly number[] = [];
  #heard: ReadonlySet<number> = new Set();
  #unopened: readonly Unopened[] = [];

  constructor(control: Pick<Control, 'brief'>) {
    this.#control = control;
  }

  /** Asks the running nginx where it listens: its workers know the configuration by which they were started. */
  async ask(): Promise<void> {
    const said = await this.#control.brief().catch(() => undefined);
    if (said) this.#heard = new Set((said.ports ?? '').split(',').filter(Boolean).map(Number));
  }

  /** nginx was told to reload: it has all of them then, or keeps what it had. */
  async opened(): Promise<void> {
    for (const end = performance.now() + reloadLimitMs; this.isLacking && performance.now() < end;) {
      await new Promise(next => setTimeout(next, 20));
      await this.ask();
    }
  }

  /** Of the wanted ones those to listen on. @param isStart nothing listens yet */
  async choose(facts: Facts, isStart: boolean): Promise<readonly ZonePort[]> {
    if (isStart) this.#heard = new Set();
    else await this.ask();
    const { open, unopened } = await sortPorts(facts, this.#heard);
    this.#named = open.map(({ port }) => port);
    this.#unopened = unopened;
    return open;
  }

  /** It was told to listen on more: an earlier reload may have failed by a port that was taken before nginx had it. */
  get isLacking(): boolean {
    return this.#lost().length > 0;
  }
  /** The same of these ports alone. */
  problemOf(ports: ReadonlySet<number>): string | null {
    const lost = this.#lost().map((port): Unopened => ({ port, why: 'taken' }));
    return sayUnopened([...this.#unopened, ...lost].filter(({ port }) => ports.has(port))) || null;
  }
  /** On which of them visitors find nobody, in words; null: they are all open. */
  get problem(): string | null {
    const lost = this.#lost().map((port): Unopened => ({ port, why: 'taken' }));
    return sayUnopened([...this.#unopened, ...lost]) || null;
  }
  #lost(): number[] {
    return this.#named.filter(port => !this.#heard.has(port));
  }
}
