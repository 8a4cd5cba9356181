/** Statistics and the access log over HTTP: the caller's own sites, narrowed by what was asked. */
import { sql } from 'kysely';
import { logs, statistics } from '#contract/analytics/analytics.ts';
import { Fail } from '#contract/errors.ts';
import { domainTable } from '../domain/tables.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { siteTable } from '../site/tables.ts';
import { type Analytics, AnalyticsError } from '../store/analytics/client.ts';
import { row } from '../store/db.ts';
import { accessLog } from './access-log.ts';
import { info } from './info.ts';
import type { Scope } from './scope.ts';
import { series } from './series.ts';
import { top } from './top.ts';

/** The analytics store; 101005 while it cannot be reached. */
export function store(ctx: Context): Analytics {
  if (!ctx.services.analytics) throw new Fail('database', { cause: 'no analytics store is configured' });
  return ctx.services.analytics;
}

/** A question to the store; a store that is down is a database error, never our fault. */
export async function ask<T>(question: Promise<T>): Promise<T> {
  try {
    return await question;
  } catch (error) {
    if (error instanceof AnalyticsError) throw new Fail('database', { cause: error });
    throw error;
  }
}

interface Wanted {
  sites?: number[] | undefined;
  tags?: string[] | undefined;
  domains?: string[] | undefined;
}
/** The sites of the question, all of them the caller's: a foreign id answers as an unknown one. */
export async function siteIDsOf(ctx: Context, wanted: Wanted, path = 'sites'): Promise<number[]> {
  const sites = ctx.store(siteTable);
  const tagged = wanted.tags?.length ? [sql`t.tags && ${wanted.tags}::text[]`] : [];
  if (wanted.sites?.length) {
    const found = await sites.pick(['id', 'tags'], [sql`t.id = any(${wanted.sites})`]);
    if (found.length !== new Set(wanted.sites).size)
      throw new Fail('parameter', { status: 404, errorData: [{ path, rule: 'unknown' }] });
    return found.filter(site => !wanted.tags?.length || site.tags.some(tag => wanted.tags!.includes(tag))).map(site => site.id);
  }
  return (await sites.pick(['id'], tagged)).map(site => site.id);
}

async function scopeOf(ctx: Context, body: Wanted & { startTime: string; endTime: string }): Promise<Scope> {
  const siteIDs = await siteIDsOf(ctx, body);
  const domainIDs = body.domains?.length
    ? (
        await ctx.store(domainTable).pick(['id'], [sql`t."domainName" = any(${body.domains})`, sql`t."siteID" = any(${siteIDs})`])
      ).map(domain => domain.id)
    : undefined;
  return { siteIDs, domainIDs, startTime: new Date(body.startTime), endTime: new Date(body.endTime) };
}

/**
 * When the first of these sites was made: before there was nothing to count. It hangs on the sites alone, so that all who ask for the same
 * get the same, the operator and the customer he bills.
 */
async function servedSince(ctx: Context, siteIDs: readonly number[]): Promise<Date> {
  const found = await row<{ since: Date | string }>(
    ctx.db,
    sql`select coalesce((select min("createdAt") from site where id = any(${siteIDs})), "createdAt") as since
        from account where id = ${ctx.actor.rootID}`,
  );
  return new Date(found!.since);
}

export const statisticsCalls = implement(statistics, {
  'POST /statistics/info': async ({ ctx, body }) => {
    const scope = await scopeOf(ctx, body);
    return { data: await ask(info(store(ctx), { ...scope, types: body.types, since: await servedSince(ctx, scope.siteIDs) })) };
  },
  'POST /statistics/timeSeries': async ({ ctx, query, body }) => {
    const scope = await scopeOf(ctx, body);
    const { steps, totals } = await ask(
      series(store(ctx), {
        ...scope,
        types: body.types,
        interval: body.reportInterval,
        totalsFrom: body.totalsFrom === undefined ? undefined : new Date(body.totalsFrom),
      }),
    );
    const size = query.pageSize ?? steps.length;
    const from = ((query.page ?? 1) - 1) * size;
    return {
      data: steps.slice(from, from + size),
      total: steps.length,
      since: (await servedSince(ctx, scope.siteIDs)).toISOString(),
      ...(totals ? { totals } : {}),
    };
  },
  'POST /statistics/top': async ({ ctx, body }) => ({
    data: await ask(top(store(ctx), { ...(await scopeOf(ctx, body)), types: body.types, top: body.top })),
  }),
});

export const logCalls = implement(logs, {
  'POST /logs/access': async ({ ctx, query, body }) => {
    const siteIDs = await siteIDsOf(ctx, { sites: body.siteIDs }, 'siteIDs');
    return ask(
      accessLog(store(ctx), {
        ...body,
        siteIDs,
        startTime: new Date(body.startTime),
        endTime: new Date(body.endTime),
        page: query.page,
        pageSize: query.pageSize,
      }),
    );
  },
});
