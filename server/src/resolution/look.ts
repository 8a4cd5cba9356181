/** Who should be answered on each line, against what is answered. */
import { sql } from 'kysely';
import { eventOf } from '../kit/metrics.ts';
import { type Db, row, rows } from '../store/db.ts';
import { type AnsweredLine, answersOf, type Change } from './choose.ts';
import { inOrder } from './load.ts';
import type { Steadiness } from './steadiness.ts';
import { wantedGroups } from './wanted.ts';

const changed = eventOf('resolution', 'answerChanged');

/** Writes down what differs. @returns milliseconds until something may change by itself, `lookMs` at most */
export async function look(db: Db, steady: Steadiness, lookMs: number): Promise<number> {
  const before = new Map(
    (await rows<{ groupID: number; lines: AnsweredLine[] }>(db, sql`select "groupID", lines from "groupAnswer"`)).map(one => [
      one.groupID,
      one.lines,
    ]),
  );
  let soonMs = lookMs;
  for (const { groupID, lines } of await wantedGroups(db)) {
    const old = before.get(groupID);
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
    const { lines: now, changes } = answersOf(lines, old ?? []);
    if (old && JSON.stringify(now) === JSON.stringify(old.map(inOrder))) continue;
    await write(db, groupID, now, changes);
  }
  return soonMs;
}

async function write(all: Db, groupID: number, lines: readonly AnsweredLine[], changes: readonly Change[]): Promise<void> {
  await all.transaction().execute(async db => {
    const { version } = (await row<{ version: number }>(
      db,
      sql`insert into "groupAnswer" ("groupID", version, lines) values (${groupID}, nextval('answer_version'), ${JSON.stringify(lines)}::jsonb)
          on conflict ("groupID") do update set version = nextval('answer_version'), lines = excluded.lines, "changedAt" = clock_timestamp() returning version`,
    ))!;
    if (changes.length)
      await sql`insert into "answerChange" ("groupID", "lineID", version, change, "UID", name, reason, seconds)
          select ${groupID}, c."lineID", ${version}, c.change, c."UID", c.name, c.reason, c.seconds
          from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as c("lineID" bigint, change text, "UID" text, name text, reason text, seconds int)`.execute(
        db,
      );
  });
  changed(Math.max(1, changes.length));
}
