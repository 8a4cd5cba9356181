/**
 * A piece of the page did not come: the line is down, or another release has taken its place. Then a page on which nothing was typed is
 * loaded anew by itself; any other says so, and leaves the moment to the person (shell/notices.tsx).
 */
import { useSyncExternalStore } from 'react';
import { area } from './area.ts';
import { isHeld, mayReload } from './leaving.ts';
import { heard } from './network.ts';
import { polling } from './polling.ts';

let isNew = false;
const listeners = new Set<() => void>();

export const useNewRelease = (): boolean =>
  useSyncExternalStore(
    listener => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => isNew,
  );

function say(next: boolean) {
  isNew = next;
  for (const listener of listeners) listener();
}
/** Not now: it is said again when the next piece does not come. */
export const laterRelease = () => say(false);

/** Something is being typed, or stands open over the page and would be gone. */
const isInUse = () =>
  isHeld() ||
  document.querySelector('[role=dialog]') !== null ||
  ((document.activeElement as HTMLInputElement | null)?.matches('input, textarea, [contenteditable=true]') ?? false);

/** Never in a circle: what a fresh page does not find either is no matter of releases. */
const againMs = 60_000;
const loadedAt = 'reloadedAt';
function reload() {
  sessionStorage.setItem(loadedAt, String(Date.now()));
  location.reload();
}
const hasReloaded = () => Date.now() - Number(sessionStorage.getItem(loadedAt) ?? 0) < againMs;

/** Whether the server has another release than this page; undefined where it does not say. */
async function isReplaced(): Promise<boolean | undefined> {
  const signal = AbortSignal.timeout(polling.reachTimeoutMs);
  const answer = await fetch(`/${area}`, { cache: 'no-store', signal }).catch(() => undefined);
  const text = answer?.ok ? await answer.text().catch(() => undefined) : undefined;
  const own = document.querySelector('script[type=module][src]')?.getAttribute('src');
  return text === undefined || !own ? undefined : !text.includes(own);
}

let asking: Promise<void> | undefined;
/** To be called when code did not come. */
export const lookForRelease = (): Promise<void> =>
  (asking ??= (async () => {
    const replaced = await isReplaced();
    if (replaced === undefined) return heard(false);
    if (!replaced || isNew) return;
    if (!hasReloaded() && !isInUse()) return reload();
    say(true);
  })().finally(() => (asking = undefined)));

/** The person wants it now. */
export const loadRelease = async (): Promise<void> => {
  if (await mayReload()) reload();
};
