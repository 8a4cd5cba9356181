/** What a group answers, to whom, and how it came to that. */
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import { formatIP, parseIP } from '#contract/rules.ts';
import type { answerChanges, answerReasons } from '#contract/limits.ts';
import { dnsAbilitiesOf, type dnsTypes, lineExtents, paging } from '#contract/limits.ts';
import { groupAnswers } from '#contract/resolution/answers.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { groupTable, lineTable } from '../node/tables.ts';
import { row, rows } from '../store/db.ts';
import { type AnsweredLine, defaultLineID } from './choose.ts';
import { addressFrom } from './line-places.ts';
import { creditsOf, indexOf } from '../kit/place.ts';
import { answeredTo, type Extent } from './knot-preview.ts';
import { groupName } from './names.ts';

interface ChangeRow {
  id: number;
  lineID: number;
  lineName: string;
  change: (typeof answerChanges)[number];
  UID: string;
  name: string;
  reason: (typeof answerReasons)[number];
  seconds: number;
  at: string;
}

/** A list of changes may be sorted by these. */
const sorted: readonly string[] = ['id', 'at'];

/** How much of an address resolvers tell (RFC 7871, 11.1). */
const toldBits = { 4: 24, 6: 56 } as const;

/** For whom a question is answered: the visitor, the network that its resolver tells of, or the resolver. */
export function judgedBy({
  visitor,
  resolver,
  subnet = true,
}: {
  visitor?: string | undefined;
  resolver?: string | undefined;
  subnet?: boolean | undefined;
}): { address: string; told: string } | undefined {
  const isTold = resolver !== undefined && subnet && visitor !== undefined;
  const asked = resolver !== undefined && !isTold ? resolver : visitor;
  const address = asked === undefined ? undefined : parseIP(asked);
  if (!address) return undefined;
  const { family, value } = address;
  if (!isTold) return { address: formatIP(address), told: formatIP(address) };
  const hidden = BigInt((family === 4 ? 32 : 128) - toldBits[family]);
  const base = formatIP({ family, value: (value >> hidden) << hidden });
  return { address: base, told: `${base}/${toldBits[family]}` };
}

interface ZoneRow {
  cnameID: number;
  domainName: string;
  applied: number | null;
  driver: (typeof dnsTypes)[number];
  lineData: string;
  isPlaceless: boolean;
  isLineless: boolean;
}
/** CNAME zones in which a group stands, and what its lines go by there. */
const zonesOf = ({ db }: Context, zoneID: number, groupID: number): Promise<ZoneRow[]> =>
  rows<ZoneRow>(
    db,
    sql`select c.id as "cnameID", c."domainName", cg.applied, s.driver, c."lineData", ${groupID}::bigint = any(c."placelessGroups") as "isPlaceless",
        ${groupID}::bigint = any(c."linelessGroups") as "isLineless"
      from cname c join zone z on z.id = ${zoneID} and z."clientID" = c."clientID" join "dnsSetting" s on s.id = c."dnsSettingID"
      left join "cnameGroup" cg on cg."cnameID" = c.id and cg."groupID" = ${groupID} where c."deletedAt" is null order by c.id`,
  );

export const groupAnswerCalls = implement(
  groupAnswers,
  {
    'GET /group/{g}/answer': async ({ ctx, params, query }) => {
      const group = await ctx.store(groupTable).get(params.g, 'g');
      const stored = await row<{ lines: AnsweredLine[]; version: number; changedAt: string }>(
        ctx.db,
        sql`select lines, version, "changedAt" from "groupAnswer" where "groupID" = ${params.g}`,
      );
      const { geo } = ctx.services;
      const data = await geo?.places();
      const lines = stored?.lines ?? [];
      const isFrom = query.visitor === undefined && (query.place ?? query.asn) !== undefined;
      const known = isFrom ? indexOf(data) : undefined;
      const visitor = known ? addressFrom(query, lines, known) : query.visitor;
      // of a place where the data know nobody nothing is told, for a resolver elsewhere neither
      const judged = isFrom && visitor === undefined ? undefined : judgedBy({ ...query, visitor });
      const place = judged && data?.of(judged.address);
      const hasPlaces = lines.some(({ asns = [], places = [] }) => asns.length + places.length > 0);
      const found = await zonesOf(ctx, group.zoneID, params.g);
      const zones = found.map(({ cnameID, domainName, applied, driver, lineData, isPlaceless, isLineless }) => {
        const isByData = !hasPlaces || (data !== undefined && lineData === data.name);
        const can = dnsAbilitiesOf[driver].includes('lines');
        const some = isByData && !isPlaceless ? 'all' : 'networks';
        const extent: Extent = !can ? 'none' : isLineless ? 'noRoom' : some;
        const isApplied =
          stored !== undefined && applied === stored.version && (!can || isLineless || isByData || lineData === '');
        return { cnameID, name: groupName(domainName, params.g), isApplied, lines: extent };
      });
      const index = hasPlaces && (!zones.length || zones.some(one => one.lines === 'all')) ? indexOf(data) : undefined;
      const whole = { groupID: params.g, clientID: 0, version: stored?.version ?? 0, lines };
      const answered = new Map(
        lineExtents.map(extent => [extent, answeredTo(whole, { address: judged?.address, place }, extent, index)]),
      );
      // as where the most of its lines count
      const extent = lineExtents.find(one => zones.some(zone => zone.lines === one)) ?? 'all';
      const { line, by, of, answer } = answered.get(extent)!;
      const lineID = line?.lineID ?? defaultLineID;
      const [named] = await ctx.store(lineTable).pick(['id', 'name'], [sql`t.id = ${lineID}`]);
      return {
        lineID,
        lineName: named?.name ?? '',
        visitor: visitor ?? null,
        judged: judged?.told ?? null,
        network: by === 'network' ? of : null,
        by,
        of,
        place: place ?? null,
        credits: place ? creditsOf(geo?.state.current?.sources ?? []) : [],
        answer,
        members: line?.members ?? [],
        changedAt: stored?.changedAt ?? null,
        zones: zones.map(one => ({ ...one, answer: answered.get(one.lines)!.answer })),
      };
    },
    'GET /group/{g}/answers': async ({ ctx, params, query }) => {
      const { page = paging.pageFirst, pageSize = paging.pageSizeDefault } = query;
      const of = sql`a."groupID" = ${params.g}`;
      if (query.sortBy !== undefined && !sorted.includes(query.sortBy))
        throw failFields([{ path: 'sortBy', rule: 'unknown', bounds: { allowed: sorted.join(', ') } }]);
      const direction = query.orderBy === 'asc' ? sql`asc` : sql`desc`;
      const order = query.sortBy === 'at' ? sql`a.at ${direction}, a.id ${direction}` : sql`a.id ${direction}`;
      const data = await rows<ChangeRow>(
        ctx.db,
        sql`select a.id, a."lineID", coalesce(nullif(a."lineName", ''), l.name, '') as "lineName", a.change, a."UID", a.name, a.reason, a.seconds, a.at
          from "answerChange" a left join line l on l.id = a."lineID" where ${of} order by ${order} limit ${pageSize} offset ${(page - 1) * pageSize}`,
      );
      const { n } = (await row<{ n: number }>(ctx.db, sql`select count(*) as n from "answerChange" a where ${of}`))!;
      return { data, total: n };
    },
  },
  { params: { g: groupTable } },
);
