/** The new version as a process of ours: it ends when we do, and what it has to tell it says on a channel. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';

/** What a version says of itself while it is tried: nothing is wrong, or what is. */
export interface Said {
  why: string | null;
}
const isSaid = (value: unknown): value is Said => typeof value === 'object' && value !== null && 'why' in value;

const helpMs = 20_000;
const politeMs = 15_000;

/** @throws a sentence: it does not even tell its options */
export function selfCheck({ node, main }: { node: string; main: string }): Promise<void> {
  return new Promise((done, fail) => {
    execFile(node, [main, '--help'], { cwd: '/', timeout: helpMs }, (error, out, err) => {
      if (!error && out.includes('--data')) return done();
      const last =
        err
          .trim()
          .split('\n')
          .findLast(line => /Error|error/.test(line)) ??
        error?.message ??
        'it says nothing';
      fail(new Error(`the new agent does not start: ${last.trim().slice(0, 200)}`));
    });
  });
}

export class Tried {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #said = Promise.withResolvers<Said>();

  /**
   * @param isTrial the kernel ends it when we are ended (prctl(2), PR_SET_PDEATHSIG): while it is tried it holds the lock of the node's
   * folder, and one that hangs would keep whoever is started in our place out for ever. Its nginx goes on.
   */
  constructor({ node, main }: { node: string; main: string }, args: readonly string[], isTrial = false) {
    const [program, ...words] = [...(isTrial ? ['setpriv', '--pdeathsig', 'KILL', '--'] : []), node, main, ...args];
    this.#child = spawn(program!, words, { cwd: '/', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#ended = once(this.#child, 'exit').catch(() => {});
    this.#child.on('message', message => isSaid(message) && this.#said.resolve(message));
    this.#child.on('error', error => this.#said.resolve({ why: `it cannot be started: ${error.message}` }));
    this.#child.on('exit', (code, signal) => this.#said.resolve({ why: `it ended with ${signal ?? `code ${code}`}` }));
  }

  /** @returns what it said first; after `limitMs`, or when it has ended, what is to be said of that */
  async said(limitMs: number): Promise<Said> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Said>(done => {
      timer = setTimeout(() => done({ why: `it says nothing for ${Math.round(limitMs / 1000)} s` }), limitMs);
    });
    return Promise.race([this.#said.promise, late]).finally(() => clearTimeout(timer));
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it by ending the channel; resolves when it is gone. */
  async end(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), politeMs);
    if (this.#child.exitCode === null && this.#child.signalCode === null && this.#child.pid) await this.#ended;
    clearTimeout(timer);
  }
}

/** To whoever started us. Resolves when it was heard, or nobody is there. */
export const tell = (said: Said): Promise<void> =>
  new Promise(done => (process.connected ? process.send!(said, undefined, {}, () => done()) : done()));
