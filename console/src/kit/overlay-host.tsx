import { Fragment, useSyncExternalStore } from 'react';
import { overlayStore } from './overlay.ts';

export function OverlayHost() {
  const overlays = useSyncExternalStore(overlayStore.subscribe, overlayStore.get);
  return overlays.map(overlay => <Fragment key={overlay.id}>{overlay.render(overlay.close)}</Fragment>);
}
