/** The embedded name server as `npm start` has it, in a folder of a test's own; and dig(1), which asks as anybody would. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { Services } from '#server/kit/services.ts';
import { knotPaths, startKnot } from '#server/resolution/knot-launcher.ts';
import { updateKeyName } from '#server/resolution/names.ts';
import { type Engine, freePort } from '#server/store/engine-process.ts';
import { testFolder } from './engines.ts';

const run = promisify(execFile);

export class NameServer {
  readonly dir = testFolder('dns');
  readonly key = randomBytes(32);
  readonly port: number;
  #engine: Engine | undefined;

  private constructor(port: number) {
    this.port = port;
  }
  static async start(): Promise<NameServer> {
    const one = new NameServer(await freePort());
    await one.up();
    return one;
  }

  /** As it was left. */
  async up(): Promise<void> {
    const engine = await startKnot({ dir: this.dir, port: this.port, hosts: ['127.0.0.1'], key: this.key, ref: false });
    this.#engine = engine;
    void engine.exited.then(() => {
      if (this.#engine === engine) this.#engine = undefined;
    });
  }
  /** As the launcher has it: one that has ended is started again. */
  async keepUp(): Promise<void> {
    if (!this.#engine) await this.up();
  }
  get pid(): number {
    return this.#engine!.pid;
  }
  /** Without a word, as by kill -9; or by what a crash ends it. */
  async kill(signal: 'SIGKILL' | 'SIGSEGV' = 'SIGKILL'): Promise<void> {
    const { exited } = this.#engine!;
    process.kill(this.pid, signal);
    await exited;
  }
  async stop(): Promise<void> {
    await this.#engine?.stop();
  }

  get service(): NonNullable<Services['knot']> {
    return {
      port: this.port,
      key: { name: updateKeyName, algorithm: 'hmacSHA256', secret: this.key },
      ...knotPaths(this.dir),
      addresses: ['127.0.0.1'],
    };
  }

  dig = (...args: string[]): Promise<string[]> => dig(this.port, ...args);
}

/** The lines of a short answer, sorted; `status: NXDOMAIN` and its like, or `Transfer failed`, where there is none. */
export async function dig(port: number, ...args: string[]): Promise<string[]> {
  const { stdout } = await run('dig', [
    '@127.0.0.1',
    '-p',
    String(port),
    '+tries=2',
    '+time=2',
    '+noall',
    '+answer',
    '+comments',
    ...args,
  ]);
  const answers = stdout.split('\n').filter(line => line && !line.startsWith(';'));
  if (answers.length) return answers.map(line => line.split(/\s+/).slice(4).join(' ')).sort();
  // a server that answers so is there
  if (/^; Transfer failed\.$/m.test(stdout)) return ['Transfer failed'];
  return [`status: ${/status: (\w+)/.exec(stdout)?.[1] ?? 'none'}`];
}
