/**
 * A copy of the store at one moment, while it goes on: inserts wait for some milliseconds, every table is frozen (links to its parts,
 * which never change), and the small files beside them are copied. What lies in `shadow/NAME` then is a data folder as chDB opens it.
 */
import fs from 'node:fs/promises';
import path from 'node:path';

/** Many may hold it together, or one alone; who wants it alone is not overtaken. */
export class Gate {
  #held = 0;
  #alone: Promise<void> = Promise.resolve();
  #free: (() => void) | undefined;

  async shared<T>(act: () => Promise<T>): Promise<T> {
    for (let seen; seen !== this.#alone;) await (seen = this.#alone);
    this.#held++;
    try {
      return await act();
    } finally {
      if (--this.#held === 0) this.#free?.();
    }
  }

  async alone<T>(act: () => Promise<T>): Promise<T> {
    const before = this.#alone;
    let done!: () => void;
    this.#alone = new Promise(resolve => (done = resolve));
    await before;
    try {
      if (this.#held > 0) await new Promise<void>(resolve => (this.#free = resolve));
      this.#free = undefined;
      return await act();
    } finally {
      done();
    }
  }
}

export interface FreezeOptions {
  /** the store's data folder */
  data: string;
  /** letters, digits, underscores */
  name: string;
  /** answers rows of text columns, tab-separated */
  ask: (sql: string) => Promise<string>;
}

const leftBehindMs = 24 * 3_600_000;

/** A table's folder holds parts, which are frozen, and these. */
const besideParts = /^(format_version\.txt|deduplication_logs)$/;

export async function freeze({ data, name, ask }: FreezeOptions): Promise<void> {
  await tidy(path.join(data, 'shadow'));
  const tables = (
    await ask(
      "SELECT concat('`', database, '`.`', name, '`') FROM system.tables WHERE engine LIKE '%MergeTree' AND database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')",
    )
  )
    .split('\n')
    .filter(Boolean);
  for (const table of tables) await ask(`ALTER TABLE ${table} FREEZE WITH NAME '${name}'`);
  const image = path.join(data, 'shadow', name);
  await fs.mkdir(path.join(image, 'store'), { recursive: true });
  for (const folder of ['metadata', 'data']) await fs.cp(path.join(data, folder), path.join(image, folder), copying);
  for (const prefix of await list(path.join(data, 'store')))
    for (const uuid of await list(path.join(data, 'store', prefix))) {
      const from = path.join(data, 'store', prefix, uuid);
      for (const entry of await list(from))
        if (entry.endsWith('.sql') || besideParts.test(entry))
          await fs.cp(path.join(from, entry), path.join(image, 'store', prefix, uuid, entry), copying);
    }
}
const copying = { recursive: true, verbatimSymlinks: true, errorOnExist: false } as const;
const list = (folder: string) => fs.readdir(folder).catch(() => [] as string[]);

/** What a backup that was killed left behind. */
async function tidy(shadow: string): Promise<void> {
  for (const entry of await list(shadow)) {
    const { mtimeMs } = await fs.stat(path.join(shadow, entry));
    if (entry.startsWith('backup_') && Date.now() - mtimeMs > leftBehindMs)
      await fs.rm(path.join(shadow, entry), { recursive: true, force: true });
  }
}

export const unfreeze = (data: string, name: string) => fs.rm(path.join(data, 'shadow', name), { recursive: true, force: true });
