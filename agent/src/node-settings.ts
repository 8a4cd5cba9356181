/** What an operator sets of this very node (its document, kind `node`), held as it is wished: now, and again when the machine changed. */
import { readFileSync } from 'node:fs';
import type { DocumentOf } from '#contract/edge/kinds/index.ts';
import { logRotateNoneSeconds, zeroMeans } from '#contract/limits.ts';
import { GenevaTable } from './geneva.ts';
import { listeningOn } from './listening.ts';

export interface NodeSettingsOptions {
  /** the node's folder */
  data: string;
  /** its document; undefined: nothing is set */
  wanted(): DocumentOf<'node'> | undefined;
  /** addresses it was started with; undefined: all */
  listen: readonly string[] | undefined;
  /** its usual ports, and those of its zone that are open */
  ports(): readonly number[];
  usualPorts: readonly number[];
  configFile: string;
  rotateLogs(): Promise<void>;
  /** nginx is to be given other addresses to listen on */
  changed(): void;
  log(message: string): void;
}

export class NodeSettings {
  /** Addresses for nginx; undefined: every one. */
  listen: readonly string[] | undefined;
  /** Sub-nodes' addresses on which it does not listen, and why; null: on all it should. */
  listenProblem: string | null = null;
  readonly #options: NodeSettingsOptions;
  readonly #geneva: GenevaTable;
  #rotate = { seconds: 0, at: performance.now() };
  #working: Promise<void> = Promise.resolve();

  constructor(options: NodeSettingsOptions) {
    this.#options = options;
    this.listen = options.listen;
    this.#geneva = new GenevaTable(options.data, options.log);
  }

  get genevaProblem(): string | null {
    return this.#geneva.problem;
  }

  /** @param again looks at the machine too */
  look(again = false): Promise<void> {
    this.#working = this.#working.then(() => this.#take(again)).catch((error: Error) => this.#options.log(error.message));
    return this.#working;
  }

  /** nginx ended with us. */
  async end(): Promise<void> {
    await this.#working;
    await this.#geneva.end();
  }

  async #take(again: boolean): Promise<void> {
    const { wanted, ports, usualPorts, listen, configFile, changed, rotateLogs, log } = this.#options;
    const document = wanted();
    await this.#geneva.hold(document?.geneva ?? null, ports(), again);

    let config = '';
    const isHeld = (address: string, port: number) => {
      config ||= read(configFile);
      return config.includes(`listen ${address.includes(':') ? `[${address}]` : address}:${port} `);
    };
    const found = await listeningOn(listen, document?.listen ?? [], usualPorts, isHeld);
    this.listenProblem = found.problem;
    if (JSON.stringify(found.listen) !== JSON.stringify(this.listen)) {
      this.listen = found.listen;
      changed();
    }

    const seconds = document?.logRotateSeconds ?? logRotateNoneSeconds;
    if (seconds !== this.#rotate.seconds) this.#rotate = { seconds, at: performance.now() };
    const isNever = seconds === logRotateNoneSeconds && zeroMeans.logRotateSeconds === 'none';
    if (isNever || performance.now() - this.#rotate.at < seconds * 1000) return;
    this.#rotate.at = performance.now();
    await rotateLogs();
    log(`new log files are begun: every ${seconds} s`);
  }
}

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};
