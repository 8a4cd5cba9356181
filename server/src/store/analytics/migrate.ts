/** Brings the analytics store to the schema of this release. May run in several processes at once, and again after a crash: every statement may be repeated. */
import { asideSchema, nodeSchema, schema, type SchemaOptions } from './schema.ts';
import type { Analytics } from './client.ts';

/** Steps after the first; each one a list of statements that may be repeated. A released step is never edited. */
const steps: readonly ((db: SchemaOptions) => string[])[] = [schema, asideSchema, nodeSchema];
/** Which of them are done. */
export const stepTable = 'schema_step';

/** Names of all tables and views of this release. */
export function schemaNames(options: SchemaOptions): ReadonlySet<string> {
  const made = steps.flatMap(step => step(options)).map(statement => / IF NOT EXISTS \w+\.(\w+)/.exec(statement)?.[1]);
  return new Set([stepTable, ...made.filter(name => name !== undefined)]);
}

export async function migrateAnalytics(db: Analytics): Promise<void> {
  const on = db.cluster ? ` ON CLUSTER '${db.cluster}'` : '';
  await db.command(`CREATE DATABASE IF NOT EXISTS ${db.database}${on}`, {}, {}, 'default');
  await db.command(
    `CREATE TABLE IF NOT EXISTS ${db.database}.${stepTable}${on} (step UInt32) ENGINE = ${db.cluster ? 'Replicated' : ''}ReplacingMergeTree ORDER BY step`,
    {},
    {},
    'default',
  );
  const [row] = await db.query<{ done: number }>(`SELECT max(step) AS done FROM ${stepTable}`);
  const done = row?.done ?? 0;
  if (done > steps.length)
    throw new Error(`the analytics store has schema step ${done}, this release knows ${steps.length}: start the newer release`);
  for (const [i, step] of steps.entries()) {
    if (i < done) continue;
    for (const statement of step(db)) await db.command(statement, {}, {}, 'default');
    await db.command(`INSERT INTO ${stepTable} VALUES (${i + 1})`);
  }
}
