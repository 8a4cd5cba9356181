/** nginx's own words, a relay's and sampled requests: error.log, relay.log and sampled.log are renamed at a size and nginx told to open it anew; nginx.out, which nginx holds open, is cut. */
import { rename, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { relayLog } from './render/relays.ts';
import { sampledLog } from './render/sampled.ts';

export const errorLogMaxBytes = 10 * 1024 * 1024;

/** Together never more than seven times `maxBytes`. @param reopen tells nginx to open its logs anew */
export async function rotateErrorLog(folder: string, reopen: () => void, maxBytes = errorLogMaxBytes): Promise<boolean> {
  const size = async (name: string) => (await stat(join(folder, name)).catch(() => undefined))?.size ?? 0;
  if ((await size('nginx.out')) > maxBytes) await truncate(join(folder, 'nginx.out'), 0);
  let isRotated = false;
  for (const name of ['error.log', relayLog, sampledLog]) {
    if ((await size(name)) <= maxBytes) continue;
    await rename(join(folder, name), join(folder, `${name}.1`));
    isRotated = true;
  }
  if (isRotated) reopen();
  return isRotated;
}
