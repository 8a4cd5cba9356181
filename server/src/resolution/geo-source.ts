/** The owner's own source of data of places: where it is, what became of it, and when it is asked by itself. */
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import { geoSourceLimits } from '#contract/limits.ts';
import { geoRefresh, geoSource } from '#contract/resolution/geo-source.ts';
import { ruleOfRefusal } from '#contract/rules/address-policy.ts';
import type { Language } from '#contract/kit/text.ts';
import { type Bounds, isRuleName, ruleText } from '#contract/rules/rule.ts';
import type { SettingValue } from '#contract/system/settings.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { mailPolicy } from '../kit/mail/send.ts';
import { openOf, startHouseTask, startTask } from '../kit/task.ts';
import { type Db, rows } from '../store/db.ts';
import { readSetting, writeSetting } from '../system/settings.ts';
import { type GeoSourceRow, geoSourceTable } from './geo-source-table.ts';
import { geoText } from './geo-words.ts';

export type Fetched = NonNullable<SettingValue<'geoFetched'>>;

const hourMs = 3_600_000;
const everyMs = { day: 24 * hourMs, week: 168 * hourMs } as const;
/** Milliseconds since 1970; null: by hand alone. */
function nextAt({ url, every }: Pick<GeoSourceRow, 'url' | 'every'>, seen: Fetched | null): number | null {
  if (url === '' || every === 'off') return null;
  if (!seen) return 0;
  return Date.parse(seen.lookedAt) + (seen.problem ? geoSourceLimits.retryHours * hourMs : everyMs[every]);
}

/** Why a file is of no use was said by whoever read it. */
const readable = (bounds: Bounds, language: Language): Bounds =>
  typeof bounds['why'] === 'string' ? { ...bounds, why: geoText(bounds['why'], language) } : bounds;

const known = async (ctx: Context) => (await ctx.store(geoSourceTable).page({ pageSize: 1 })).data[0];

export const geoSourceCalls = implement(geoSource, {
  'GET /source': async ({ ctx }) => {
    const now = await known(ctx);
    const { url, headerName, headerIsSet, every, version } = now ?? {
      ...{ url: '', headerName: 'Authorization', headerIsSet: false, every: 'off' as const, version: 0 },
    };
    // asked first: what ends in between has written what is read then
    const isRefreshing = (await openOf(ctx.db, ctx.actor.rootID, geoRefresh)) !== undefined;
    const seen = await readSetting(ctx.db, null, 'geoFetched');
    const next = nextAt({ url, every }, seen);
    const { rule, bounds } = seen?.problem ?? {};
    return {
      ...{ url, headerName, headerIsSet, every, version },
      lookedAt: seen?.lookedAt ?? null,
      takenAt: seen?.takenAt ?? null,
      dataAt: seen?.dataAt ?? null,
      sha256: seen?.sha256 ?? null,
      problem: isRuleName(rule)
        ? ruleText({ rule, ...(bounds && { bounds: readable(bounds, ctx.language) }) }, ctx.language)
        : null,
      failedSince: seen?.failedSince ?? null,
      nextAt: next === null ? null : new Date(next || Date.now()).toISOString(),
      isRefreshing,
    };
  },
  'PUT /source': async ({ ctx, body }) => {
    const { rootID } = ctx.actor;
    const before = await known(ctx);
    if (body.url === '' && body.every !== 'off') throw failFields([{ path: 'url', rule: 'required' }]);
    if (body.url !== '') {
      const url = new URL(body.url);
      const host = url.hostname.replace(/^\[|\]$/g, '');
      const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
      const verdict = (await mailPolicy(ctx.db, rootID)).judgeHost(host, port);
      if (!verdict.allowed) throw failFields([{ path: 'url', rule: ruleOfRefusal(verdict.kind), bounds: { address: host } }]);
      // whoever may change where it is would else have the secret sent to one of their own
      const isElsewhere = before && (before.url === '' || new URL(before.url).origin !== url.origin);
      if (isElsewhere && before.headerIsSet && body.header === undefined)
        throw failFields([{ path: 'header', rule: 'geoHeaderAgain' }]);
    }
    const values = { ...body, headerName: body.headerName || 'Authorization' };
    if (before) await ctx.store(geoSourceTable).set(before.id, values);
    else {
      const unset = { url: '', headerName: 'Authorization', every: 'off', header: null };
      await ctx.expect('geoSource', { id: rootID, version: 0, ...unset }, body);
      await ctx.store(geoSourceTable).add([values], { clientID: rootID });
    }
    // what another source said of its file says nothing of this one's
    if (before && before.url !== body.url) await writeSetting(ctx.db, null, 'geoFetched', null);
    return {};
  },
  'POST /source/refresh': async ({ ctx }) => {
    const source = await known(ctx);
    if (!source?.url) throw failFields([{ path: 'url', rule: 'required' }]);
    const { host } = new URL(source.url);
    return { taskID: await startTask(ctx, geoRefresh, { id: source.id }, { about: { host }, total: 1 }) };
  },
});

/** Begins what is due by the clock; once, however many processes look. */
export async function beginDue(db: Db): Promise<void> {
  await db.transaction().execute(async trx => {
    const [source] = await rows<{ id: number; rootID: number; url: string; every: GeoSourceRow['every'] }>(
      trx,
      sql`select s.id, s."clientID" as "rootID", s.url, s.every from "geoSource" s join account a on a.id = s."clientID"
          where s."deletedAt" is null and s.every <> 'off' and a."deletedAt" is null and a.status = 'normal' for no key update of s`,
    );
    if (!source) return;
    const next = nextAt(source, await readSetting(trx, null, 'geoFetched'));
    if (next === null || next > Date.now() || (await openOf(trx, source.rootID, geoRefresh))) return;
    await startHouseTask(
      trx,
      geoRefresh,
      { id: source.id },
      { rootID: source.rootID, about: { host: new URL(source.url).host }, total: 1 },
    );
  });
}
