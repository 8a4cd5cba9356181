/**
 * What nginx should hold → nginx. Only keys that changed are pushed; by the cursor text that nginx keeps for us we know after a
 * start, a silence or a change of agents whether it holds what we think.
 */
import { type Control, ControlError, isWithoutRoom } from './control.ts';
import type { EdgeState } from './edge-state.ts';
import { type EdgeRecord, applyBytesMax, frames, snapshot } from './render/records.ts';

export interface PusherOptions {
  state: EdgeState;
  control: Control;
  /** the text that stands for the state as it is */
  cursor(): string;
  /** what was missed is there now */
  caughtUp(): void;
  /** whether we know all that an nginx should hold which was left at this cursor; false: our store was lost, or a part of it */
  knowsAll(left: string): boolean;
  /** nginx holds records nobody can name: it must be started from a snapshot */
  restartNginx(why: string): void;
  log(message: string): void;
}

/** Nothing compares equal to it: what stands in nginx is to be told in full. */
export const unsettled = 'unsettled';
const retryMs = 1000;

export class Pusher {
  /** Why nginx does not take records; null while it does, or is not there. */
  problem: string | null = null;
  readonly #options: PusherOptions;
  #up = false;
  /** nginx ran before us and may hold more than we know: it is left as it is. */
  #held = false;
  #adopted = false;
  /** Keys whose change nginx did not get: it was starting, or did not answer. */
  readonly #missed = new Set<string>();
  /** Keys of certificates nginx has no room for: they are tried again when others are gone, and hold up nothing. */
  #withoutRoom = new Set<string>();
  /** The cursor of the snapshot nginx was given. */
  #snapshotCursor: string | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: PusherOptions) {
    this.#options = options;
  }

  /** nginx runs and holds everything that was pushed. */
  get serving(): boolean {
    return this.#up && !this.#held && this.#missed.size === 0;
  }

  /**
   * Brings these keys to nginx. While it is down there is nothing to do: it starts from a snapshot.
   * @returns keys nginx cannot take. What it cannot take now (it is silent, its dictionary is full) is tried again.
   */
  push(keys: string[], cursor = this.#options.cursor()): Promise<string[]> {
    return this.#serial(async () => {
      for (const key of keys) this.#missed.add(key);
      if (!this.#up || this.#held) return [];
      try {
        return await this.#sendMissed(cursor);
      } catch (error) {
        // No answer: it died, then it starts from a snapshot; or it was slow, then we ask again.
        this.#failed(error as Error);
        return [];
      }
    });
  }

  /** nginx is up: it must hold what we hold. @param adopted it ran before us */
  async nginxUp(adopted: boolean): Promise<void> {
    this.#up = true;
    this.#adopted = adopted;
    await this.#serial(() => this.#reconcile());
  }
  /** Everything is read: what was held back is told. */
  async known(): Promise<void> {
    if (this.#held) await this.#serial(() => this.#reconcile());
  }
  nginxDown(): void {
    this.#up = false;
    this.#held = false; // it starts from a snapshot
    this.problem = null; // whoever saw it end says so
  }

  /** What nginx shall start with. Made at once, so that it is the state of one moment. */
  snapshot(): Buffer[] {
    const cursor = this.#options.cursor();
    const parts = [...snapshot(this.#options.state.all(), cursor)];
    this.#snapshotCursor = cursor;
    this.#missed.clear();
    return parts;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    await this.#queue;
  }

  /** One push at a time: two would be told to wait, and could overtake each other. */
  #serial<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(act, act);
    this.#queue = done.catch(() => {});
    return done;
  }

  /**
   * What was missed. Where the dictionary has no room for it, what is gone goes before what is new: kind after kind, domains first, so that
   * no site loses a part that the record it has still names as long as there is another way.
   */
  async #sendMissed(cursor: string): Promise<string[]> {
    const keys = [...this.#missed];
    const gone = this.#options.state.gone(keys);
    const left = [...gone];
    let refused: string[] | undefined;
    while (!refused) {
      try {
        refused = await this.#sendInParts(this.#options.state.records(keys), cursor);
      } catch (error) {
        const next = left.shift();
        if (!next || !isFull(error)) throw error;
        await this.#sendInParts(next, unsettled);
      }
    }
    for (const key of keys) this.#missed.delete(key);
    this.problem = null;
    const waiting = [...this.#withoutRoom];
    if (waiting.length && gone.some(records => isApart(records[0]!.key)))
      await this.#sendInParts(this.#options.state.records(waiting), cursor);
    return refused;
  }

  async #apply(body: Buffer, cursor: string): Promise<void> {
    const { bad = [] } = await this.#options.control.apply(body, cursor);
    for (const fault of bad) if (isWithoutRoom(fault)) this.#withoutRoom.add(String(fault.id));
  }

  /**
   * Part after part, so that however much it is neither this process nor nginx works on all of it at once. While nginx takes one in, the
   * next is made here.
   */
  async #sendInParts(all: Iterable<EdgeRecord>, cursor: string): Promise<string[]> {
    const refused: string[] = [];
    const parts = inParts(all);
    let part = parts.next();
    let after = parts.next();
    while (!part.done) {
      const sending = this.#send(part.value, after.done ? cursor : unsettled);
      sending.catch(() => {}); // heard below
      // it goes out on the loop's next turn: what is made before that would keep nginx waiting
      if (!after.done) await new Promise<void>(next => setImmediate(next));
      try {
        [part, after] = [after, after.done ? after : parts.next()];
      } finally {
        refused.push(...(await sending)); // whatever was made meanwhile: one push at a time
      }
    }
    return refused;
  }

  /** @returns keys nginx cannot take */
  async #send(records: EdgeRecord[], cursor: string): Promise<string[]> {
    const { log } = this.#options;
    for (const { key } of records) this.#withoutRoom.delete(key);
    try {
      const bodies = records.length ? frames(records) : [Buffer.alloc(0)];
      // The cursor goes with the last body: until then nginx holds a mixture.
      for (const [i, body] of bodies.entries()) await this.#apply(body, i === bodies.length - 1 ? cursor : unsettled);
      return [];
    } catch (error) {
      if (!unfit(error)) throw error;
    }
    // nginx refuses a push as a whole: find the records it stumbles over, so that they hurt nobody else.
    const refused: string[] = [];
    for (const record of records) {
      try {
        // A mixture until the last one is tried: whoever comes after us has to see that.
        for (const body of frames([record])) await this.#apply(body, unsettled);
      } catch (error) {
        if (!unfit(error)) throw error;
        log(`${record.key}: ${(error as Error).message}`);
        refused.push(record.key);
      }
    }
    await this.#apply(Buffer.alloc(0), cursor);
    return refused;
  }

  /** Compares what nginx holds with what it should, by the cursor, and brings what is missing. */
  async #reconcile(): Promise<void> {
    const { state, control, restartNginx, log, caughtUp } = this.#options;
    try {
      const cursor = this.#options.cursor();
      const stat = await control.stat();
      const holds = this.#adopted && stat.records > 0 && !this.#options.knowsAll(stat.cursor);
      if (holds && !this.#held)
        log(
          `nginx holds ${stat.records} records, and the store does not say them all: it goes on as it is until everything is read`,
        );
      this.#held = holds;
      if (holds) return;
      this.#withoutRoom = new Set((stat.bad ?? []).filter(isWithoutRoom).map(fault => String(fault.id)));
      if (stat.cursor !== (this.#snapshotCursor ?? cursor) || stat.cursor === unsettled) {
        log(`nginx holds ${stat.records} records of ${stat.cursor || 'nothing'}; pushing all ${state.size}`);
        for (const key of state.keys()) this.#missed.add(key);
      }
      await this.#sendMissed(cursor);
      this.#snapshotCursor = undefined;
      const { records } = await control.stat();
      if (records > state.size) restartNginx(`it holds ${records} records, and ${state.size} are known`);
      caughtUp();
    } catch (error) {
      this.#failed(error as Error);
    }
  }

  #failed(error: Error): void {
    const message = `nginx does not take the configuration: ${error.message}`;
    if (message !== this.problem) this.#options.log(message);
    this.problem = message;
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      if (this.#up && !this.#stopped) void this.#serial(() => this.#reconcile());
    }, retryMs);
  }
}

const isFull = (error: unknown) => error instanceof ControlError && error.status === 507;
/** nginx (HTTP 400) or the wire form refuses the record itself. */
const unfit = (error: unknown) => error instanceof RangeError || (error instanceof ControlError && error.status === 400);

/** Of a certificate: it stands in a dictionary of its own. */
const isApart = (key: string) => key.startsWith('c:') || key.startsWith('i:');

/** What a frame has beside key and value, about. */
const frameBytes = 12;
/** Records in parts of about one push each; one empty part where there are none. */
function* inParts(all: Iterable<EdgeRecord>): Generator<EdgeRecord[], void> {
  let part: EdgeRecord[] = [];
  let bytes = 0;
  for (const record of all) {
    const size = record.key.length + (record.value?.length ?? 0) + frameBytes;
    if (bytes + size > applyBytesMax && part.length) {
      yield part;
      part = [];
      bytes = 0;
    }
    bytes += size;
    part.push(record);
  }
  yield part;
}
