import type { Context } from '../../kit/context.ts';

/** A certificate goes out to nodes while a domain shows it: it may be the first that does, or have been the last. */
export function publishShown(ctx: Context, ids: readonly (number | null)[]): void {
  for (const id of new Set(ids)) if (id !== null) ctx.touch('certificate', id);
}
