import { sql } from 'kysely';
import { resolutionLimits } from '#contract/limits.ts';
import type { Db } from '../store/db.ts';
import { isLeaving } from './tables.ts';

/** Rows of what is gone. */
export async function tidy(db: Db): Promise<void> {
  await sql`delete from "groupAnswer" a where not exists (select 1 from "group" g where g.id = a."groupID" and g."deletedAt" is null)`.execute(
    db,
  );
  for (const table of ['cnameGroup', 'cnameSite'])
    // what stands at somebody else's is known until it is taken away from there, or nobody could do that any more
    await sql`delete from ${sql.table(table)} x where not exists (select 1 from cname c where c.id = x."cnameID" and (c."deletedAt" is null or ${isLeaving}))`.execute(
      db,
    );
  await sql`delete from "answerChange" where at < clock_timestamp() - ${resolutionLimits.changesDays} * interval '1 day'`.execute(
    db,
  );
}
