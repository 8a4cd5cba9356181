/** Switches of the deployment, written into index.html by whoever serves it; left alone they are off. */
import { display } from '#contract/limits-start.ts';

const meta = (name: string) => globalThis.document?.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content;

export const deployment = {
  /** The admin area is closed (§2). */
  offlineMode: meta('breakwater-offline') === 'true' || display.offlineModeDefault,
  version: display.frontEndVersion,
};
