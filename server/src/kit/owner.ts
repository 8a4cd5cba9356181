/** The installation's owner: the first operator (decisions.md). */
import { sql } from 'kysely';
import { fail } from '#contract/errors.ts';
import type { Context } from './context.ts';
import { row } from '../store/db.ts';

/** Whether it is one of the people of the installation's owner. */
export async function isOwner(ctx: Context): Promise<boolean> {
  const owner = await row<{ id: number }>(
    ctx.db,
    sql`select id from account where auth = 'client' and "isRoot" and "deletedAt" is null order by id limit 1`,
  );
  return ctx.actor.area === 'client' && ctx.actor.rootID === owner?.id;
}

/** @throws permissionDenied for other operators and their people */
export async function ownerOnly(ctx: Context): Promise<void> {
  if (!(await isOwner(ctx))) throw fail('permissionDenied');
}
