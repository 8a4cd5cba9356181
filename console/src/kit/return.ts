/** Whoever closes a drawer goes on where he was. */
import { useEffect } from 'react';

export function useReturn(): void {
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    return () => {
      // A shortcut has no opener, and the button of an empty list goes when the first row comes.
      const isLasting = () => opener?.isConnected && opener !== document.body && !opener.closest('.empty');
      setTimeout(() =>
        (isLasting() ? opener : document.querySelector<HTMLElement>('[data-create]'))?.focus({ preventScroll: true }),
      );
    };
  }, []);
}
