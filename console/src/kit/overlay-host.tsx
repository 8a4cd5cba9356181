import { Fragment, useEffect, useSyncExternalStore } from 'react';
import { overlayStore } from './overlay.ts';

export function OverlayHost() {
  const overlays = useSyncExternalStore(overlayStore.subscribe, overlayStore.get);
  // The shell goes when the session ends: whoever signs in next is not shown what the last one had open.
  useEffect(() => overlayStore.closeAll, []);
  return overlays.map(overlay => <Fragment key={overlay.id}>{overlay.render(overlay.close)}</Fragment>);
}
