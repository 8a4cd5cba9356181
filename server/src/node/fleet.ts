/** All nodes at one look: what they say of themselves (heartbeats), what they lag, and what they do by their log lines. */
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { fleetLimits } from '#contract/limits.ts';
import { type FleetNode, fleet } from '#contract/node/fleet.ts';

import { type Finding, readChecks, sentenceOf, warns, weightOf } from '#contract/system/health.ts';
import { type NodeTraffic, nodeTraffic } from '../analytics/node-traffic.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { eachOf } from '../kit/removal.ts';
import { scopeOf } from '../kit/table.ts';
import { AnalyticsError } from '../store/analytics/client.ts';
import { rows } from '../store/db.ts';
import { type Passed, passedBy } from './relay-passed.ts';
import { nodeTable, zoneTable } from './tables.ts';

type Node = z.output<typeof FleetNode>;
const troublesMost = 5;

/** Many look, every five seconds each: figures of all nodes are asked for once in this time. */
const trafficKeptMs = 3000;
const kept = new WeakMap<object, { at: number; traffic: Promise<Map<number, NodeTraffic> | undefined> }>();

/** undefined where the store cannot tell */
function trafficNow(analytics: Context['services']['analytics']): Promise<Map<number, NodeTraffic> | undefined> {
  if (!analytics) return Promise.resolve(undefined);
  const known = kept.get(analytics);
  if (known && performance.now() - known.at < trafficKeptMs) return known.traffic;
  const traffic = nodeTraffic(analytics, Date.now()).catch((error: unknown) => {
    if (error instanceof AnalyticsError) return undefined;
    throw error;
  });
  kept.set(analytics, { at: performance.now(), traffic });
  return traffic;
}

/** What others see of it, then what it says itself; the worst first. */
function troublesOf(node: Row, language: Context['language']): string[] {
  const { problem, checks } = node;
  const wrong = [...seenOf(node), ...readChecks(checks, 20)]
    .filter(check => check.state !== 'ok')
    .sort((a, b) => weightOf(b.state) - weightOf(a.state));
  const said = wrong.map(check => sentenceOf(check, language).slice(0, 600));
  // a node of another release may know checks that this server does not
  return (said.length || problem === null ? said : [problem.slice(0, 600)]).slice(0, troublesMost);
}

/** As system/checks.ts tells it of the whole installation. */
function seenOf({ name, silentSeconds, edges, passing, why, isPassed }: Row): Finding[] {
  return [
    ...(silentSeconds === null ? [] : [warns('nodes.pausedSilent', { node: name, seconds: silentSeconds })]),
    ...(isPassed ? [warns('nodes.relayPassed', { node: name, count: passing!, edges: edges!, detail: why! })] : []),
  ];
}

type Row = Omit<Node, 'traffic' | 'troubles' | 'disk'> &
  Passed & {
    total: number;
    silentSeconds: number | null;
    problem: string | null;
    checks: unknown;
    disk: { freeBytes?: unknown; totalBytes?: unknown } | null;
  };
const isBytes = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

async function fleetOf(ctx: Context, zoneID: number | undefined): Promise<{ nodes: Node[]; total: number }> {
  const [found, traffic] = await Promise.all([
    rows<Row>(
      ctx.db,
      sql`select n.id, n.name, n."zoneID", z.name as "zoneName", n.type, n.status, n."silentSince", n.version, n.place, n."lastBeat", l.behind, l."behindSince",
            jsonb_array_length(n.refused) as refused, n.beat->>'problem' as problem, n.beat->'checks' as checks, n.beat->'disk' as disk,
            round(extract(epoch from clock_timestamp() - n."silentSince"))::int as "silentSeconds", o.edges, o.passing, o.why, o."isPassed", count(*) over () as total
          from node n join zone z on z.id = n."zoneID"
          cross join lateral (select count(*) as behind, min(p."committedAt") as "behindSince" from publication p
            where p."zoneID" = n."zoneID" and p.seq > n."appliedSeq") l
          left join ${sql.raw(passedBy('n'))} o on true
          where n."deletedAt" is null and ${scopeOf(nodeTable, ctx.actor, 'n', 1)}
            and ${zoneID === undefined ? sql`true` : sql`n."zoneID" = ${zoneID}`}
          order by n.name, n.id limit ${fleetLimits.nodesMost}`,
    ),
    trafficNow(ctx.services.analytics),
  ]);
  const none = { bitsPerSecond: 0, requestsPerSecond: 0, hitShare: null, errors: 0, errorShare: null };
  let all = 0;
  const nodes = found.map((one): Node => {
    const {
      total,
      silentSeconds: _s,
      problem: _p,
      checks: _c,
      edges: _e,
      passing: _n,
      why: _w,
      isPassed: _i,
      disk,
      ...node
    } = one;
    all = Number(total);
    return {
      ...node,
      troubles: troublesOf(one, ctx.language),
      disk:
        isBytes(disk?.freeBytes) && isBytes(disk.totalBytes) ? { freeBytes: disk.freeBytes, totalBytes: disk.totalBytes } : null,
      traffic: traffic ? (traffic.get(node.id) ?? none) : null,
    };
  });
  return { nodes, total: all };
}

export const fleetCalls = implement(fleet, {
  'GET /nodes/fleet': async ({ ctx, query }) => {
    if (query.zoneID !== undefined) await ctx.store(zoneTable).get(query.zoneID, 'zoneID');
    return fleetOf(ctx, query.zoneID);
  },
  'PUT /nodes/place': ({ ctx, body }) =>
    eachOf(
      ctx,
      ctx.store(nodeTable),
      body.ids,
      node => node.name,
      async ({ id }) => void (await ctx.store(nodeTable).set(id, { place: body.place })),
    ),
});
