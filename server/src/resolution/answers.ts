/** What a group answers, to whom, and how it came to that. */
import { sql } from 'kysely';
import { formatIP, parseIP } from '#contract/rules.ts';
import type { answerChanges, answerReasons } from '#contract/limits.ts';
import { paging } from '#contract/limits.ts';
import { groupAnswers } from '#contract/resolution/answers.ts';
import { implement } from '../kit/implement.ts';
import { groupTable, lineTable } from '../node/tables.ts';
import { row, rows } from '../store/db.ts';
import { type AnsweredLine, defaultLineID } from './choose.ts';
import { creditsOf } from '../kit/place.ts';
import { lineFor } from './line-places.ts';
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

export const groupAnswerCalls = implement(
  groupAnswers,
  {
    'GET /group/{g}/answer': async ({ ctx, params, query }) => {
      const group = await ctx.store(groupTable).get(params.g, 'g');
      const stored = await row<{ lines: AnsweredLine[]; version: number; changedAt: string }>(
        ctx.db,
        sql`select lines, version, "changedAt" from "groupAnswer" where "groupID" = ${params.g}`,
      );
      const judged = judgedBy(query);
      const { geo } = ctx.services;
      const place = judged && (await geo?.places())?.of(judged.address);
      const { line, by, of } = lineFor(stored?.lines ?? [], judged?.address, place);
      const everybodys = stored?.lines.find(one => one.lineID === defaultLineID);
      const lineID = line?.lineID ?? defaultLineID;
      const [named] = await ctx.store(lineTable).pick(['id', 'name'], [sql`t.id = ${lineID}`]);
      const zones = await rows<{ cnameID: number; domainName: string; applied: number | null }>(
        ctx.db,
        sql`select c.id as "cnameID", c."domainName", cg.applied from cname c join zone z on z.id = ${group.zoneID} and z."clientID" = c."clientID"
          left join "cnameGroup" cg on cg."cnameID" = c.id and cg."groupID" = ${params.g} where c."deletedAt" is null order by c.id`,
      );
      return {
        lineID,
        lineName: named?.name ?? '',
        judged: judged?.told ?? null,
        network: by === 'network' ? of : null,
        by,
        of,
        place: place ?? null,
        credits: place ? creditsOf(geo?.state.current?.sources ?? []) : [],
        answer: line
          ? {
              // a family that the line has none of is answered as to everybody
              a: line.a.length || line.cname !== null ? line.a : (everybodys?.a ?? []),
              aaaa: line.aaaa.length || line.cname !== null ? line.aaaa : (everybodys?.aaaa ?? []),
              cname: line.cname,
            }
          : { a: [], aaaa: [], cname: null },
        members: line?.members ?? [],
        changedAt: stored?.changedAt ?? null,
        zones: zones.map(({ cnameID, domainName, applied }) => ({
          cnameID,
          name: groupName(domainName, params.g),
          isApplied: stored !== undefined && applied === stored.version,
        })),
      };
    },
    'GET /group/{g}/answers': async ({ ctx, params, query }) => {
      const { page = paging.pageFirst, pageSize = paging.pageSizeDefault } = query;
      const of = sql`a."groupID" = ${params.g}`;
      const data = await rows<ChangeRow>(
        ctx.db,
        sql`select a.id, a."lineID", coalesce(l.name, '') as "lineName", a.change, a."UID", a.name, a.reason, a.seconds, a.at
          from "answerChange" a left join line l on l.id = a."lineID" where ${of} order by a.id desc limit ${pageSize} offset ${(page - 1) * pageSize}`,
      );
      const { n } = (await row<{ n: number }>(ctx.db, sql`select count(*) as n from "answerChange" a where ${of}`))!;
      return { data, total: n };
    },
  },
  { params: { g: groupTable } },
);
