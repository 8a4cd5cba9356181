/**
 * Where this agent runs from. A node of another machine has PREFIX/versions/V/agent.mjs with `bundle.json` beside it, and a runtime that
 * several versions share: that is what an upgrade can change. In a checkout there is none of it.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBundle } from '#contract/node/bundle.ts';
import { readJson } from '#host/files.ts';

/** Of the sources: what a checkout says of itself. */
const release = '0.1.0';

export interface Programs {
  /** holds `versions` and `runtime` */
  prefix: string;
  version: string;
}

/** @param main the file this process was started with */
export function programsOf(main: string): Programs | undefined {
  const folder = dirname(main);
  const bundle = readJson(join(folder, 'bundle.json'), isBundle);
  const isPlaced = bundle && basename(folder) === bundle.version && basename(dirname(folder)) === 'versions';
  return isPlaced ? { prefix: dirname(dirname(folder)), version: bundle.version } : undefined;
}

export const programs = programsOf(fileURLToPath(import.meta.url));
export const version = programs?.version ?? release;

/** What is started as a version, beside it the runtime. */
export const programOf = (prefix: string, of: string) => ({
  node: join(prefix, 'versions', of, 'runtime/node'),
  main: join(prefix, 'versions', of, 'agent.mjs'),
});
export const isThere = (prefix: string, of: string): boolean => existsSync(programOf(prefix, of).node);

/** A name of a version, which is a folder's. */
export const isVersion = (text: string): boolean => /^[A-Za-z0-9][\w.-]{0,63}$/.test(text);

/** Where archives are unpacked to; whether we may do it ourselves. */
export function mayPlace({ prefix }: Programs): boolean {
  try {
    for (const folder of ['versions', 'runtime']) accessSync(join(prefix, folder), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

export const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What a node keeps of upgrades, and what `PREFIX/run` goes by (server/src/services/join.sh). */
export const upgradeFiles = (data: string) => {
  const folder = join(data, 'upgrade');
  return {
    folder,
    state: join(folder, 'state.json'),
    /** the version that is started; without it that of the join line */
    current: join(folder, 'current'),
    /** there until the chosen version has come up, and is watched no more */
    previous: join(folder, 'previous'),
    /** a line for each start meanwhile */
    starts: join(folder, 'starts'),
    /** asks whoever may write to PREFIX to place what lies beside it */
    place: join(folder, 'place'),
    plan: join(folder, 'trial.json'),
    /** there as long as the new version is watched (watch.ts) */
    watch: join(folder, 'watch.json'),
  };
};
