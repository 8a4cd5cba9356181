/**
 * What somebody typed is not lost without asking: Back, a link, a reload, another language. A form holds the page while it differs from
 * what it began with.
 *
 * The router's history awaits its blockers, and a second Back in the meantime would slip through: so a blocked step is refused at once,
 * the question is asked, and the step is made again when the person agrees.
 */
import type { RouterHistory } from '@tanstack/react-router';
import { mayDiscard } from './discard.ts';

interface Hold {
  isDirty(): boolean;
  /** keeps what was typed for the next sign-in */
  keep(): void;
}
const holds = new Set<Hold>();
let asking: Promise<boolean> | undefined;

/** Holds the page until the answered function is called. */
export function holdPage(hold: Hold): () => void {
  holds.add(hold);
  return () => void holds.delete(hold);
}

const isHeld = () => [...holds].some(hold => hold.isDirty());

/** Asks, if something would be lost; after a yes nothing holds any more. */
export async function mayLeave(): Promise<boolean> {
  if (!isHeld()) return true;
  asking ??= mayDiscard().finally(() => (asking = undefined));
  const isSure = await asking;
  if (isSure) holds.clear();
  return isSure;
}

/** The session has ended: what was typed is kept, and nothing stands in the way of the login form. */
export function keepTyped(): void {
  for (const hold of holds) if (hold.isDirty()) hold.keep();
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
