/** A field that stands for one that comes later: it is wanted once somebody goes into it, and takes the focus if they are there still. */
import { useState } from 'react';

export function useWanted() {
  const [state, set] = useState<'no' | 'here' | 'left'>('no');
  return {
    isWanted: state !== 'no',
    isHere: state === 'here',
    /** of what stands there meanwhile */
    visits: { onFocus: () => set('here'), onBlur: () => set('left') },
  };
}
