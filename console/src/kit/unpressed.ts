/**
 * Fields are left by a press on something else. A message that appears between the press and the release of a button moves the button away
 * from under the finger: so what a field says when it is left waits until the press is over.
 */
import { useEffect, useRef } from 'react';

export function useUnpressed(leave: (target: EventTarget) => void) {
  const pressed = useRef<{ left?: EventTarget }>(undefined);
  const act = useRef(leave);
  useEffect(() => {
    act.current = leave;
  });
  /** Leaves what still waits, if it stands on the page. */
  function now() {
    const target = pressed.current?.left;
    if (pressed.current) pressed.current.left = undefined;
    if (target instanceof Element && target.isConnected) act.current(target);
  }
  useEffect(() => {
    const press = () => void (pressed.current = {});
    const release = () =>
      setTimeout(() => {
        now();
        pressed.current = undefined;
      });
    const options = { capture: true };
    document.addEventListener('pointerdown', press, options);
    document.addEventListener('pointerup', release, options);
    document.addEventListener('pointercancel', release, options);
    return () => {
      document.removeEventListener('pointerdown', press, options);
      document.removeEventListener('pointerup', release, options);
      document.removeEventListener('pointercancel', release, options);
    };
  }, []);
  return {
    now,
    left(target: EventTarget) {
      if (pressed.current) pressed.current.left = target;
      else act.current(target);
    },
  };
}
