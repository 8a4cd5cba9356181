/**
 * What nginx writes down beside its access log, as its zone says it (contract: system/node-log.ts): from which level on, and one request of
 * so many. More than usual is for whoever looks for a fault, and ends by itself: after some hours, where the disk gets short, and where it
 * comes faster than its files are begun anew. Then it is as usual until the zone says something else. No header is written down that lets somebody in: of
 * nginx's level `debug`, which an earlier release offered, `info` is what is left: Debian's nginx would write down every header.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { DocumentOf } from '#contract/edge/kinds/index.ts';
import { nodeLogDefaults, nodeLogHoursMax } from '#contract/limits.ts';
import type { NodeFacts } from './render/nginx.ts';
import { sampledLog } from './render/sampled.ts';
import { errorLogMaxBytes } from './rotate.ts';

type Wish = DocumentOf<'zone'>['log'];
export type LogFacts = Pick<NodeFacts, 'errorLevel' | 'sampling'>;
/** `over`: why it is as usual although more is wanted; null: more is written down. */
export interface Verbose {
  level: string;
  sampling: number;
  over: 'time' | 'disk' | 'flood' | null;
}

export interface NodeLogOptions {
  logs: string;
  wish(): Wish;
  /** the disk gets short */
  isShort(): boolean;
  /** begins new files where these have reached their size */
  rotate(): Promise<unknown>;
  /** nginx is to be told */
  changed(): void;
  log(message: string): void;
}

const lookMs = 1000;
/** Of one file when it is looked at: so much in a second is more than anybody reads. */
const floodBytes = 3 * errorLogMaxBytes;
const usual = { errorLevel: nodeLogDefaults.level, sampling: nodeLogDefaults.sampling };

function factsOf(wish: Wish): Required<LogFacts> {
  if (!wish) return usual;
  return { errorLevel: wish.level === 'debug' ? 'info' : wish.level, sampling: wish.sampling };
}
const isMore = ({ errorLevel, sampling }: Required<LogFacts>) => errorLevel === 'info' || sampling > 0;

export class NodeLog {
  readonly #options: NodeLogOptions;
  readonly #mostMs: number;
  #timer: NodeJS.Timeout | undefined;
  /** what the zone says, as text, and since when; and why no more is done of it */
  #wished = '';
  #since = 0;
  #over: Verbose['over'] = null;

  constructor(options: NodeLogOptions, mostMs = nodeLogHoursMax * 3_600_000) {
    this.#options = options;
    this.#mostMs = mostMs;
  }

  start(): void {
    this.#timer = setInterval(() => void this.look(), lookMs);
  }
  stop(): void {
    clearInterval(this.#timer);
  }

  /** For nginx's configuration. */
  facts(): LogFacts {
    this.#hear();
    return this.#over === null ? factsOf(this.#options.wish()) : usual;
  }

  /** For the node's checks; undefined: as usual, and nothing else is wanted. */
  verbose(): Verbose | undefined {
    this.#hear();
    const { errorLevel: level, sampling } = factsOf(this.#options.wish());
    return isMore({ errorLevel: level, sampling }) ? { level, sampling, over: this.#over } : undefined;
  }

  #hear(): void {
    const text = JSON.stringify(factsOf(this.#options.wish()));
    if (text === this.#wished) return;
    this.#wished = text;
    this.#since = performance.now();
    this.#over = null;
  }

  async look(): Promise<void> {
    const { logs, isShort, rotate, changed, log } = this.#options;
    const wanted = this.verbose();
    if (!wanted || wanted.over !== null) return;
    const isFlood = ['error.log', sampledLog].some(
      name => (statSync(join(logs, name), { throwIfNoEntry: false })?.size ?? 0) > floodBytes,
    );
    const why = isShort() ? 'disk' : isFlood ? 'flood' : performance.now() - this.#since > this.#mostMs ? 'time' : null;
    if (why !== null) {
      this.#over = why;
      log(`nginx writes down what is usual again (${why}), not ${wanted.level} and one request of ${wanted.sampling || 'none'}`);
      changed();
    }
    await rotate().catch((error: Error) => log(`error.log: ${error.message}`));
  }
}
