/** NOTIFY of PostgreSQL for whoever waits in this process: one connection, however many readers. */
import { EventEmitter } from 'node:events';
import { listen } from '../store/db.ts';

export type Channel = 'applied' | 'node';

export class Notices {
  readonly #events = new EventEmitter().setMaxListeners(0);
  readonly #listener;
  #stopped = false;

  constructor(databaseUrl: string) {
    this.#listener = listen(databaseUrl, ['applied', 'node'], (channel, payload) => this.#events.emit(channel, payload));
  }

  /** Resolves at the next notice that `wanted` takes (an empty payload says "many"), or after `limitMs`. */
  next(channel: Channel, wanted: (payload: string) => boolean, limitMs: number): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise(done => {
      const finish = () => {
        clearTimeout(timer);
        this.#events.off(channel, heard);
        this.#events.off('stop', finish);
        done();
      };
      const heard = (payload: string) => {
        if (payload === '' || wanted(payload)) finish();
      };
      const timer = setTimeout(finish, limitMs);
      this.#events.on(channel, heard);
      this.#events.on('stop', finish);
    });
  }

  get stopped() {
    return this.#stopped;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#events.emit('stop');
    await this.#listener.stop();
  }
}
