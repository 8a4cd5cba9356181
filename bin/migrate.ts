/** `breakwater migrate`: brings the schema of DATABASE_URL up to date, and says what it did. */
import { settingOf } from '#host/secrets.ts';
import { migrate } from '#server/store/migrate.ts';

const url = settingOf('DATABASE_URL', process.env);
if (!url) {
  console.error('DATABASE_URL is not set: give the PostgreSQL whose schema is to be brought up to date.');
  process.exit(1);
}
try {
  const ran = await migrate(url);
  console.log(ran.length === 0 ? 'The schema is up to date.' : `Ran ${ran.join(', ')}.`);
} catch (error) {
  console.error(
    `The schema could not be brought up to date: ${(error as Error).message || (error as NodeJS.ErrnoException).code}.`,
  );
  process.exit(1);
}
