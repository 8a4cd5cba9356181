/**
 * Images that were just shown, in memory: a sign-in page asks for five, and each would take a connection and be read whole from the
 * database. The newest stay, up to so many bytes; what another process removed
 * is shown for a minute at most.
 */
export const imageCacheBytes = 16_000_000;
const keptMs = 60_000;

export class ImageCache {
  readonly #load: (name: string) => Promise<Buffer | undefined>;
  readonly #bytesMax: number;
  readonly #now: () => number;
  readonly #kept = new Map<string, { bytes: Buffer; until: number }>();
  /** what many ask for at once is read once */
  readonly #loading = new Map<string, Promise<Buffer | undefined>>();
  #bytes = 0;

  constructor(load: (name: string) => Promise<Buffer | undefined>, bytesMax = imageCacheBytes, now = () => performance.now()) {
    this.#load = load;
    this.#bytesMax = bytesMax;
    this.#now = now;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async get(name: string): Promise<Buffer | undefined> {
    const found = this.#kept.get(name);
    if (found && found.until > this.#now()) {
      // the newest stands last
      this.#kept.delete(name);
      this.#kept.set(name, found);
      return found.bytes;
    }
    this.#drop(name);
    let loading = this.#loading.get(name);
    if (!loading) {
      loading = this.#load(name).finally(() => this.#loading.delete(name));
      this.#loading.set(name, loading);
    }
    const bytes = await loading;
    if (bytes) this.#keep(name, bytes);
    return bytes;
  }

  /** It was removed. */
  forget(name: string): void {
    this.#drop(name);
  }

  #keep(name: string, bytes: Buffer): void {
    this.#drop(name);
    if (bytes.length > this.#bytesMax) return;
    this.#kept.set(name, { bytes, until: this.#now() + keptMs });
    this.#bytes += bytes.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    const found = this.#kept.get(name);
    if (!found) return;
    this.#kept.delete(name);
    this.#bytes -= found.bytes.length;
  }
}
