/** Branding: what the console shows of an operator, by hostname. */
import { sql } from 'kysely';
import type { FastifyInstance } from 'fastify';
import { failFields } from '#contract/errors.ts';
import type { UploadedFile } from '#contract/kit/schema.ts';
import { display } from '#contract/limits-start.ts';
import { brandBounds, type BrandImage, brandImageNames, logo, logos } from '#contract/system/logos.ts';
import type { Context } from '../kit/context.ts';
import { type AnyHandler, implement } from '../kit/implement.ts';
import { brandImages, brandImagesGone } from '../kit/brands.ts';
import { ImageCache } from '../kit/image-cache.ts';
import { ownerID } from '../kit/owner.ts';
import { removeAll } from '../kit/removal.ts';
import { col, like, table } from '../kit/table.ts';
import { type Database, type Db, row, rows } from '../store/db.ts';
import { claimHostname, hostForm, hostProof, provenHostname } from './host-claims.ts';
import { type Drawn, draw } from './images.ts';

type Images = Record<BrandImage, string>;
interface BrandRow extends Images, Record<string, unknown> {
  id: number;
  version: number;
  createdAt: string;
  updatedAt: string;
  deletedAt: string | null;
  hostname: string | null;
  title: string;
  copyright: string;
}
const brandName = 'Breakwater';
export const brandPath = '/branding/';

export const brandTable = table<BrandRow>()({
  table: 'brand',
  scope: {
    tenant: [['clientID']],
    owner: (actor, a) => (actor.area === 'client' ? sql`${col('clientID', a)} = ${actor.rootID}` : sql`false`),
  },
  sort: ['hostname', 'title', 'createdAt', 'updatedAt'],
  filters: { keyword: like('hostname', 'title') },
  unique: { brand_hostname: 'duplicated', brand_default: 'duplicated' },
});

const addressesOf = (of: Images): Images =>
  // the keys are those names
  Object.fromEntries(brandImageNames.map(name => [name, of[name] && brandPath + of[name]])) as Images;
const told = (one: BrandRow): BrandRow => ({ ...one, ...addressesOf(one) });

/** Whose brand a hostname shows: its own; that of the operator whose console address it is; that of the installation's owner. */
export async function brandOf(db: Db, host: string): Promise<BrandRow | undefined> {
  return row<BrandRow>(
    db,
    sql`select b.*, b."rowVersion" as version from brand b join account a on a.id = b."clientID" and a."deletedAt" is null
        left join setting s on s."clientID" = b."clientID" and s.key = 'outgoingURL'
        where b."deletedAt" is null and (b.hostname = ${host} or (b.hostname is null and (
          lower(substring(s.value #>> '{}' from '^https?://([^/:]+|\\[[^]]+\\])')) = ${host}
          or b."clientID" = ${ownerID})))
        order by b.hostname is null, lower(substring(s.value #>> '{}' from '^https?://([^/:]+|\\[[^]]+\\])')) is distinct from ${host}
        limit 1`,
  );
}

export const logoCalls = implement(logo, {
  'GET /logo': async ({ ctx, request }) => {
    const found = await brandOf(ctx.db, hostForm(request.host));
    const title = found?.title || brandName;
    return {
      title,
      copyright: found?.copyright || `${title} ${display.copyrightSuffix}`,
      // the keys are those names
      ...addressesOf(found ?? (Object.fromEntries(brandImageNames.map(name => [name, ''])) as Images)),
    };
  },
});

type Sent = Partial<Record<BrandImage, UploadedFile | ''>> & { hostname?: string; title?: string; copyright?: string };
type Pictures = Partial<Record<BrandImage, Drawn | null>>;
interface Prepared {
  isProven: boolean;
  pictures: Pictures;
}
const hostnameOf = ({ hostname }: Sent) => (hostname === undefined ? undefined : hostForm(hostname.trim()) || null);
/** Asked and drawn before the call has a turn: it may take a while, and holds nothing meanwhile. */
const prepare: AnyHandler = async ({ ctx, body, request }): Promise<Prepared> => {
  // the schema let it in
  const hostname = hostnameOf(body as Sent);
  const isProven = hostname ? await provenHostname(ctx, 'hostname', hostname) : false;
  const pictures: Pictures = {};
  for (const name of brandImageNames) {
    // the same
    const given = (body as Sent)[name];
    if (given !== undefined)
      pictures[name] = given === '' ? null : await draw(name, given, { by: ctx.actor, line: request.line });
  }
  return { isProven, pictures };
};

