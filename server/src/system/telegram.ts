/** Where an operator, or a customer, is written to by Telegram. */
import { sql } from 'kysely';
import { Fail, fail, failFields } from '#contract/errors.ts';
import { fill } from '#contract/kit/text.ts';
import { type NoticeKind, noticeLimits, telegramKinds, telegramKindsUsual } from '#contract/limits.ts';
import { telegram } from '#contract/system/telegram.ts';
import { tooManyPasswords } from '../kit/hashing.ts';
import { implement } from '../kit/implement.ts';
import { mailPolicy } from '../kit/mail/send.ts';
import { col, table } from '../kit/table.ts';
import { isTelegramToken, sendTelegram, TelegramError } from '../kit/telegram.ts';
import { type Db, rows } from '../store/db.ts';
import type { Actor } from '../kit/actor.ts';
import type { Told } from './notice-texts.ts';
import { isToldTo, checkTold } from './told-kinds.ts';

export interface TelegramRow extends Record<string, unknown> {
  id: number;
  version: number;
  accountID: number;
  enable: boolean;
  tokenIsSet: boolean;
  chatID: string;
  kinds: (typeof telegramKinds)[number][];
  sentAt: string | null;
  problem: string | null;
}
export const telegramTable = table<TelegramRow>()({
  table: 'telegram',
  scope: { tenant: [['accountID']], owner: (actor, a) => sql`${col('accountID', a)} = ${actor.rootID}` },
  sealed: ['token'],
  secret: ['told'],
  follows: ['nextAt', 'sentAt', 'problem'],
});
/** With what waits of the same kind: what came later says the reason, and how long all of it is worth telling. */
const joins = sql`on conflict ("telegramID", kind) where not "isTaken" do update set count = n.count + excluded.count,
  detail = case when excluded."createdAt" < n."createdAt" then n.detail else excluded.detail end,
  "createdAt" = greatest(n."createdAt", excluded."createdAt"),
  names = (select jsonb_agg(name order by place) from (
    select name, min(place) as place from jsonb_array_elements_text(
      case when excluded."createdAt" < n."createdAt" then excluded.names || n.names else n.names || excluded.names end) with ordinality one(name, place)
    group by name order by 2 limit ${noticeLimits.namesMax}) m)`;

/** What chats of a root account are to be told of: of one kind, together with what waits of it. */
export async function putForChats(
  db: Db,
  rootID: number,
  kind: NoticeKind,
  events: readonly { name: string; detail: string }[],
): Promise<void> {
  const names = JSON.stringify([...new Set(events.map(({ name }) => name))].slice(0, noticeLimits.namesMax));
  await sql`insert into "telegramNotice" as n ("telegramID", kind, count, names, detail)
    select t.id, ${kind}::text, ${events.length}::int, ${names}::jsonb, ${events.at(-1)!.detail}::text from telegram t
    where t."accountID" = ${rootID} and t.enable and t."deletedAt" is null and t.token is not null and ${kind} = any(t.kinds) ${joins}`.execute(
    db,
  );
}

/**
 * What a message to this chat is to tell, which stays there until `forgetTaken`: a message that did not arrive, or whose process died, is
 * told with what came since. What happens from here on waits for the next.
 */
export function takeForChat(database: Db, id: number): Promise<(Told & { id: number })[]> {
  return database.transaction().execute(async db => {
    const back = await rows<{ id: number }>(
      db,
      sql`select id from "telegramNotice" where "telegramID" = ${id} and "isTaken" order by id for update`,
    );
    for (const one of back)
      await sql`with gone as (delete from "telegramNotice" where id = ${one.id} returning *)
        insert into "telegramNotice" as n ("telegramID", kind, count, names, detail, "createdAt")
        select "telegramID", kind, count, names, detail, "createdAt" from gone ${joins}`.execute(db);
    const taken = await rows<Told & { id: number }>(
      db,
      sql`update "telegramNotice" set "isTaken" = true where "telegramID" = ${id} returning id, kind, count, names, detail`,
    );
    return taken.toSorted((one, other) => one.id - other.id);
  });
}
/** The message has arrived. */
export const forgetTaken = (db: Db, taken: readonly { id: number }[]) =>
  sql`delete from "telegramNotice" where id = any(${taken.map(({ id }) => id)}::bigint[])`.execute(db);

