/** Reads files of places and makes one of ours of them, in a process of its own: what an owner sent is read by nobody else. */
import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { geoLimits } from '#contract/limits.ts';
import { logger } from '../../log.ts';
import type { BuildOrder, Built } from './build-order.ts';

export class GeoFileRefused extends Error {
  override name = 'GeoFileRefused';
}
/** Nobody's file is to blame: the builder was killed, or had no time or no room. */
export class BuilderFailed extends GeoFileRefused {}

export class Builder {
  readonly #children = new Set<ReturnType<typeof spawn>>();
  #isStopped = false;

  stop(): void {
    this.#isStopped = true;
    for (const child of this.#children) child.kill('SIGKILL');
  }

  async run(order: BuildOrder): Promise<Built> {
    if (this.#isStopped) throw new BuilderFailed('the server is about to end');
    const node = [
      `--max-old-space-size=${geoLimits.buildMemoryMB}`,
      // what is made and forgotten of each network goes soon, not when there is much of it
      '--max-semi-space-size=4',
      join(import.meta.dirname, 'build.ts'),
      JSON.stringify(order),
    ];
    const child = spawn(
      // with whoever waits for it, and keeps its time, it ends
      'setpriv',
      ['--pdeathsig', 'KILL', '--', process.execPath, ...node],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { PATH: '/usr/bin:/bin' },
        timeout: geoLimits.buildSeconds * 1000,
        killSignal: 'SIGKILL',
      },
    );
    this.#children.add(child);
    // nobody waits for it: whoever has work to do goes first
    try {
      if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    } catch (error) {
      // it has ended already, or a container's filter forbids it: it is made all the same
      logger.debug({ error: String(error) }, 'data of where addresses are: made at the usual priority');
    }
    const ended = new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    try {
      const [said, complaint, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
      if (code !== 0) {
        logger.warn({ code, complaint: complaint.slice(-2000) }, 'data of where addresses are: the builder failed');
        throw new BuilderFailed('it takes too long or too much to read');
      }
      // build.ts writes one of these
      const answer = JSON.parse(said) as Built | { bad: string };
      if ('bad' in answer) throw new GeoFileRefused(answer.bad);
      return answer;
    } finally {
      this.#children.delete(child);
    }
  }
}
