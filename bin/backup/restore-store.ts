/**
 * The analytics store of an archive. What its tables are stands in its folder as SQL, which chDB carries out when it starts, programs and
 * files that it names included. So of an archive the rows alone are taken (parts of tables that we know), and all that is said about them
 * is made anew from our own schema. Nothing else of a store's folder is written anywhere.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { backupSaid } from '#contract/system/backup-problems.ts';
import { analytics } from '#server/store/analytics/client.ts';
import { migrateAnalytics, schemaNames, stepTable } from '#server/store/analytics/migrate.ts';
import { isStageTable } from '#server/store/analytics/schema.ts';
import { freePort, poll, spawnEngine, StartError } from '#server/store/engine-process.ts';
import { projectFolder } from '../launch/settings.ts';
import { BrokenArchive } from './tar.ts';

const database = 'breakwater';
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const folder = `store/store/[0-9a-f]{3}/(${uuid})`;
const tableLink = /^store\/data\/([^/]+)\/([^/]+)$/;
const tableFolder = new RegExp(String.raw`^(?:\.\./){2}store/[0-9a-f]{3}/(${uuid})$`);
const databaseLink = /^store\/metadata\/([^/.]+)$/;
const databaseFolder = new RegExp(String.raw`^\.\./store/[0-9a-f]{3}/${uuid}$`);
/** What is said of databases and of tables. */
const databaseSql = /^store\/metadata\/([^/]+)\.sql$/;
const tableSql = new RegExp(`^${folder}/([^/]+)\\.sql$`);
/** What a table is, and what is still to be done to its parts: made anew, or not done. */
const beside = new RegExp(`^${folder}/(?:format_version|mutation_\\d+)\\.txt$`);
/** A file of a part, which holds rows, and what was inserted lately. */
const row = new RegExp(
  String.raw`^${folder}/((?:all|\d{6}|\d{8})_\d+_\d+_\d+(?:_\d+)?/[\w%@+-][\w.%@+-]*|deduplication_logs/deduplication_log_\d+\.txt)$`,
);

export class StoreRows {
  readonly #known = schemaNames({ database });
  /** tables by their folders */
  readonly #tables = new Map<string, string>();
  readonly #held = new Set<string>();
  /** folders of tables that were there for a moment: their rows stand elsewhere as well */
  readonly #passing = new Set<string>();

  /**
   * Where the bytes of a member go, below the folder of `settle`; undefined: nowhere, it is made anew.
   * @throws BrokenArchive for what no backup of ours holds
   */
  place(name: string, target: string | undefined): string | undefined {
    if (target !== undefined) {
      this.#link(name, target);
      return undefined;
    }
    const base = databaseSql.exec(name)?.[1];
    const [, , table] = tableSql.exec(name) ?? [];
    if (base !== undefined) this.#mustKnow(base === database, base);
    if (table !== undefined) this.#mustKnow(this.#known.has(table) || isStageTable(table), `${database}.${table}`);
    if (base !== undefined || table !== undefined || beside.test(name)) return undefined;
    const [, id, rest] = row.exec(name) ?? [];
    if (id === undefined) throw new BrokenArchive(`it holds ${name}, which no backup of ours does`);
    this.#held.add(id);
    return `${id}/${rest}`;
  }

  #link(name: string, target: string): void {
    const [, base, table] = tableLink.exec(name) ?? [];
    const [, id] = tableFolder.exec(target) ?? [];
    if (base !== undefined && table !== undefined && id !== undefined) {
      const isStage = base === database && isStageTable(table);
      this.#mustKnow(isStage || (base === database && this.#known.has(table)), `${base}.${table}`);
      if (this.#tables.has(id) || this.#passing.has(id))
        throw new BrokenArchive(`it holds ${name}, whose rows are those of another table`);
      if (isStage) this.#passing.add(id);
      else this.#tables.set(id, table);
    } else if (databaseFolder.test(target) && databaseLink.test(name)) {
      const [, of = ''] = databaseLink.exec(name) ?? [];
      this.#mustKnow(of === database, of);
    } else throw new BrokenArchive(`it holds a link that leads elsewhere: ${name}`);
  }

  #mustKnow(isKnown: boolean, table: string): void {
    if (!isKnown) throw new BrokenArchive(backupSaid('foreignTable', { table }));
  }

  /** Whether rows lie in no table. @throws BrokenArchive */
  check(): void {
    for (const id of this.#held) this.#mustKnow(this.#tables.has(id) || this.#passing.has(id), id);
  }

  /** A store at `to`, which is not there yet, with the schema of this release and the rows that lie in `stage`. */
  async settle(stage: string, to: string): Promise<void> {
    this.check();
    await emptyStore(to);
    for (const [id, table] of this.#tables) {
      const from = join(stage, id);
      // which steps of the schema are done, the new store says itself: all of them
      if (table === stepTable || !existsSync(from)) continue;
      const into = await realpath(join(to, 'data', database, table)).catch(() => this.#mustKnow(false, `${database}.${table}`));
      if (!into) continue;
      for (const entry of await readdir(from)) {
        await rm(join(into, entry), { recursive: true, force: true });
        await rename(join(from, entry), join(into, entry));
      }
    }
  }
}

/** It runs as we do: nothing of the archive is in it yet, and the next start gives the folder to its user, with all it holds. */
async function emptyStore(data: string): Promise<void> {
  const port = await freePort();
  const password = randomBytes(24).toString('base64url');
  const engine = await spawnEngine({
    command: process.execPath,
    args: [join(projectFolder, 'server/src/store/analytics/store.ts'), '--data', data, '--port', String(port)],
    cwd: projectFolder,
    env: { PATH: process.env['PATH'], CLICKHOUSE_PASSWORD: password },
  });
  const db = analytics({ url: `http://127.0.0.1:${port}/${database}`, password });
  let isGone = false;
  void engine.exited.then(() => (isGone = true));
  try {
    const isUp = await poll(async () => isGone || (await reaches(port)), 120_000, 100);
    if (!isUp || isGone)
      throw new StartError(`The analytics store did not start: ${engine.lastLines().at(-1) ?? 'it said nothing'}.`);
    await migrateAnalytics(db);
  } finally {
    db.close();
    await engine.stop(30_000);
  }
}
const reaches = (port: number) =>
  fetch(`http://127.0.0.1:${port}/ping`, { signal: AbortSignal.timeout(3000) }).then(
    answer => answer.ok,
    () => false,
  );
