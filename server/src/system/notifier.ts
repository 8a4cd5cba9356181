/**
 * Tells by Telegram what is wrong, as soon as it is, and once: what the banner of the console would say to that account (status.ts), and
 * events (work/notices.ts), as far as the chat is to be told of them. All that is new in one look is one message, so a storm is a list. What Telegram refuses is told again when it says so.
 */
import { sql } from 'kysely';
import { wayTexts } from '#contract/rules/said.ts';
import { sentenceOf } from '#contract/system/health.ts';
import { Context } from '../kit/context.ts';
import { mailPolicy } from '../kit/mail/send.ts';
import { Sealed } from '../kit/sealed.ts';
import { Rounds } from '../kit/rounds.ts';
import { Seldom } from '../kit/seldom.ts';
import type { Services } from '../kit/services.ts';
import { sendTelegram, TelegramError } from '../kit/telegram.ts';
import { row } from '../store/db.ts';
import { logger } from '../log.ts';
import { noticeDetail, noticeSentence } from './notice-texts.ts';
import { toldTo } from './status.ts';
import { forgetTaken, takeForChat } from './telegram.ts';

const lookMs = 5000;
const everySeconds = 20;
/** longer than one is told: what is found out, and Telegram's ten seconds. A process that dies leaves it to others then. */
const leaseSeconds = 120;
const againSeconds = 300;
const troubles = new Seldom(3_600_000);
const linesMax = 10;
/** chats that are told side by side: one whose answer takes its ten seconds keeps none of the others */
const atOnce = 8;
const words = {
  zh_TW: { begins: 'Breakwater 通知', over: '已恢復正常', more: '另外 {n} 項' },
  zh_CN: { begins: 'Breakwater 通知', over: '已恢复正常', more: '另外 {n} 项' },
  en_US: { begins: 'Breakwater', over: 'All is well again', more: 'and {n} more' },
} as const;

interface Due {
  id: number;
  accountID: number;
  token: string | null;
  chatID: string;
  told: string[];
  kinds: string[];
  /** until when it is ours */
  leased: string;
}

export class Notifier {
  readonly #services: Services;
  readonly #rounds = new Rounds({
    loop: 'notifier',
    everyMs: lookMs,
    look: () => this.look(),
    failed: err => logger.warn({ err }, 'notices could not be looked for'),
  });

  constructor(services: Services) {
    this.#services = services;
  }

  start(): void {
    this.#rounds.start();
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  /** Everybody whose turn it is. */
  async look(): Promise<void> {
    const ended = await Promise.allSettled(Array.from({ length: atOnce }, () => this.#turns()));
    // the next look begins when nobody is told any more
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
  }

  async #turns(): Promise<void> {
    const { db } = this.#services.database;
    while (!this.#rounds.ending.aborted) {
      // whoever takes one moves its turn: no two processes tell the same
      const due = await row<Due>(
        db,
        sql`update telegram t set "nextAt" = now() + ${leaseSeconds} * interval '1 second'
            where t.id = (select id from telegram where enable and "deletedAt" is null and token is not null and "nextAt" <= now()
              order by "nextAt" limit 1 for update skip locked)
            returning t.id, t."accountID", t.token, t."chatID", t.told, t.kinds, t."nextAt"::text as leased`,
      );
      if (!due) return;
      // what is wrong with one is not the others' matter
      try {
        await this.#tell(due);
        // unless it waits longer, or was set anew meanwhile
        await sql`update telegram set "nextAt" = now() + ${everySeconds} * interval '1 second'
          where id = ${due.id} and "nextAt"::text = ${due.leased}`.execute(db);
      } catch (err) {
        if (troubles.isTime(`chat ${due.id}`)) logger.warn({ err, chat: due.id }, 'a chat could not be told');
      }
    }
  }

  async #tell(due: Due): Promise<void> {
    const { database, sessions, telegramAPI: api } = this.#services;
    const { db } = database;
    const actor = await sessions.acting(db, due.accountID);
    if (actor?.status !== 'normal') return;
    const { language } = actor;
    const ctx = new Context({ actor, language, reqID: '', ip: '', services: this.#services, db });
    const found = due.kinds.includes('state') ? await toldTo(ctx) : [];
    const events = await takeForChat(db, due.id);
    const names = found.map(one => `${one.id} ${one.key ?? ''} ${one.state} ${one.reason}`);
    const fresh = found.filter((_, index) => !due.told.includes(names[index]!));
    const isOver = !found.length && due.told.length > 0 && due.kinds.includes('state');
    if (!fresh.length && !isOver && !events.length) {
      if (names.length !== due.told.length)
        await sql`update telegram set told = ${JSON.stringify(names)}::jsonb where id = ${due.id}`.execute(db);
      return;
    }
    const say = words[language];
    const lines = fresh.slice(0, linesMax).map(one => `• ${sentenceOf(one, language)}`);
    const eventLines = events.map(one => {
      const detail = noticeDetail(one, language);
      return `• ${noticeSentence(one, language)}${detail && ` (${detail})`}`;
    });
    if (fresh.length > linesMax) lines.push(say.more.replace('{n}', String(fresh.length - linesMax)));
    if (isOver) lines.push(say.over);
    lines.push(...eventLines);
    try {
      await sendTelegram({ token: this.#tokenOf(due), chatID: due.chatID }, [say.begins, ...lines].join('\n'), {
        policy: await mailPolicy(db, actor.clientID ?? 0),
        api,
      });
      await forgetTaken(db, events);
      await sql`update telegram set told = ${JSON.stringify(names)}::jsonb, "sentAt" = now(), problem = null where id = ${due.id}`.execute(
        db,
      );
    } catch (error) {
      if (!(error instanceof TelegramError)) throw error;
      const seconds = error.kind === 'later' ? error.afterSeconds : againSeconds;
      await sql`update telegram set problem = ${error.message}, "nextAt" = now() + ${seconds} * interval '1 second' where id = ${due.id}`.execute(
        db,
      );
    }
  }

  /** @throws TelegramError what is sealed with a key that is lost opens at no try: it waits as what Telegram refuses */
  #tokenOf({ id, token }: Due): string {
    try {
      return new Sealed('telegram', ['token'], this.#services.sealing).open('token', token) ?? '';
    } catch (err) {
      if (troubles.isTime(`token ${id}`)) logger.warn({ err, chat: id }, 'the token of a chat cannot be unsealed');
      throw new TelegramError('trouble', wayTexts.notSent.en_US);
    }
  }
}
