/** The key of the installation and its database belong together: another key would leave unreadable what is stored encrypted. */
import { createHmac } from 'node:crypto';
import type pg from 'pg';
import { StartError } from './start-error.ts';

const markOf = (key: Uint8Array) => createHmac('sha256', key).update('breakwater installation key').digest('hex');
const markKept = `select value from setting where "clientID" is null and key = 'installationKey'`;

/** Whether this is the key the database was made with; nothing is remembered. */
export async function isInstallationKey(db: pg.Pool | pg.Client, key: Uint8Array): Promise<boolean> {
  return (await db.query<{ value: string }>(markKept)).rows[0]?.value === markOf(key);
}

/** Remembers a mark of the key at the first start, and compares it at every other. Errors: StartError. */
export async function checkInstallationKey(db: pg.Pool | pg.Client, key: Uint8Array): Promise<void> {
  const mark = markOf(key);
  await db.query(`insert into setting (key, value) values ('installationKey', to_jsonb($1::text)) on conflict do nothing`, [
    mark,
  ]);
  const { rows } = await db.query<{ value: string }>(markKept);
  if (rows[0]?.value !== mark)
    throw new StartError(
      'The key in secret.key is not the one this database was made with, and without that one what is stored encrypted cannot be read: restore it from the backup of the data folder.',
    );
}
