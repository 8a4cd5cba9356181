/** Dialogs from anywhere: `await overlay(close => <Dialog onClose={close} />)`. The shell draws them (kit/overlay-host.tsx). */
import type { ReactNode } from 'react';

export type Close<T> = (value?: T) => void;
export interface Overlay {
  id: number;
  render: (close: Close<never>) => ReactNode;
  close: Close<never>;
}

let overlays: readonly Overlay[] = [];
let last = 0;
const listeners = new Set<() => void>();

export const overlayStore = {
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  get: () => overlays,
  /** Whether somebody draws them: the pages before the shell have no host. */
  hasHost: () => listeners.size > 0,
  closeAll() {
    for (const one of overlays) one.close();
  },
};

function change(next: readonly Overlay[]) {
  overlays = next;
  for (const listener of listeners) listener();
}

/** Resolves with what the dialog closes with; undefined when it was dismissed. */
export function overlay<T>(render: (close: Close<T>) => ReactNode): Promise<T | undefined> {
  return new Promise(resolve => {
    const id = ++last;
    const close: Close<T> = value => {
      change(overlays.filter(one => one.id !== id));
      resolve(value);
    };
    change([...overlays, { id, render: render as Overlay['render'], close: close as Close<never> }]);
  });
}
