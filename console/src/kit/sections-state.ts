/** Whether something was changed in the open section and is not saved yet: its card tells, the navigation beside it shows. */
import { useEffect, useSyncExternalStore } from 'react';

let dirty = 0;
const listeners = new Set<() => void>();
const tell = (by: number) => {
  dirty += by;
  for (const listener of listeners) listener();
};

/** A card tells while it is changed. */
export function useDirty(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return undefined;
    tell(1);
    return () => tell(-1);
  }, [isDirty]);
}

export const useAnyDirty = (): boolean =>
  useSyncExternalStore(
    listener => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => dirty > 0,
  );
