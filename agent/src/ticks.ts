/**
 * What relays say about how far the zone is. One of them is active, but another that has lost its place without knowing it goes on
 * speaking for a while; its word is old, and says nothing about the control plane.
 */
export interface Said {
  epoch: string;
  n: number;
  /** which relay; '': one that does not tell */
  by: string;
}

/** Ticks come every two seconds: so long a relay counts as one that speaks. */
const heardMs = 8000;

export class Ticks {
  /** relay → when it last knew as much as we, how often in a row it has known less */
  readonly #relays = new Map<string, { level: number; behind: number; at: number }>();

  /** @returns whether the control plane must be asked: it is ahead of us, or went back to a backup, where our place means nothing */
  heard({ epoch, n, by }: Said, ours: { epoch: string; n: number }, now: number): boolean {
    for (const [name, { at }] of this.#relays) if (now - at > heardMs) this.#relays.delete(name);
    const relay = this.#relays.get(by) ?? { level: -Infinity, behind: 0, at: now };
    this.#relays.set(by, relay);
    relay.at = now;
    if (epoch !== ours.epoch) return true;
    if (n >= ours.n) {
      relay.level = now;
      relay.behind = 0;
      return n > ours.n;
    }
    // Once may be a word that was overtaken.
    if (++relay.behind < 2) return false;
    for (const [name, { level }] of this.#relays) if (name !== by && now - level <= heardMs) return false;
    return true;
  }
}
