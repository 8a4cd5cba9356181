/** Which certificate a domain shows, and what is kept of one. */
import type { Context } from '../../kit/context.ts';
import { sql } from 'kysely';
import { domainTable } from '../tables.ts';
import { certificateTable } from './tables.ts';
import type { Pair } from './pem.ts';

/** As columns. */
export const stored = ({ notBefore, notAfter, issuers, ...pair }: Pair) => ({
  ...pair,
  issuers: JSON.stringify(issuers),
  notBefore: notBefore.toISOString(),
  notAfter: notAfter.toISOString(),
  // what was said of another one is nothing of this
  ocsp: null,
  ocspUntil: null,
  ocspAskAt: new Date().toISOString(),
  ocspTries: 0,
  ocspWhy: '',
});

/** A certificate goes out to nodes while a domain shows it: it may be the first that does, or have been the last. */
export function publishShown(ctx: Context, ids: readonly (number | null)[]): void {
  for (const id of new Set(ids)) if (id !== null) ctx.touch('certificate', id);
}

export async function show(ctx: Context, siteID: number, domainID: number, certificateID: number | null): Promise<void> {
  const before = await ctx
    .store(domainTable, { siteID })
    .set(domainID, { certificateID, certStatus: certificateID === null ? 'unset' : 'enabled' });
  if (before.certificateID !== certificateID) publishShown(ctx, [before.certificateID, certificateID]);
}

/** Those of them that made themselves, and that nobody shows any more, go. */
export async function dropUnshown(ctx: Context, siteID: number, ids: readonly number[]): Promise<void> {
  const store = ctx.store(certificateTable, { siteID });
  const gone = await store.pick(
    ['id'],
    [
      sql`t.id = any(${[...ids]}) and t.type <> 'manual'`,
      sql`not exists (select from domain d where d."certificateID" = t.id and d."deletedAt" is null)`,
    ],
  );
  if (gone.length)
    await remove(
      ctx,
      siteID,
      gone.map(({ id }) => id),
    );
}

/** Nobody needs the key of what is deleted. */
export const forgetKeys = (ctx: Context, ids: readonly number[]) =>
  sql`update certificate set "privateKey" = null where id = any(${[...ids]})`.execute(ctx.db);
async function remove(ctx: Context, siteID: number, ids: number[]): Promise<void> {
  await ctx.store(certificateTable, { siteID }).remove(ids);
  await forgetKeys(ctx, ids);
}
