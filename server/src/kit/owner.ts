/** The installation's owner (decisions.md): the first operator, a fact of its own (seed.ts) that nobody comes to by others going. */
import { sql } from 'kysely';
import { fail } from '#contract/errors.ts';
import type { Context } from './context.ts';
import { type Db, row } from '../store/db.ts';

/** Its number, of which a database has one; null before the first start. */
export const ownerID = sql<number | null>`(select id from account where "isOwner")`;

/**
 * Where there never was one the first operator that is there becomes it. In place of one that is gone nobody does by itself: everybody's
 * backups would be another's (`breakwater account owner`).
 */
export async function appointOwner(db: Db): Promise<void> {
  await sql`update account set "isOwner" = true where id = (
      select id from account where auth = 'client' and "isRoot" and "deletedAt" is null order by id limit 1)
    and not exists (select from account where "isOwner")`.execute(db);
}

/** Whether it is one of the people of the installation's owner. */
export async function isOwner(ctx: Context): Promise<boolean> {
  const owner = await row<{ id: number | null }>(ctx.db, sql`select ${ownerID} as id`);
  return ctx.actor.area === 'client' && ctx.actor.rootID === owner?.id;
}

/** @throws permissionDenied for other operators and their people */
export async function ownerOnly(ctx: Context): Promise<void> {
  if (!(await isOwner(ctx))) throw fail('permissionDenied');
}
