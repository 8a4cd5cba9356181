/**
 * Time limits on what somebody else does, fair when it was we who stood still: the clock ran on then, and the answer may be waiting in
 * the socket. Time is counted in steps, between which whatever has arrived is read; standing still for a minute takes one of them.
 */
const steps = 8;

/** Calls `over` when about `ms` of waiting are used up. @returns ends it */
export function patience(ms: number, over: () => void): () => void {
  let left = steps;
  let timer: NodeJS.Timeout;
  let last: NodeJS.Immediate | undefined;
  const step = () => {
    if (--left > 0) timer = setTimeout(step, ms / steps);
    // timers come before what has arrived is read, this comes after
    else last = setImmediate(over);
  };
  timer = setTimeout(step, ms / steps);
  return () => (clearTimeout(timer), clearImmediate(last));
}
