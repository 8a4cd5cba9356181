/**
 * A task: work that takes longer than a call may. One declaration says whose it is, what it is given and what its log says; the server
 * makes it a row that survives a crash (server/src/kit/task.ts), the console draws it (console/src/kit/tasks.tsx). The words of a kind
 * are `task.<name>` with the values of `about`, and `taskLine.<name>.<code>` with those of a line: a log holds codes and values alone.
 */
import type * as z from 'zod/mini';

export interface TaskKind<N extends string = string, I extends z.ZodMiniType = z.ZodMiniType> {
  name: N;
  /** Who may edit this resource may start it, cancel it and try it again; who may view it sees it. */
  resource: string;
  /**
   * `site`: everybody who sees the site sees it, customer and operator. `account`: the root account's, an operator's or a customer's;
   * of its people the root, and whoever started it, for its log may name what the others are not shown.
   */
  of: 'site' | 'account';
  /** One at a time of each root account: while it is open another is refused, also one that is tried again (index task_single). */
  single?: true;
  input: I;
  /** Values of its title. */
  about: readonly string[];
  /** Lines of its log: code → names of its values. */
  says: Readonly<Record<string, readonly string[]>>;
}

export const taskOf = <const N extends string, I extends z.ZodMiniType, const K extends Omit<TaskKind<N, I>, 'name' | 'input'>>(
  kind: K & { name: N; input: I },
): TaskKind<N, I> & K => kind;

export type InputOf<K> = K extends { input: infer I extends z.ZodMiniType } ? z.output<I> : never;
export type AboutOf<K> = K extends { about: readonly (infer A extends string)[] } ? Record<A, string | number> : never;
export type SaysOf<K> = K extends { says: infer S } ? S : never;
export type ValuesOf<V> = V extends readonly (infer A extends string)[] ? Record<A, string | number> : never;

/** What a log says of any task. */
export const commonLines = {
  started: [],
  /** the program that did it was gone; another goes on where it stood */
  resumed: [],
  retrying: ['seconds', 'attempt'],
  retried: [],
  cancelled: [],
  failed: [],
  /** it ended, and some of it could not be done */
  ended: ['failed'],
  succeeded: [],
} as const satisfies TaskKind['says'];

export const taskLimits = {
  /** lines kept of one log, the newest */
  lines: 500,
  /** unfinished tasks of one root account */
  open: 100,
  /** tries in a row that got nowhere */
  attempts: 6,
  /** between two tries: the first, each further one twice as long, at most */
  backoffMs: 2000,
  backoffMostMs: 600_000,
  /** how often a screen asks while something goes on */
  pollMs: 2000,
} as const;
