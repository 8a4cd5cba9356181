/** A folder that a restore has not ended in: half an installation, which nothing may run on. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The first thing that a restore makes in the folder, and the last that it removes. */
export const restoringFolder = 'restoring';

/** @returns a sentence, when a restore goes on there or was broken off */
export function halfRestored(dataFolder: string): string | undefined {
  if (!existsSync(join(dataFolder, restoringFolder))) return undefined;
  return `A backup is being restored into ${dataFolder}, or was broken off: unless it goes on, remove the folder and restore it again into an empty folder.`;
}
