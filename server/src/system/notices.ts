/** A person's inbox, and what the person wants to be told. */
import { sql } from 'kysely';
import { type NoticeKind, noticeKinds, noticeLimits, noticeNeeds } from '#contract/limits.ts';
import { fail } from '#contract/errors.ts';
import { notices } from '#contract/system/notices.ts';
import type { Actor } from '../kit/actor.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { isSame } from '../kit/store.ts';
import { type Db, row, rows } from '../store/db.ts';
import { noticeDetail, noticeSentence, type Told } from './notice-texts.ts';

export interface Choice {
  inbox: boolean;
  mail: boolean;
}
/** Whoever said nothing reads all of it in the console, and has mails of what cannot wait. */
const mailedUnasked: ReadonlySet<NoticeKind> = new Set([
  'certificateFailed',
  'certificateEnds',
  'nodeOffline',
  'originDown',
  'trafficWarning',
  'trafficUsedUp',
  'trafficLimited',
  'accountEnds',
  'licenceEnds',
  'backupFailed',
]);
/** Of these it is sent at once, where it happens (account/new-device.ts, copied-token.ts): `mail` of what is stored says nothing. */
const mailedThere: ReadonlySet<NoticeKind> = new Set(['newDevice', 'tokenCopied']);
/** Nobody silences it: whoever has the copy would. */
const isAlways = (kind: NoticeKind) => kind === 'tokenCopied';
export const choiceOf = (stored: Partial<Record<string, Choice>> | undefined, kind: NoticeKind): Choice =>
  mailedThere.has(kind)
    ? { inbox: isAlways(kind) || (stored?.[kind]?.inbox ?? true), mail: false }
    : (stored?.[kind] ?? { inbox: true, mail: mailedUnasked.has(kind) });

export function mayBeTold({ permissions }: Pick<Actor, 'permissions'>, kind: NoticeKind): boolean {
  const key = noticeNeeds[kind];
  return key === null || permissions.has(key);
}

/** Who was told must see it: an inbox that somebody else empties, or silences, is no alarm. */
function ownOnly({ actor }: Context): void {
  if (actor.proxyName) throw fail('permissionDenied');
}

const unreadOf = async (db: Db, accountID: number): Promise<{ unread: number }> =>
  (await row<{ unread: number }>(
    db,
    sql`select count(*)::int as unread from notice where "accountID" = ${accountID} and "readAt" is null and "isShown"`,
  ))!;
const choicesOf = async ({ db, actor }: Context) =>
  (
    await row<{ choices: Partial<Record<string, Choice>> }>(
      db,
      sql`select choices from "noticePerson" where "accountID" = ${actor.accountID}`,
    )
  )?.choices;

/** As `PUT /{area}/account/self` does, whose own it is. */
async function chooseDeviceMail(ctx: Context, after: boolean): Promise<void> {
  const id = ctx.actor.accountID;
  const changed = await row(
    ctx.db,
    sql`update account set "newDeviceMail" = ${after}, "rowVersion" = "rowVersion" + 1, "updatedAt" = now()
        where id = ${id} and "newDeviceMail" <> ${after} returning 1`,
  );
  if (changed) ctx.note({ table: 'account', id, before: { newDeviceMail: !after }, after: { newDeviceMail: after } });
}

export const noticeCalls = implement(notices, {
  'GET /notices': async ({ ctx, query }) => {
    const { accountID } = ctx.actor;
    const found = await rows<Told & { id: number; readAt: string | null; latestAt: string }>(
      ctx.db,
      sql`select id, kind, count, names, detail, "readAt", "latestAt" from notice
          where "accountID" = ${accountID} and "isShown" and (${query.before ?? null}::bigint is null or id < ${query.before ?? null}::bigint)
          order by id desc limit ${noticeLimits.shownMax}`,
    );
    return {
      notices: found.map(({ names, ...one }) => ({
        ...one,
        detail: noticeDetail(one, ctx.language).slice(0, 500),
        sentence: noticeSentence({ ...one, names }, ctx.language),
      })),
      ...(await unreadOf(ctx.db, accountID)),
    };
  },
  'GET /notices/unread': async ({ ctx }) => unreadOf(ctx.db, ctx.actor.accountID),
  'POST /notices/read': async ({ ctx, body }) => {
    ownOnly(ctx);
    await sql`update notice set "readAt" = now() where "accountID" = ${ctx.actor.accountID} and id <= ${body.upTo} and "readAt" is null`.execute(
      ctx.db,
    );
    return unreadOf(ctx.db, ctx.actor.accountID);
  },
  'GET /notices/choices': async ({ ctx }) => {
    const stored = await choicesOf(ctx);
    const { accountID, proxyName } = ctx.actor;
    const told = noticeKinds.filter(
      kind => mayBeTold(ctx.actor, kind) && !isAlways(kind) && !(proxyName && kind === 'newDevice'),
    );
    const own = await row<{ mail: boolean }>(ctx.db, sql`select "newDeviceMail" as mail from account where id = ${accountID}`);
    return { choices: told.map(kind => ({ kind, ...choiceOf(stored, kind), ...(kind === 'newDevice' ? own : {}) })) };
  },
  'POST /notices/choices': async ({ ctx, body }) => {
    ownOnly(ctx);
    const { accountID: id } = ctx.actor;
    const device = body.choices.findLast(({ kind }) => kind === 'newDevice');
    if (device) await chooseDeviceMail(ctx, device.mail);
    const before = (await choicesOf(ctx)) ?? {};
    const choices = Object.fromEntries(body.choices.map(({ kind, ...choice }) => [kind, choice]));
    const after = { ...before, ...choices };
    if (!isSame(before, after)) ctx.note({ table: 'noticePerson', id, before: { choices: before }, after: { choices: after } });
    await sql`insert into "noticePerson" ("accountID", choices) values (${id}, ${JSON.stringify(choices)}::jsonb)
      on conflict ("accountID") do update set choices = "noticePerson".choices || excluded.choices`.execute(ctx.db);
    return {};
  },
});
