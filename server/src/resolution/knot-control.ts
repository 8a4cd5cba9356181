/** The embedded name server's control, by its own client. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { controlProblem, records } from './knot-said.ts';

const run = promisify(execFile);
const controlMs = 20_000;
const outputMost = 256 * 2 ** 20;

export class KnotControl {
  readonly #socket: string;
  constructor(socket: string) {
    this.#socket = socket;
  }

  async #run(timeout: number, ...args: string[]): Promise<string> {
    try {
      const { stdout } = await run('knotc', ['-s', this.#socket, ...args], {
        timeout,
        maxBuffer: outputMost,
        env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      });
      return stdout;
    } catch (error) {
      // as execFile rejects
      throw controlProblem(error as { stdout?: string; stderr?: string; killed?: boolean });
    }
  }
  /** It is done when this returns. @throws DnsProblem */
  do = (...args: string[]): Promise<string> => this.#run(controlMs, '-b', ...args);
  /** What may take longer than anything else. */
  within = (timeoutMs: number, ...args: string[]): Promise<string> => this.#run(timeoutMs, '-b', ...args);

  /**
   * Who has copies is told now, and nobody waits for it. Knot would tell them a second after each change, and while that is due (its clock has
   * whole seconds) the next change of the zone waits for it, up to that second: also where nobody has a copy.
   */
  async tell(...names: string[]): Promise<void> {
    await this.#run(controlMs, 'zone-notify', ...names).catch(() => {});
  }

  /** `TYPE data` of a name as they stand there. */
  async recordsOf(zone: string, owner: string, types: readonly string[]): Promise<string[]> {
    const said = await this.do('zone-read', zone, `${owner}.`).catch(() => '');
    return [...records(said)].flatMap(([, type, data]) => (types.includes(type) ? [`${type} ${data}`] : []));
  }
}
