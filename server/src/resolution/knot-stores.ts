/**
 * The name server's own databases (LMDB). One that was damaged either keeps every zone from being answered (SERVFAIL, for ever) or ends the name
 * server at its start, again and again. What is in the journal and the catalogue is written anew by the server; keys are not, so theirs goes
 * aside last, and comes back where that was not it.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, spawnEngine } from '../store/engine-process.ts';

type Store = 'journal' | 'catalog' | 'keys';
/** Programs of Debian's package that open each of them. */
const readers: Readonly<Record<Store, { program: string; args: (dir: string) => string[] }>> = {
  journal: { program: 'kjournalprint', args: dir => ['-D', dir, '-z'] },
  catalog: { program: 'kcatalogprint', args: dir => ['-D', dir] },
  keys: { program: 'keymgr', args: dir => ['-D', dir, '-l'] },
};
const readMs = 20_000;
/** Of a program that read what it could not bear; whoever was killed by somebody else says nothing. */
const crashes = new Set(['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL', 'SIGFPE']);
export const isCrash = (signal: string | null): boolean => signal !== null && crashes.has(signal);

/** In the order in which they are tried without, at a start that ends in a crash. */
export const suspects: readonly Store[] = ['journal', 'catalog', 'keys'];

const storeOf = (dir: string, store: Store) => join(dir, 'db', store);

/** Whether it can be opened, as the name server's user; one that is not there yet is well. */
async function isWhole(dir: string, store: Store): Promise<boolean> {
  const folder = storeOf(dir, store);
  const { program, args } = readers[store];
  const command = await findProgram(program);
  if (!command || !existsSync(join(folder, 'data.mdb'))) return true;
  const reader = await spawnEngine({
    command,
    args: args(folder),
    as: 'dns',
    reaches: [dir],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    deathSignal: 'SIGKILL',
  });
  const timer = setTimeout(() => void reader.stop(0), readMs);
  const { signal } = await reader.exited;
  clearTimeout(timer);
  return !isCrash(signal) && !reader.lastLines().some(line => line.includes('MDB_'));
}

/** @returns what brings it back, where it was there */
export function putStoreAside(dir: string, store: Store): (() => void) | undefined {
  const folder = storeOf(dir, store);
  if (!existsSync(folder)) return undefined;
  // keys that went aside before may be the ones that the zone above knows
  const aside =
    store === 'keys' && existsSync(`${folder}.unread`)
      ? `${folder}.${randomBytes(4).toString('hex')}.unread`
      : `${folder}.unread`;
  rmSync(aside, { recursive: true, force: true });
  renameSync(folder, aside);
  return () => {
    rmSync(folder, { recursive: true, force: true });
    renameSync(aside, folder);
  };
}

/** Those that cannot be opened go aside. */
export async function putBrokenAside(dir: string, onLine: ((line: string) => void) | undefined): Promise<void> {
  for (const store of suspects)
    if (!(await isWhole(dir, store))) {
      putStoreAside(dir, store);
      onLine?.(`db/${store} cannot be read, and is put aside`);
    }
}
