import type { Settings } from '../settings.ts';
export async function startIngestService(_settings: Settings): Promise<{ stop(): Promise<void> }> {
  return { stop: async () => {} };
}
