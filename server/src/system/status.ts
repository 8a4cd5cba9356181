/** `GET /{area}/systemHealth`: who is told what. */
import { sql } from 'kysely';
import { fail } from '#contract/errors.ts';
import { type Check, adviceOf, healthTimes, idInKey, sentenceOf, troubles, warns, worst } from '#contract/system/health.ts';
import { status } from '#contract/system/status.ts';
import type { Context } from '../kit/context.ts';
import { merged } from '../kit/health.ts';
import { implement } from '../kit/implement.ts';
import { ownerID } from '../kit/owner.ts';
import type { Services } from '../kit/services.ts';
import { nodeTable } from '../node/tables.ts';
import { siteTable } from '../site/tables.ts';
import { row } from '../store/db.ts';

const atMost = 200;
const nodeOf = (check: Check) => idInKey('node', check);
const ofNode = (check: Check) => nodeOf(check) !== undefined;

/** Who it was when the database last said so. */
const firstSeen = new WeakMap<Services, number>();
/** The installation belongs to its vendor and to its owner: who set it up. */
async function isOwner(ctx: Context, asks: boolean): Promise<boolean> {
  // its people are told what their keys are for
  if (ctx.actor.area === 'admin') return ctx.actor.isRoot;
  if (ctx.actor.area !== 'client' || !ctx.actor.permissions.has('nodes.view')) return false;
  if (asks) {
    const first = await row<{ id: number | null }>(ctx.db, sql`select ${ownerID} as id`);
    firstSeen.set(ctx.services, first?.id ?? 0);
  }
  return firstSeen.get(ctx.services) === ctx.actor.rootID;
}

/** Nodes are told of to whoever may see them. */
async function nodesOf(ctx: Context, found: readonly Check[]): Promise<Check[]> {
  if (ctx.actor.area === 'admin') return ctx.actor.isRoot ? [...found] : [];
  if (!found.length || ctx.actor.area !== 'client' || !ctx.actor.permissions.has('nodes.view')) return [];
  const ids = [...new Set(found.map(check => nodeOf(check)!))];
  const visible = new Set((await ctx.store(nodeTable).pick(['id'], [sql`t.id = any(${ids})`])).map(one => one.id));
  return found.filter(check => visible.has(nodeOf(check)!));
}

/** What is wrong with the sites of the operator itself is told to whoever may see them. */
const ownOf = ({ actor }: Context, found: readonly Check[]): Check[] =>
  actor.area === 'client' && actor.permissions.has('sites.view')
    ? found.filter(check => idInKey('operator', check) === actor.rootID)
    : [];

/** For the others: a gentle word, and only when sites of theirs are affected. */
async function gentle(ctx: Context, found: readonly Check[]): Promise<Check[]> {
  const failing = found.filter(check => check.state === 'fail');
  const since = (checks: readonly Check[]) => checks.map(check => check.since).sort()[0]!;
  const told: Check[] = [];
  const changes = failing.filter(({ id }) => ['bus', 'streams', 'relay', 'nodes', 'disk'].includes(id));
  const affected = changes.length
    ? await ctx.store(siteTable).page({ pageSize: 1 }, [
        sql`(exists (select from outbox o where o."siteID" = t.id and o."committedAt" < clock_timestamp() - ${healthTimes.relayLateSeconds} * interval '1 second')
          or exists (select from publication p join node n on n."zoneID" = p."zoneID" and n."deletedAt" is null and n.status in ('normal', 'error')
            where p."siteID" = t.id and p.seq > n."appliedSeq" and p."committedAt" < clock_timestamp() - ${healthTimes.unservedSeconds} * interval '1 second'))`,
      ])
    : { total: 0 };
  if (affected.total > 0) told.push({ ...warns('sites.changesLate', { count: affected.total }), since: since(changes) });
  const figures = failing.filter(({ id }) => ['ingest', 'store', 'bus'].includes(id));
  if (figures.length && (await ctx.store(siteTable).page({ pageSize: 1 })).total > 0)
    told.push({ ...warns('sites.figuresLate'), since: since(figures) });
  return told;
}

/** What whoever asks is told, the worst first. @throws database, where nobody can say whom it concerns */
export async function toldTo(ctx: Context): Promise<Check[]> {
  const found = troubles(merged(ctx.services.health?.now() ?? []));
  const inside = found.filter(check => !ofNode(check));
  // Whom it concerns is told that the database is away without a question to it, as far as they are known.
  const isThere = !inside.some(({ id, reason, state }) => id === 'database' && reason === 'database.away' && state === 'fail');
  if (!isThere && !(await isOwner(ctx, false))) throw fail('database', { status: 503 });
  const nodes = isThere ? await nodesOf(ctx, found.filter(ofNode)) : [];
  return troubles(
    (await isOwner(ctx, isThere)) ? [...inside, ...nodes] : [...nodes, ...ownOf(ctx, inside), ...(await gentle(ctx, found))],
  );
}

export const statusCalls = implement(status, {
  'GET /systemHealth': async ({ ctx }) => {
    const told = await toldTo(ctx);
    return {
      state: worst(told),
      troubles: told.slice(0, atMost).map(check => ({
        check: check.id,
        key: check.key ?? '',
        state: check.state === 'fail' ? ('fail' as const) : ('warn' as const),
        since: check.since,
        sentence: sentenceOf(check, ctx.language).slice(0, 1000),
        advice: adviceOf(check, ctx.language).slice(0, 1000),
        nodeID: nodeOf(check) ?? null,
      })),
    };
  },
});
