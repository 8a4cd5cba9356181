/** Where people reach the console: what stands before `/user/…` in a mail. */
import { sql } from 'kysely';
import { settingValue } from '#contract/system/settings.ts';
import { type Db, row } from '../store/db.ts';
import type { Services } from './services.ts';

/** The operator's own address, else that of the installation. Never with a slash at its end. */
export async function consoleURL(db: Db, services: Pick<Services, 'publicURL'>, clientID: number | null): Promise<string> {
  const found =
    clientID === null
      ? undefined
      : await row<{ value: unknown }>(db, sql`select value from setting where key = 'outgoingURL' and "clientID" = ${clientID}`);
  return (settingValue('outgoingURL', found?.value) || services.publicURL).replace(/\/$/, '');
}
