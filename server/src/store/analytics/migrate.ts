/** Brings the analytics store to the schema of this release. May run in several processes at once, and again after a crash: every statement may be repeated. */
import { asideSchema, nodeSchema, schema } from './schema.ts';
import type { Analytics } from './client.ts';

/** Steps after the first; each one a list of statements that may be repeated. A released step is never edited. */
const steps: readonly ((db: Analytics) => string[])[] = [schema, asideSchema, nodeSchema];

export async function migrateAnalytics(db: Analytics): Promise<void> {
  const on = db.cluster ? ` ON CLUSTER '${db.cluster}'` : '';
  await db.command(`CREATE DATABASE IF NOT EXISTS ${db.database}${on}`, {}, {}, 'default');
  await db.command(
    `CREATE TABLE IF NOT EXISTS ${db.database}.schema_step${on} (step UInt32) ENGINE = ${db.cluster ? 'Replicated' : ''}ReplacingMergeTree ORDER BY step`,
    {},
    {},
    'default',
  );
  const [row] = await db.query<{ done: number }>('SELECT max(step) AS done FROM schema_step');
  const done = row?.done ?? 0;
  if (done > steps.length)
    throw new Error(`the analytics store has schema step ${done}, this release knows ${steps.length}: start the newer release`);
  for (const [i, step] of steps.entries()) {
    if (i < done) continue;
    for (const statement of step(db)) await db.command(statement, {}, {}, 'default');
    await db.command(`INSERT INTO schema_step VALUES (${i + 1})`);
  }
}