const testsFree = 10;
const hello = {
  zh_TW: 'Breakwater 測試訊息：通知會送到這裡。',
  zh_CN: 'Breakwater 测试消息：通知会送到这里。',
  en_US: 'A test from Breakwater: notices arrive here.',
} as const;

/** What a new chat is told: of the kinds that somebody of this area ever hears of. */
const usual = (actor: Actor) => telegramKindsUsual.filter(kind => isToldTo(actor, kind));

export const telegramCalls = implement(telegram, {
  'GET /tg': async ({ ctx }) => {
    const [known] = (await ctx.store(telegramTable).page({ pageSize: 1 })).data;
    return {
      enable: known?.enable ?? false,
      tokenIsSet: known?.tokenIsSet ?? false,
      chatID: known?.chatID ?? '',
      // a later release may know more of them
      kinds: known ? telegramKinds.filter(kind => known.kinds.includes(kind)) : usual(ctx.actor),
      version: known?.version ?? 0,
      sentAt: known?.sentAt ?? null,
      problem: known?.problem ?? null,
    };
  },
  'PUT /tg': async ({ ctx, body }) => {
    const store = ctx.store(telegramTable);
    const [known] = (await store.page({ pageSize: 1 })).data;
    checkTold(
      ctx.actor,
      'chatID',
      { enable: known?.enable ?? false, to: known?.chatID ?? '', kinds: known?.kinds ?? usual(ctx.actor) },
      { enable: body.enable, to: body.chatID, kinds: body.kinds ?? known?.kinds ?? usual(ctx.actor) },
      { isSecret: body.token !== undefined, allKinds: [] },
    );
    if (body.token && !isTelegramToken(body.token))
      throw new Fail('illegalTelegramToken', { errorData: [{ path: 'token', rule: 'wrongFormat' }] });
    if (body.enable) {
      if (!(body.token ?? known?.tokenIsSet)) throw failFields([{ path: 'token', rule: 'required' }]);
      if (body.chatID === '') throw failFields([{ path: 'chatID', rule: 'required' }]);
    }
    const kinds = body.kinds ?? known?.kinds ?? telegramKindsUsual;
    const values = { ...body, kinds: telegramKinds.filter(kind => kinds.includes(kind)) };
    if (known) await store.set(known.id, values);
    else {
      const nothing = {
        id: ctx.actor.rootID,
        version: 0,
        enable: false,
        chatID: '',
        kinds: [...telegramKindsUsual],
        token: null,
      };
      await ctx.expect('telegram', nothing, body);
      await store.add([values], { accountID: ctx.actor.rootID });
    }
    await sql`update telegram set "nextAt" = now(), problem = null where "accountID" = ${ctx.actor.rootID} and problem is not null`.execute(
      ctx.db,
    );
    return {};
  },
  'POST /tg/test': async ({ ctx }) => {
    const { actor, services } = ctx;
    const wait = services.sessions.tries.take([{ kind: 'account', key: `telegram test ${actor.rootID}`, free: testsFree }]);
    if (wait) throw tooManyPasswords('token', wait.seconds);
    const store = ctx.store(telegramTable);
    const [known] = (await store.page({ pageSize: 1 })).data;
    const token = known && (await store.reveal(known.id, 'token'));
    if (!known || !token || known.chatID === '') throw fail('illegalTelegramToken');
    try {
      await sendTelegram({ token, chatID: known.chatID }, fill(hello[ctx.language]), {
        policy: await mailPolicy(ctx.db, actor.clientID ?? 0),
        api: services.telegramAPI,
      });
    } catch (error) {
      if (!(error instanceof TelegramError)) throw error;
      throw new Fail('illegalTelegramToken', {
        errorData: [{ path: 'token', rule: 'telegramSaid', bounds: { why: error.message } }],
      });
    }
    return {};
  },
});
