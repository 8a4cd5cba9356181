/** Which certificate a domain shows, and what is kept of one. */
import type { Context } from '../../kit/context.ts';
import { domainTable } from '../tables.ts';
import type { Pair } from './pem.ts';

/** As columns. */
export const stored = ({ notBefore, notAfter, issuers, ...pair }: Pair) => ({
  ...pair,
  issuers: JSON.stringify(issuers),
  notBefore: notBefore.toISOString(),
  notAfter: notAfter.toISOString(),
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