async function valuesOf(ctx: Context, body: Sent, { isProven, pictures }: Prepared): Promise<Record<string, unknown>> {
  const hostname = hostnameOf(body);
  if (hostname) await claimHostname(ctx, 'hostname', hostname, isProven);
  const values: Record<string, unknown> = {};
  if (hostname !== undefined) values['hostname'] = hostname;
  for (const name of ['title', 'copyright'] as const) if (body[name] !== undefined) values[name] = body[name].trim();
  for (const [name, picture] of Object.entries(pictures)) {
    values[name] = picture?.name ?? '';
    if (!picture) continue;
    const made = await row<{ id: number }>(
      ctx.db,
      sql`insert into "brandImage" ("clientID", name, bytes) values (${ctx.actor.rootID}, ${picture.name}, ${picture.bytes})
          on conflict ("clientID", name) do nothing returning id`,
    );
    if (made) ctx.note({ table: 'brandImage', id: made.id, after: { name: picture.name, bytes: picture.bytes.length } });
  }
  return values;
}
/** What no brand of the operator shows any more. */
async function sweep(ctx: Context): Promise<void> {
  const gone = await rows<{ id: number; name: string }>(
    ctx.db,
    sql`delete from "brandImage" i where i."clientID" = ${ctx.actor.rootID} and not exists (
          select 1 from brand b where b."clientID" = i."clientID" and b."deletedAt" is null
          and i.name in (${sql.join(brandImageNames.map(name => col(name, 'b')))}))
        returning id, name`,
  );
  brandImagesGone(ctx, gone);
}

export const logosCalls = implement(
  logos,
  {
    'GET /logos': async ({ ctx, query }) => {
      const { data, total } = await ctx.store(brandTable).page(query);
      return { data: data.map(told), total };
    },
    'GET /logo/proof': async ({ ctx, query }) => hostProof(ctx, 'hostname', hostForm(query.hostname)),
    'POST /logo': async ({ ctx, body, prepared }) => {
      const store = ctx.store(brandTable);
      const { total } = await store.page({ pageSize: 1 });
      if (total >= brandBounds.countMax) throw failFields([{ path: '', rule: 'tooMany', bounds: { n: brandBounds.countMax } }]);
      // what `prepare` of this call made
      const values = await valuesOf(ctx, { hostname: '', ...(body as Sent) }, prepared as Prepared);
      const made = await store.add([values], { clientID: ctx.actor.rootID });
      await sweep(ctx);
      return { ids: made };
    },
    'PUT /logo': async ({ ctx, body, prepared }) => {
      const store = ctx.store(brandTable);
      await store.get(body.id);
      // the same
      await store.set(body.id, await valuesOf(ctx, body as Sent, prepared as Prepared));
      await sweep(ctx);
      return {};
    },
    'DELETE /logos': ({ ctx, body }) => removeAll(ctx.store(brandTable), body.ids, () => sweep(ctx)),
  },
  { rows: { 'GET /logos': brandTable }, prepare: { 'POST /logo': prepare, 'PUT /logo': prepare } },
);

/** The images themselves, for everybody: as pictures and as nothing else, whatever they are opened in. */
export function serveBrandImages(app: FastifyInstance, { doors }: Pick<Database, 'doors'>): void {
  const images = new ImageCache(async name => {
    const found = await row<{ bytes: Buffer }>(doors, sql`select bytes from "brandImage" where name = ${name} limit 1`);
    return found?.bytes;
  });
  brandImages.set(doors, images);
  app.get<{ Params: { name: string } }>(`${brandPath}:name`, async (request, reply) => {
    const { name } = request.params;
    const bytes = /^[0-9a-f]{64}\.(?:png|webp)$/.test(name) ? await images.get(name) : undefined;
    if (!bytes) return reply.callNotFound();
    // its name is a hash of its bytes
    const tag = `"${name}"`;
    const given = request.headers['if-none-match'];
    const isHeld = given?.split(',').some(one => ['*', tag, `W/${tag}`].includes(one.trim()));
    return reply
      .code(isHeld ? 304 : 200)
      .header('ETag', tag)
      .type(name.endsWith('.png') ? 'image/png' : 'image/webp')
      .header('Cache-Control', 'public, max-age=31536000, immutable')
      .header('Content-Security-Policy', "default-src 'none'; sandbox")
      .header('Cross-Origin-Resource-Policy', 'same-origin')
      .header('X-Content-Type-Options', 'nosniff')
      .send(isHeld ? undefined : bytes);
  });
}
