/** Who should be answered on each line, against what is answered. */
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { eventOf } from '../kit/metrics.ts';
import { Seldom } from '../kit/seldom.ts';
import { logger } from '../log.ts';
import { type Db, row, rows } from '../store/db.ts';
import { type AnsweredLine, answersOf, type Change, type Standing, standingOf } from './choose.ts';
import { inOrder } from './load.ts';
import { oneLine } from './servers.ts';
import type { Steadiness } from './steadiness.ts';
import { type WantedGroup, wantedGroups } from './wanted.ts';

interface Before {
  groupID: number;
  lines: AnsweredLine[];
  standing: Standing | null;
}
const troubles = new Seldom(60_000);
const changed = eventOf('resolution', 'answerChanged');

/** Writes down what differs. @returns milliseconds until something may change by itself, `lookMs` at most */
export async function look(db: Db, steady: Steadiness, lookMs: number): Promise<number> {
  const before = new Map(
    (await rows<Before>(db, sql`select "groupID", lines, standing from "groupAnswer"`)).map(one => [one.groupID, one]),
  );
  let soonMs = lookMs;
  const unread: Unread[] = [];
  for (const group of await wantedGroups(db)) {
    const lookAt = (was: Partial<Before>) => lookAtGroup(db, group, was, steady, lookMs);
    try {
      // what is written down of a group is made of rows: where it cannot be read it is made anew
      const waitMs = await lookAt(before.get(group.groupID) ?? {}).catch((err: unknown) => {
        if (!(err instanceof TypeError)) throw err;
        return lookAt({});
      });
      soonMs = Math.min(soonMs, waitMs);
    } catch (err) {
      // its own trouble keeps no other from being looked at; one of the database is everybody's
      if (!isOwn(err)) throw err;
      unread.push({ groupID: group.groupID, detail: oneLine((err as Error).message) });
      if (troubles.isTime(String(group.groupID))) logger.warn({ err, groupID: group.groupID }, 'a group could not be looked at');
    }
  }
  await noteUnread(db, unread);
  return soonMs;
}

interface Unread {
  groupID: number;
  detail: string;
}
/** Whoever is asked how names are (names-check.ts) may be another process. */
async function noteUnread(db: Db, unread: readonly Unread[]): Promise<void> {
  const ids = unread.map(one => one.groupID);
  await sql`delete from "groupUnread" where "groupID" <> all(${ids}::bigint[])`.execute(db);
  if (ids.length)
    await sql`insert into "groupUnread" as t ("groupID", detail) select c."groupID", c.detail
        from jsonb_to_recordset(${JSON.stringify(unread)}::jsonb) as c("groupID" bigint, detail text)
        where exists (select from "group" g where g.id = c."groupID")
        on conflict ("groupID") do update set detail = excluded.detail where t.detail <> excluded.detail`.execute(db);
}

/** Something of its rows, or what PostgreSQL says of values (class 22, 23). */
const isOwn = (err: unknown) =>
  err instanceof TypeError || (err instanceof Error && 'code' in err && /^2[23]/.test(String(err.code)));

/** @returns milliseconds until something of it may change by itself, `lookMs` at most */
async function lookAtGroup(
  db: Db,
  { groupID, lines }: WantedGroup,
  { lines: old, standing }: Partial<Before>,
  steady: Steadiness,
  lookMs: number,
): Promise<number> {
  let soonMs = lookMs;
  for (const line of lines) {
    const answered = old?.find(one => one.lineID === line.lineID)?.members;
    for (const member of line.members) {
      const isAnswered = answered?.some(({ UID }) => UID === member.UID) ?? false;
      const wellMs = member.wellSeconds == null ? undefined : member.wellSeconds * 1000;
      const waitMs = steady.waitMs(member.UID, member.trouble === undefined, isAnswered, wellMs);
      // a line that answers nobody yet needs no patience
      if (waitMs > 0 && answered?.length) {
        member.isWaiting = true;
        soonMs = Math.min(soonMs, Math.max(20, waitMs));
      }
    }
  }
  const stands = standingOf(lines);
  const { lines: now, changes } = answersOf(lines, old ?? [], old ? (standing ?? undefined) : {});
  if (!old || JSON.stringify(now) !== JSON.stringify(old.map(inOrder))) await write(db, groupID, now, stands, changes);
  // nobody is answered otherwise for that
  else if (!isDeepStrictEqual(stands, standing))
    await sql`update "groupAnswer" set standing = ${JSON.stringify(stands)}::jsonb where "groupID" = ${groupID}`.execute(db);
  return soonMs;
}

async function write(
  all: Db,
  groupID: number,
  lines: readonly AnsweredLine[],
  stands: Standing,
  changes: readonly Change[],
): Promise<void> {
  await all.transaction().execute(async db => {
    const { version } = (await row<{ version: number }>(
      db,
      sql`insert into "groupAnswer" ("groupID", version, lines, standing)
          values (${groupID}, nextval('answer_version'), ${JSON.stringify(lines)}::jsonb, ${JSON.stringify(stands)}::jsonb)
          on conflict ("groupID") do update set version = nextval('answer_version'), lines = excluded.lines, standing = excluded.standing, "changedAt" = clock_timestamp() returning version`,
    ))!;
    if (changes.length)
      await sql`insert into "answerChange" ("groupID", "lineID", "lineName", version, change, "UID", name, reason, seconds)
          select ${groupID}, c."lineID", c."lineName", ${version}, c.change, c."UID", c.name, c.reason, c.seconds
          from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as c("lineID" bigint, "lineName" text, change text, "UID" text, name text, reason text, seconds int)`.execute(
        db,
      );
  });
  changed(Math.max(1, changes.length));
}
