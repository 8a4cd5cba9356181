/**
 * What somebody typed is not lost without asking: Back, a link, a reload, another language. A form holds the page while it differs from
 * what it began with.
 *
 * The router's history awaits its blockers, and a second Back in the meantime would slip through: so a blocked step is refused at once,
 * the question is asked, and the step is made again when the person agrees.
 */
import type { RouterHistory } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { mayDiscard } from './confirm.ts';

interface Hold {
  /** something would be lost now; not while it is being saved */
  isDirty(): boolean;
  /** keeps what was typed, if anything was, for the same form after a sign-in or a reload; left out: it cannot be kept */
  keep?(): void;
}
const holds = new Set<Hold>();
let asking: Promise<boolean> | undefined;

/** Holds the page until the answered function is called. */
export function holdPage(hold: Hold): () => void {
  holds.add(hold);
  return () => void holds.delete(hold);
}

/** The same for a form that is a page of its own: held while it differs, until it is left or saved. */
export function useHold(isDirty: () => boolean, keep?: () => void): void {
  const now = useRef({ isDirty, keep });
  useEffect(() => {
    now.current = { isDirty, keep };
  });
  const canKeep = keep !== undefined;
  useEffect(
    () => holdPage({ isDirty: () => now.current.isDirty(), ...(canKeep && { keep: () => now.current.keep?.() }) }),
    [canKeep],
  );
}

export const isHeld = () => [...holds].some(hold => hold.isDirty());

/** Asks, if something would be lost; after a yes nothing holds any more. */
export async function mayLeave(): Promise<boolean> {
  if (!isHeld()) return true;
  asking ??= mayDiscard().finally(() => (asking = undefined));
  const isSure = await asking;
  if (isSure) holds.clear();
  return isSure;
}

/** Before the page is loaded anew: what can be kept comes back with its form, for all else the person is asked. */
export async function mayReload(): Promise<boolean> {
  const isLost = [...holds].some(hold => !hold.keep && hold.isDirty());
  if (isLost && !(await mayDiscard())) return false;
  keepTyped();
  return true;
}

/** The session has ended: what was typed is kept, and nothing stands in the way of the login form. */
export function keepTyped(): void {
  for (const hold of holds) hold.keep?.();
  holds.clear();
}

const indexOf = (state: object | undefined) => Number((state as { __TSR_index?: number } | undefined)?.__TSR_index ?? 0);

export function guardHistory(history: RouterHistory): void {
  history.block({
    enableBeforeUnload: isHeld,
    blockerFn: ({ currentLocation, nextLocation, action }) => {
      if (!isHeld()) return false;
      void mayLeave().then(isSure => {
        if (!isSure) return;
        if (action === 'PUSH') history.push(nextLocation.href, nextLocation.state, { ignoreBlocker: true });
        else if (action === 'REPLACE') history.replace(nextLocation.href, nextLocation.state, { ignoreBlocker: true });
        else history.go(indexOf(nextLocation.state) - indexOf(currentLocation.state), { ignoreBlocker: true });
      });
      return true;
    },
  });
}
