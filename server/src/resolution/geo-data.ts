/** Data of where addresses are: what they say, whose they are, and an owner's own. */
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import type { UploadedFile } from '#contract/kit/schema.ts';
import type { Language } from '#contract/kit/text.ts';
import { geoData } from '#contract/resolution/geo-data.ts';
import type { Context } from '../kit/context.ts';
import { type AnyHandler, implement } from '../kit/implement.ts';
import { isOwner, ownerOnly } from '../kit/owner.ts';
import { creditsOf } from '../kit/place.ts';
import type { GeoHold, GeoOwn, GeoTaken, Place, Services } from '../kit/services.ts';
import { logger } from '../log.ts';
import { readSetting, writeSetting } from '../system/settings.ts';
import { geoSourceTable } from './geo-source-table.ts';
import { geoText } from './geo-words.ts';
import { GeoFileRefused } from './geo/data.ts';

const refused = (why: string) => failFields([{ path: 'file', rule: 'geoUnreadable', bounds: { why } }]);
const noData: Place = { continent: null, country: null, region: null, regionName: null, asn: null, organisation: null };

const toldIn = (problem: string | null, language: Language) =>
  problem === null ? null : geoText(problem, language).slice(0, 300);

const timeOf = (ms: number) => (ms ? new Date(ms).toISOString() : null);

/** Read, and everything made of it, before the call has a turn: it takes long, and holds nothing meanwhile. */
const takeFile: AnyHandler = async ({ body, prepared }): Promise<GeoTaken> => {
  // the schema let it in
  const { file } = body as { file: UploadedFile };
  const held = prepared as GeoHold | undefined; // holdGeo made it
  if (!held) throw noGeo();
  try {
    return await held.take(file.bytes);
  } catch (error) {
    throw asRefused(error);
  }
};
/** Before a file is read: no two are in memory. */
const holdGeo = ({ geo }: Pick<Services, 'geo'>): GeoHold | undefined => {
  try {
    return geo?.hold();
  } catch (error) {
    throw asRefused(error);
  }
};
const noGeo = () => refused('this installation keeps no data of places');
const asRefused = (error: unknown) => (error instanceof GeoFileRefused ? refused(error.message) : error);
const dropFiles: AnyHandler = async ({ ctx }): Promise<GeoTaken | undefined> => {
  // it takes a core for a while: nobody else's to ask for
  await ownerOnly(ctx);
  const held = holdGeo(ctx.services);
  if (!held) return undefined;
  // one that waits for another's would keep a builder of its own coming
  return held
    .drop()
    .catch((error: unknown) => {
      throw asRefused(error);
    })
    .finally(() => held.leave());
};

/** The rows are a file's; which of the owner's it was made of stands in the settings as well, for whoever asks who did it. */
export async function count(ctx: Context, prepared: unknown): Promise<void> {
  // takeFile or dropFiles made it
  const taken = prepared as GeoTaken | undefined; // what `take` gave
  // one after another, until the transaction ends: what is read now is committed, and nobody else is about to count anything
  await sql`select pg_advisory_xact_lock(hashtextextended('geoData', 0))`.execute(ctx.db);
  const before = await readSetting(ctx.db, null, 'geoData');
  try {
    // what somebody else was about to count when he ended does first
    taken?.check(before);
  } catch (error) {
    taken?.forget();
    if (error instanceof GeoFileRefused) throw refused(error.message);
    throw error;
  }
  const now = [...(taken?.own ?? ctx.services.geo?.state.current?.own ?? [])];
  if (await writeSetting(ctx.db, null, 'geoData', now))
    ctx.note({ table: 'setting', id: 0, before: { geoData: before }, after: { geoData: now } });
  if (!taken) return;
  // files cannot be taken back: what goes for good goes once the transaction stands
  ctx.after.push(() => {
    try {
      taken.count();
    } catch (err) {
      const isOver = err instanceof GeoFileRefused;
      if (isOver) taken.forget();
      const said = isOver
        ? 'other data came meanwhile, and count instead'
        : 'it is tried again, and until then those before count';
      logger.error({ err }, `data of where addresses are: what was sent, or dropped, just now does not count: ${said}`);
    }
  });
}

/** What the owner sent may be lost with its folder: a row does not bring it back. */
async function lostOf(ctx: Context, own: readonly GeoOwn[]): Promise<string | null> {
  const sent = await readSetting(ctx.db, null, 'geoData');
  const isLost = sent.some(({ file }) => !own.some(one => one.file === file));
  return isLost ? 'an uploaded file is not here any more, or cannot be read: send it again' : null;
}

export const geoDataCalls = implement(
  geoData,
  {
    'GET /geoData': async ({ ctx }) => {
      const { current, isBuilding, problem } = ctx.services.geo?.state ?? {
        current: undefined,
        isBuilding: false,
        problem: null,
      };
      const mayChange = await isOwner(ctx);
      return {
        state: isBuilding ? 'building' : current ? 'ready' : 'none',
        builtAt: timeOf(current?.builtAt ?? 0),
        networks: current?.networks ?? 0,
        // whoever can do something about it is told
        problem: mayChange ? toldIn(problem ?? (await lostOf(ctx, current?.own ?? [])), ctx.language) : null,
        sources: (current?.sources ?? []).map(one => ({ ...one, dataAt: timeOf(one.dataAt) })),
        mayChange,
      };
    },
    'GET /geoData/place': async ({ ctx, query }) => {
      const { geo } = ctx.services;
      const places = await geo?.places();
      return {
        place: (query.address === undefined ? undefined : places?.of(query.address)) ?? noData,
        credits: creditsOf(geo?.state.current?.sources ?? []),
      };
    },
    'POST /geoData': async ({ ctx, prepared }) => {
      await count(ctx, prepared);
      return {};
    },
    'DELETE /geoData': async ({ ctx, prepared }) => {
      const store = ctx.store(geoSourceTable);
      const source = (await store.page({ pageSize: 1 })).data[0];
      // first, for its row is what a fetch that is about to count holds: else that, or the clock, would bring back what was to go
      if (source) await sql`update "geoSource" set drops = drops + 1 where id = ${source.id}`.execute(ctx.db);
      if (source && source.every !== 'off') await store.set(source.id, { every: 'off' });
      await count(ctx, prepared);
      return {};
    },
  },
  { hold: { 'POST /geoData': holdGeo }, prepare: { 'POST /geoData': takeFile, 'DELETE /geoData': dropFiles } },
);
