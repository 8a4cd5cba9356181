/** The key of the installation and its database belong together: another key would leave unreadable what is stored encrypted. */
import { createHmac } from 'node:crypto';
import type pg from 'pg';
import { StartError } from './start-error.ts';

/** Remembers a mark of the key at the first start, and compares it at every other. Errors: StartError. */
export async function checkInstallationKey(db: pg.Pool | pg.Client, key: Uint8Array): Promise<void> {
  const mark = createHmac('sha256', key).update('breakwater installation key').digest('hex');
  await db.query(`insert into setting (key, value) values ('installationKey', to_jsonb($1::text)) on conflict do nothing`, [
    mark,
  ]);
  const { rows } = await db.query<{ value: string }>(
    `select value from setting where "clientID" is null and key = 'installationKey'`,
  );
  if (rows[0]?.value !== mark)
    throw new StartError(
      'The key in secret.key is not the one this database was made with, and without that one what is stored encrypted cannot be read: restore it from the backup of the data folder.',
    );
}
