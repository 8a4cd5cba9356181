/**
 * Whether the server can be reached, and answers in its time, as the calls of this page find it. A call without any answer says no; any answer says yes. While it
 * is no, the page asks every few seconds and refreshes what is on screen when the line is back.
 */
import { useSyncExternalStore } from 'react';
import { polling } from './polling.ts';

let isReachable = true;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();
const healed = new Set<() => void>();

function change(next: boolean) {
  if (isReachable === next) return;
  isReachable = next;
  for (const listener of listeners) listener();
  if (next) for (const task of healed) task();
}

let waiting = 0;
/** A call of this page waits for its answer longer than usual: is it that call, or the server? @returns to be called when it ends */
export function waits(): () => void {
  waiting++;
  if (isReachable) void ask();
  for (const listener of listeners) listener();
  return () => {
    waiting--;
    for (const listener of listeners) listener();
  };
}

async function ask() {
  timer = undefined;
  // Any answer will do: a server that is starting says so by itself.
  const answer = await fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(polling.reachTimeoutMs) }).catch(
    () => null,
  );
  if (answer && answer.status < 502) return change(true);
  change(false);
  timer ??= setTimeout(() => void ask(), polling.reachAgainMs);
}

/** The transport tells how each call ended. */
export function heard(answered: boolean): void {
  if (answered) return change(true);
  change(false);
  timer ??= setTimeout(() => void ask(), polling.reachAgainMs);
}

/** Asks until the server answers, and then does that once. @returns ends the asking */
export function onceReachable(task: () => void): () => void {
  heard(false);
  return onHealed(task);
}

/** What is done again when the line is back. */
export const onHealed = (task: () => void): (() => void) => {
  healed.add(task);
  return () => void healed.delete(task);
};

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};
export const useReachable = (): boolean => useSyncExternalStore(subscribe, () => isReachable);
/** Does something wait for an answer longer than usual, although the server can be reached? */
export const useSlow = (): boolean => useSyncExternalStore(subscribe, () => waiting > 0 && isReachable);
