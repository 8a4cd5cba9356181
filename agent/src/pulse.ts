/**
 * Whether nginx answers: a process that stands still is there all the same, holds its ports and serves nobody.
 *
 * It is asked again and again on a connection of its own, so that no push that hangs stands in the question's way. Silences are counted
 * and not timed, and so is the limit of each question (patience.ts): an agent that stood still itself takes what came meanwhile for an answer.
 */
export interface PulseOptions {
  /** One question with a limit of its own; rejects when nothing came back. */
  ask(): Promise<void>;
  /** Several questions in a row were not answered. */
  silent(): void;
  /** It answers after all. */
  back(): void;
  /** It has been silent for so long that it will not come back by itself. */
  hung(): void;
  everyMs?: number;
}

/** From one question to the next. */
export const pulseMs = 2000;
/** Silences in a row until it is told, and until it is taken for hung. */
export const silencesUntil = { told: 2, hung: 5, hungAtFirst: 15 } as const;
/** Until it has answered so often in a row it may be busy with 100,000 records that it was just given. */
const settledAnswers = 3;

/** Asks until it is told to stop, or it hangs. */
export function startPulse({ ask, silent, back, hung, everyMs: every = pulseMs }: PulseOptions): { stop(): void } {
  let stopped = false;
  let missed = 0;
  let answered = 0;
  let isSettled = false;
  let timer: NodeJS.Timeout | undefined;
  const look = async () => {
    // a silence takes as long as the pause between two questions, also when it is known at once
    const due = new Promise<void>(done => (timer = setTimeout(done, every)));
    const isThere = await ask().then(
      () => true,
      () => false,
    );
    if (stopped) return;
    if (isThere) {
      if (missed >= silencesUntil.told) back();
      missed = 0;
      isSettled ||= ++answered >= settledAnswers;
    } else {
      answered = 0;
      if (++missed === silencesUntil.told) silent();
      if (missed >= (isSettled ? silencesUntil.hung : silencesUntil.hungAtFirst)) {
        stopped = true;
        return hung();
      }
    }
    await due;
    if (!stopped) await look();
  };
  void look();
  return { stop: () => ((stopped = true), clearTimeout(timer)) };
}
