/** Whether what was started keeps its promises: the launcher says `ready` when its checks do, and says what is wrong until then. */
import { type Check, adviceOf, readChecks, sentenceOf, troubles } from '#contract/system/health.ts';

export interface Wellness {
  ready: boolean;
  /** what fails, the worst first */
  failing: Check[];
}

/** Asks a server for its checks; one that does not answer is not well. */
export async function askServer(origin: string): Promise<Wellness> {
  try {
    const answer = await fetch(`${origin}/readyz?verbose`, { signal: AbortSignal.timeout(5000) });
    const checks = readChecks(((await answer.json()) as { checks?: unknown }).checks, 1000);
    return { ready: answer.ok, failing: troubles(checks).filter(check => check.state === 'fail') };
  } catch {
    return { ready: false, failing: [] };
  }
}

export interface UntilWell {
  ask(): Promise<Wellness>;
  say(line: string): void;
  ready(): void;
  ending(): boolean;
  /** what is on its way into place is given so long before it is called wrong */
  graceMs?: number;
  everyMs?: number;
}

/** Goes on asking until all is well, and says each trouble once when it is seen; resolves when `ready` was said or it ends. */
export async function untilWell({ ask, say, ready, ending, graceMs = 15_000, everyMs = 500 }: UntilWell): Promise<void> {
  const since = performance.now();
  const said = new Set<string>();
  while (!ending()) {
    const { ready: well, failing } = await ask();
    if (ending()) return;
    if (well) return ready();
    if (performance.now() - since >= graceMs)
      for (const check of failing) {
        const sentence = `${sentenceOf(check, 'en_US')} ${adviceOf(check, 'en_US')}`;
        const name = `${check.id} ${check.key ?? ''} ${check.reason}`;
        if (!said.has(name)) say(`NOT ready: ${check.id}: ${sentence}`);
        said.add(name);
      }
    await new Promise(done => setTimeout(done, everyMs));
  }
}
