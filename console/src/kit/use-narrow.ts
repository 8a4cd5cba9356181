import { useSyncExternalStore } from 'react';

const narrow = matchMedia('(max-width: 860px)');

/** Whether this is a telephone: fixed columns would leave no room. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    listener => {
      narrow.addEventListener('change', listener);
      return () => narrow.removeEventListener('change', listener);
    },
    () => narrow.matches,
  );
}
