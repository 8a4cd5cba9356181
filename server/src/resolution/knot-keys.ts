/** Keys of signed zones (DNSSEC), as the embedded name server has them. */
import { setTimeout } from 'node:timers/promises';
import { DnsProblem } from '../domain/dns/driver.ts';
import * as dns from '../domain/dns/message.ts';
import { ask, digestsOf, type NameServer } from './ask.ts';
import type { KnotControl } from './knot-control.ts';
import { ttl } from './names.ts';

/** A key is made in milliseconds. */
const keyTries = 60;
const keyWaitMs = 100;

export class KnotKeys {
  readonly #server: NameServer;
  readonly #control: KnotControl;
  constructor(server: NameServer, control: KnotControl) {
    this.#server = server;
    this.#control = control;
  }

  /** What the zone above has to say of it, as lines of its file. */
  async trust(name: string): Promise<string[]> {
    return (await digestsOf(this.#server, name)).map(one => `${name}. ${ttl.zone} IN DS ${one}`);
  }

  /** @throws DnsProblem while it has no key yet */
  async ofSigned(name: string): Promise<string[]> {
    for (let n = 0; n < keyTries; n++) {
      const found = await digestsOf(this.#server, name);
      if (found.length) return found;
      await setTimeout(keyWaitMs);
    }
    // refused: with `away` all zones behind it, of everybody, would not be asked for either
    throw new DnsProblem('refused', `${name} is not signed yet`);
  }

  /**
   * `begin`: another key beside its own, unless one is there. `take`: the zone above has had the other one for as long as anybody may have
   * the answer without it, so the one before signs nothing any more.
   */
  async replace(name: string, step: 'begin' | 'take'): Promise<void> {
    const { answers } = await ask(this.#server, name, dns.types.DNSKEY);
    const isAlone = answers.filter(({ type }) => type === dns.types.DNSKEY).length === 1;
    if (step === 'begin' && isAlone) await this.#control.do('zone-key-rollover', name, 'ksk');
    if (step === 'take' && (await digestsOf(this.#server, name)).length > 1) await this.#control.do('zone-ksk-submitted', name);
  }
}
