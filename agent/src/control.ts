/** nginx's control socket (agent/src/render/records.ts describes it): a keep-alive HTTP client for one pusher. */
import http from 'node:http';
import { patience } from './patience.ts';
import type { Beat } from './workers.ts';

export interface Stat {
  seq: number;
  /** changes when nginx was started anew */
  epoch: string;
  /** the text of the last /apply, or of the snapshot */
  cursor: string;
  /** rules that cannot be read; site 0: the zone's */
  bad?: Fault[];
  records: number;
  [more: string]: unknown;
}

export interface Fault {
  site: number;
  /** as the documents name it: userAgents, cacheRules … */
  list: string;
  id: number | string;
  error: string;
}

/** nginx has no room for this record, `c:…` or `i:…`: it is left out of what was pushed, or was in the snapshot (edge/lua/core/store.lua). */
export const isWithoutRoom = (fault: Fault): boolean => fault.list === 'certificates';

export interface Brief {
  epoch: string;
  /** what went wrong since it was started (edge/lua/core/problems.lua) */
  problems: Record<string, number>;
  /** none where no worker has said anything yet, and of an nginx of an earlier release */
  workers?: Beat[] | Record<string, never>;
  /** names of the authorities by which origins can be verified, joined by blanks */
  trusts?: string;
  /** there are rules that cannot be read, or there were some */
  faulty?: boolean;
  /** beside the usual ones, where it listens: `8443,8444`; missing of an nginx of an earlier release */
  ports?: string;
  /** which life of the cache its workers know; missing as above */
  cacheAge?: string;
  /** relays of the zone that are passed by: since when, seconds since 1970, and why; missing as above */
  relaysAway?: Record<string, { since: number; why: string }>;
  /** the folder of the Lua its workers run; missing as above */
  lua?: string;
}

/** Of nginx as a whole, both its halves. */
export interface Connections {
  active: number;
  /** since it was started, without our own questions */
  requests: number;
}

export class ControlError extends Error {
  override name = 'ControlError';
  /** HTTP status; 0: nginx does not answer */
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const limitMs = 10_000;
const pingLimitMs = 2000;
/** Another push is under way only for milliseconds. */
const busyTries = 200;

export class Control {
  readonly #socketPath: string;
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  /** Questions of ours that nginx answered: it counts them among its requests. */
  #asked = 0;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /** @throws ControlError */
  async stat(): Promise<Stat> {
    // our own Lua of this release writes it (edge/lua/phases/control.lua)
    return (await this.#request('GET', '/stat')) as unknown as Stat;
  }

  /** How nginx's Lua is, and its workers. @throws ControlError */
  async brief(): Promise<Brief> {
    // the same in brief
    return (await this.#request('GET', '/stat?brief=1')) as unknown as Brief;
  }

  /** Does it answer at all, whatever it says? On a connection of its own: pushes may be waiting on the other. @throws when nothing came back in time */
  ping(limit = pingLimitMs): Promise<void> {
    return new Promise((done, fail) => {
      const request = http.request(
        { socketPath: this.#socketPath, agent: false, path: '/stat?brief=1', headers: { host: 'control' } },
        answer => (this.#asked++, enough(), answer.destroy(), done()),
      );
      const enough = patience(limit, () => request.destroy(new Error('nginx does not answer')));
      request.on('error', (error: NodeJS.ErrnoException) => {
        enough();
        // Hung up on: a worker that has no connection to spare accepts and closes. It is full, and it runs.
        if (error.code === 'ECONNRESET') done();
        else fail(error);
      });
      request.end();
    });
  }

  /**
   * Applies one body of frames.
   * @param cursor what /stat shall answer from now on
   * @throws ControlError
   */
  async apply(body: Buffer, cursor: string): Promise<{ seq: number; epoch: string; bad?: Fault[] }> {
    for (let tries = 0; ; tries++) {
      try {
        // what the Lua answers to it
        return (await this.#request('POST', `/apply?cursor=${encodeURIComponent(cursor)}`, body)) as never;
      } catch (error) {
        if (!(error instanceof ControlError) || error.status !== 503 || tries >= busyTries) throw error;
        await new Promise(next => setTimeout(next, 5));
      }
    }
  }

  /** Tells which origins are down, all of them: record's key → `<address>|<port>|<protocol>`. @throws ControlError */
  async down(lists: Record<string, string[]>): Promise<void> {
    await this.#request('POST', '/down', Buffer.from(JSON.stringify(lists)));
  }

  /** What became of asking each relay of the zone how it is: why it does not answer, or false. @throws ControlError */
  async relays(found: Record<string, string | false>): Promise<void> {
    await this.#request('POST', '/relays', Buffer.from(JSON.stringify(found)));
  }

  /** Connections that are open, and requests so far. @throws when it does not say: it does not answer, or is of an earlier release */
  connections(): Promise<Connections> {
    return new Promise((done, fail) => {
      const request = http.request(
        { socketPath: this.#socketPath, agent: false, path: '/connections', headers: { host: 'control' }, timeout: pingLimitMs },
        answer => {
          this.#asked++;
          let text = '';
          answer.setEncoding('utf8').on('data', (part: string) => (text += part));
          answer.on('error', fail);
          answer.on('end', () => {
            const found = /^Active connections: (\d+)\D+\d+ \d+ (\d+)/.exec(text);
            if (found) done({ active: Number(found[1]), requests: Math.max(0, Number(found[2]) - this.#asked) });
            else fail(new ControlError(answer.statusCode ?? 0, 'nginx says nothing of its connections'));
          });
        },
      );
      request.on('timeout', () => request.destroy(new Error('nginx does not answer')));
      request.on('error', fail);
      request.end();
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #request(method: string, path: string, body?: Buffer): Promise<Record<string, unknown>> {
    return new Promise((done, fail) => {
      const request = http.request(
        {
          socketPath: this.#socketPath,
          agent: this.#agent,
          method,
          path,
          headers: { host: 'control', ...(body && { 'content-length': body.length }) },
        },
        answer => {
          this.#asked++;
          const parts: Buffer[] = [];
          answer.on('data', (part: Buffer) => parts.push(part));
          answer.on('error', error => fail(new ControlError(0, error.message)));
          answer.on('end', () => {
            const text = Buffer.concat(parts).toString('utf8');
            let json: Record<string, unknown> = {};
            try {
              json = JSON.parse(text);
            } catch {
              if (answer.statusCode === 200) return fail(new ControlError(0, `nginx answered: ${text.slice(0, 100)}`));
            }
            if (answer.statusCode === 200) done(json);
            else fail(new ControlError(answer.statusCode ?? 0, `nginx: ${String(json.error ?? text.slice(0, 200))}`));
          });
        },
      );
      let enough = () => {};
      // from its turn on the only connection
      request.on('socket', () => (enough = patience(limitMs, () => request.destroy(new Error('nginx does not answer')))));
      request.on('close', () => enough());
      request.on('error', error => fail(new ControlError(0, error.message)));
      request.end(body);
    });
  }
}
