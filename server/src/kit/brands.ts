/** What operators show, as far as others than its own calls (system/logos.ts) end it. */
import { sql } from 'kysely';
import { rows } from '../store/db.ts';
import type { Context } from './context.ts';
import type { ImageCache } from './image-cache.ts';

/** Images that are served, by the database they come from. */
export const brandImages = new WeakMap<object, ImageCache>();

/** To be called with what was removed: it is served no more once the change holds. */
export function brandImagesGone(ctx: Context, gone: readonly { id: number; name: string }[]): void {
  for (const { id, name } of gone) ctx.note({ table: 'brandImage', id, before: { name } });
  const images = brandImages.get(ctx.services.database.doors);
  ctx.after.push(() => gone.forEach(({ name }) => images?.forget(name)));
}

/** What operators that are gone showed: their hostnames are anybody's again, and nobody is served their images. */
export async function dropBrands(ctx: Context, clientIDs: readonly number[]): Promise<void> {
  const brands = await rows<{ id: number; hostname: string | null; title: string }>(
    ctx.db,
    sql`update brand set "deletedAt" = now(), "updatedAt" = now() where "clientID" = any(${clientIDs}) and "deletedAt" is null
        returning id, hostname, title`,
  );
  for (const { id, hostname, title } of brands) ctx.note({ table: 'brand', id, before: { hostname, title } });
  const images = await rows<{ id: number; name: string }>(
    ctx.db,
    sql`delete from "brandImage" where "clientID" = any(${clientIDs}) returning id, name`,
  );
  brandImagesGone(ctx, images);
}
