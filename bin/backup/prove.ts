/**
 * Whether an archive can be restored: it is, by the code of `breakwater restore`, into an empty folder with a PostgreSQL of its own; then
 * what is there is counted, table by table, the key that came with it must be that database's, and keys of signed zones must be in one that
 * is encrypted. Nothing of it is left behind.
 */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { backupSaid } from '#contract/system/backup-problems.ts';
import { emptiedTables } from '#server/store/forget.ts';
import { checkInstallationKey } from '#server/store/key-check.ts';
import { startPostgres } from '#server/store/postgres-launcher.ts';
import { proofFolder } from './backup.ts';
import { lackingKeys, restore } from './restore.ts';

export interface Proof {
  rows: number;
  tables: number;
}
/** @throws Error with one sentence that says what is missing */
export async function prove(
  file: string,
  dataFolder: string,
  options: { signal?: AbortSignal | undefined; passphrase?: string | undefined },
): Promise<Proof> {
  const folder = join(dataFolder, proofFolder);
  await rm(folder, { recursive: true, force: true });
  const held = new Map<string, number>();
  try {
    const restored = await restore(file, folder, {
      ...options,
      logs: false,
      counted: (table, rows) => held.set(table, (held.get(table) ?? 0) + rows),
    });
    // one that is not encrypted has none, and says so when it is made
    const lacking = options.passphrase === undefined ? undefined : lackingKeys(restored);
    if (lacking) throw new Error(`The archive lacks keys: ${lacking}.`);
    const engine = await startPostgres({ dir: join(folder, 'postgres') });
    const client = new pg.Client({ connectionString: engine.url, application_name: 'breakwater-restore-test' });
    client.on('error', () => {});
    try {
      await client.connect();
      let rows = 0;
      for (const [table, count] of held) {
        options.signal?.throwIfAborted();
        if (emptiedTables.has(table)) continue; // by the restore itself
        const found = await client.query<{ n: string }>(`select count(*) as n from public.${pg.escapeIdentifier(table)}`);
        const n = Number(found.rows[0]!.n);
        if (n !== count) throw new Error(backupSaid('rowsDiffer', { table, found: n, count }));
        rows += n;
      }
      if (!held.get('account')) throw new Error(backupSaid('noAccount'));
      await checkInstallationKey(client, await readFile(join(folder, 'secret.key')));
      return { rows, tables: held.size };
    } finally {
      await client.end().catch(() => {});
      await engine.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
