/** nginx's own words: error.log is renamed at a size and nginx told to open it anew; nginx.out, which nginx holds open, is cut. */
import { rename, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';

export const errorLogMaxBytes = 10 * 1024 * 1024;

/** Together never more than three times `maxBytes`. @param reopen tells nginx to open its logs anew */
export async function rotateErrorLog(folder: string, reopen: () => void, maxBytes = errorLogMaxBytes): Promise<boolean> {
  const size = async (name: string) => (await stat(join(folder, name)).catch(() => undefined))?.size ?? 0;
  if ((await size('nginx.out')) > maxBytes) await truncate(join(folder, 'nginx.out'), 0);
  if ((await size('error.log')) <= maxBytes) return false;
  await rename(join(folder, 'error.log'), join(folder, 'error.log.1'));
  reopen();
  return true;
}
