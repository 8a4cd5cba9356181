/**
 * A node begins anew: what it was told and what it fetched is thrown away and read again. Who it is, its keys and the log lines that are not
 * stored yet stay. A mark is set first, so that an agent that ends in the midst of it finishes at its next start.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from '#host/files.ts';

const markName = 'reset';
/** The documents, the records made of them, addresses of origins, the cache, and what nginx was writing. */
const given = ['config', 'snapshot.bin', 'addresses.json', 'origin-states.json', 'cache', 'temp', 'trusts', 'nginx.conf'];

/** At its next start the agent in this folder begins anew. @throws while the disk takes nothing */
export const markReset = (data: string): void => writeWhole(join(data, markName), '');

/** Before anything of the folder is read. @returns whether there was something to do */
export async function finishReset(data: string): Promise<boolean> {
  const mark = join(data, markName);
  if (!existsSync(mark)) return false;
  for (const name of given) await rm(join(data, name), { recursive: true, force: true });
  await rm(mark);
  return true;
}
