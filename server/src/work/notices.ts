/**
 * Tells people what happened ("noticeEvent", written where it happens): into their inbox, and by mail. An event and what is made of it are
 * one transaction, so that a process that dies tells nothing twice and forgets nothing. A storm is one line that counts: more of a kind
 * within ten minutes join the one that was not read yet, and mails wait for each other.
 */
import { sql } from 'kysely';
import { fill, type Language } from '#contract/kit/text.ts';
import { type NoticeKind, noticeKinds, noticeLimits, noticeNeeds, webhookLimits } from '#contract/limits.ts';
import type { Actor } from '../kit/actor.ts';
import { consoleURL } from '../kit/console-url.ts';
import { sendMail } from '../kit/mail/send.ts';
import { Rounds } from '../kit/rounds.ts';
import type { Services } from '../kit/services.ts';
import { scopeOf, type Table } from '../kit/table.ts';
import { logger } from '../log.ts';
import { type Db, row, rows } from '../store/db.ts';
import { type Choice, choiceOf, mayBeTold } from '../system/notices.ts';
import { putForChats } from '../system/telegram.ts';
import { putDeliveries } from '../system/webhook.ts';
import { mailTitles, noticeDetail, noticeSentence, type Told } from '../system/notice-texts.ts';
import { watchOrigins } from './origin-watch.ts';

const lookMs = 2000;
const scanMs = 600_000;
const originsMs = 5000;
/** People of one root account who are told; nobody has more who read it. */
const peopleMax = 500;
const togetherMax = 200;
type Subject = 'node' | 'site' | 'product';
type Tables = Readonly<Record<Subject, Table>>;
/** What an event of a kind is about, where not everybody who holds its key sees all of them. */
const subjects: Partial<Record<NoticeKind, Subject>> = {
  nodeOffline: 'node',
  nodeBack: 'node',
  originDown: 'site',
  originBack: 'site',
  certificateFailed: 'site',
  certificateEnds: 'site',
  trafficWarning: 'product',
  trafficUsedUp: 'product',
  trafficLimited: 'product',
};

interface Event {
  id: number;
  rootID: number;
  kind: NoticeKind;
  name: string;
  detail: string;
  nodeID: number | null;
  siteID: number | null;
  productID: number | null;
  /** whom alone it concerns */
  accountID: number | null;
}
interface Person {
  id: number;
  choices: Partial<Record<string, Choice>> | null;
}

export class NoticeTeller {
  readonly #services: Services;
  readonly #tables: Tables;
  readonly #gatherSeconds: number;
  readonly #rounds = new Rounds({
    loop: 'notices',
    everyMs: lookMs,
    look: () => this.look(),
    failed: err => logger.warn({ err }, 'people could not be told'),
  });
  #scannedAt = -Infinity;
  #originsAt = -Infinity;

  /** @param tables whose scopes say who sees a node, a site, and a product */
  constructor(
    services: Services,
    tables: Tables,
    { gatherSeconds = noticeLimits.gatherSeconds }: { gatherSeconds?: number } = {},
  ) {
    this.#services = services;
    this.#tables = tables;
    this.#gatherSeconds = gatherSeconds;
  }

  start(): void {
    this.#rounds.start();
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  async look(): Promise<void> {
    if (performance.now() - this.#scannedAt > scanMs) {
      this.#scannedAt = performance.now();
      await this.scan();
    }
    if (performance.now() - this.#originsAt > originsMs) {
      this.#originsAt = performance.now();
      await watchOrigins(this.#services.database.db);
    }
    while (!this.#rounds.ending.aborted && (await this.#tellSome()));
    while (!this.#rounds.ending.aborted && (await this.#mailOne()));
  }

  /** What nobody does and the calendar brings: ends that come near, told at 30, 7 and 1 days. */
  async scan(): Promise<void> {
    const { db } = this.#services.database;
    const [far] = noticeLimits.endsDays;
    await sql`insert into "noticeEvent" ("rootID", kind, once, name, detail, "siteID")
      select who.id, 'certificateEnds', e.id || ' ' || e.step, e.name, to_char(e."notAfter" at time zone 'UTC', 'YYYY-MM-DD'), e."siteID"
      from (
        select c.id, c."notAfter", s.id as "siteID", s."clientID", s."userID", min(d."domainName") as name, ${stepOf(sql`c."notAfter"`)} as step
        from certificate c join site s on s.id = c."siteID" and s."deletedAt" is null
        join domain d on d."certificateID" = c.id and d."deletedAt" is null and d.status = 1
        where c."deletedAt" is null and c."notAfter" > now() and c."notAfter" < now() + ${far} * interval '1 day'
          and not exists (select from "autoCertificate" a where a."certificateID" = c.id and a."deletedAt" is null
            and a.state in ('success', 'processing') and coalesce(a."nextAt", '-infinity') < c."notAfter")
        group by 1, 2, 3, 4, 5) e cross join lateral (values (e."clientID"), (e."userID")) who(id)
      on conflict do nothing`.execute(db);
    // whoever manages the account, and its own house
    await sql`insert into "noticeEvent" ("rootID", kind, once, name, detail)
      select who.id, 'accountEnds', a.id || ' ' || extract(epoch from a.expired) || ' ' || ${stepOf(sql`a.expired`)}, a.email,
        to_char(a.expired at time zone 'UTC', 'YYYY-MM-DD')
      from account a cross join lateral (select a."rootID" as id union select a."parentClient") who
      where a.expired > now() and a.expired < now() + ${far} * interval '1 day' and a.status = 'normal' and a.auth <> 'admin'
        and a."deletedAt" is null and who.id is not null
      on conflict do nothing`.execute(db);
    const operators = await rows<{ id: number }>(
      db,
      sql`select id from account where auth = 'client' and "isRoot" and "deletedAt" is null`,
    );
    for (const { id } of operators) {
      const { expiredAt, name } = await this.#services.licences.of(db, id);
      if (expiredAt === null) continue;
      await sql`insert into "noticeEvent" ("rootID", kind, once, name, detail)
        select ${id}::bigint, 'licenceEnds', ${expiredAt}::text || ' ' || ${stepOf(sql`${expiredAt}::timestamptz`)}, ${name}::text, ${expiredAt.slice(0, 10)}::text
        where ${expiredAt}::timestamptz > now() and ${expiredAt}::timestamptz < now() + ${far} * interval '1 day'
        on conflict do nothing`.execute(db);
    }
    await sql`delete from notice where "createdAt" < now() - ${noticeLimits.keptDays} * interval '1 day'`.execute(db);
    await sql`delete from "webhookDelivery" where state <> 'waiting' and "createdAt" < now() - ${webhookLimits.keptDays} * interval '1 day'`.execute(
      db,
    );
    // a chat that could not be written to for so long is not told of it any more
    await sql`delete from "telegramNotice" where "createdAt" < now() - interval '1 day'`.execute(db);
    // an end that was told is known until it is long over
    await sql`delete from "noticeEvent" where "sentAt" is not null and "createdAt" < now() - ${2 * noticeLimits.keptDays} * interval '1 day'`.execute(
      db,
    );
  }

  /** Events of one kind that stand together are told together: a thousand nodes that go ask once who may know of it. */
  async #tellSome(): Promise<boolean> {
    const { database, sessions } = this.#services;
    return database.db.transaction().execute(async db => {
      const found = await rows<Event>(
        db,
        sql`with first as (select id, "rootID", kind from "noticeEvent" where "sentAt" is null order by id limit 1),
              other as (select min(o.id) as id from "noticeEvent" o, first f where o."sentAt" is null and o.id > f.id
                and o."rootID" = f."rootID" and o.kind <> f.kind)
            update "noticeEvent" set "sentAt" = now() where id in (
              select e.id from "noticeEvent" e, first f, other where e."sentAt" is null and e."rootID" = f."rootID" and e.kind = f.kind
                and coalesce(e.id < other.id, true) order by e.id limit ${togetherMax} for update of e skip locked)
            returning id, "rootID", kind, name, detail, "nodeID", "siteID", "productID", "accountID"`,
      );
      const events = found.sort((a, b) => a.id - b.id);
      const [event] = events;
      if (!event) return false;
      const { rootID, kind } = event;
      // a later release may know more kinds
      if (!noticeKinds.includes(kind)) return true;
      // about somebody alone: it goes beyond the console where it was chosen by name
      const isPersonal = noticeNeeds[kind] === null;
      const whose = events.every(({ accountID }) => accountID !== null) ? events.map(({ accountID }) => accountID) : null;
      for (const one of events)
        await putDeliveries(
          db,
          sql`w.enable and w."accountID" = ${rootID} and ((w.kinds = '{}' and ${!isPersonal}) or ${kind} = any(w.kinds))`,
          {
            ...one,
            detail: noticeDetail(one, 'en_US'),
          },
        );
      await putForChats(db, rootID, kind, events);
      const people = await rows<Person>(
        db,
        sql`select a.id, p.choices from account a left join "noticePerson" p on p."accountID" = a.id
            where coalesce(a."rootID", a.id) = ${rootID} and a.status = 'normal' and a."deletedAt" is null
              and (${whose}::bigint[] is null or a.id = any(${whose})) order by a.id limit ${peopleMax}`,
      );
      for (const { id, choices } of people) {
        const about = events.filter(({ accountID }) => accountID === null || accountID === id);
        if (!about.length) continue;
        const { inbox, mail } = choiceOf(choices ?? undefined, kind);
        if (!inbox && !mail) continue;
        const actor = await sessions.acting(db, id);
        if (!actor || !mayBeTold(actor, kind)) continue;
        const theirs = await seenBy(db, this.#tables, actor, about);
        if (theirs.length) await put(db, theirs, id, inbox, mail);
      }
      return true;
    });
  }

  /** One mail to one person, of all that waits. */
  async #mailOne(): Promise<boolean> {
    const { database } = this.#services;
    return database.db.transaction().execute(async db => {
      const person = await row<{
        id: number;
        email: string;
        language: Language;
        auth: 'client' | 'user';
        operatorID: number;
        rootID: number;
      }>(
        db,
        sql`select a.id, a.email, a.language, a.auth, coalesce(a."parentClient", a."rootID", a.id) as "operatorID",
              coalesce(a."rootID", a.id) as "rootID" from account a
            where a.status = 'normal' and a."deletedAt" is null
              and exists (select from notice n where n."accountID" = a.id and n."mailDue")
              and (select min(n."createdAt") from notice n where n."accountID" = a.id and n."mailDue")
                <= now() - ${this.#gatherSeconds} * interval '1 second'
              and not exists (select from "noticePerson" p where p."accountID" = a.id
                and p."mailedAt" > now() - ${noticeLimits.mailMinutes} * interval '1 minute')
            order by a.id limit 1 for no key update of a skip locked`,
      );
      if (!person) return false;
      const found = await rows<Told>(
        db,
        sql`with due as (update notice set "mailDue" = false where "accountID" = ${person.id} and "mailDue" returning id, kind, count, names, detail)
            select kind, count, names, detail from due order by id`,
      );
      const { language } = person;
      const lines = found.map(one => {
        const detail = noticeDetail(one, language);
        return noticeSentence(one, language) + (detail && ` (${detail})`);
      });
      const title =
        lines.length === 1
          ? fill(mailTitles.one[language], { sentence: noticeSentence(found[0]!, language) })
          : fill(mailTitles.many[language], { count: lines.length });
      const over = lines.length - noticeLimits.mailLinesMax;
      if (over > 0) lines.splice(noticeLimits.mailLinesMax, over, fill(mailTitles.more[language], { count: over }));
      await sendMail(db, this.#services, {
        operatorID: person.operatorID,
        rootID: person.rootID,
        to: person.email,
        template: 'notice',
        language,
        data: { title, lines, link: `${await consoleURL(db, this.#services, person.operatorID)}/${person.auth}` },
      });
      await sql`insert into "noticePerson" ("accountID", "mailedAt") values (${person.id}, now())
        on conflict ("accountID") do update set "mailedAt" = now()`.execute(db);
      return true;
    });
  }
}

/** Which of the steps before an end has been reached. */
const stepOf = (end: ReturnType<typeof sql>) =>
  sql`(select min(step) from unnest(${[...noticeLimits.endsDays]}::int[]) step where ${end} < now() + step * interval '1 day')`;

/** Those of events of one kind that are about what this person may see. */
async function seenBy(db: Db, tables: Tables, actor: Actor, events: Event[]): Promise<Event[]> {
  const about = subjects[events[0]!.kind];
  // what a customer bought is all of its people's
  if (!about || actor.isRoot || (about === 'product' && actor.area === 'user')) return events;
  const column = `${about}ID` as const;
  const table = tables[about];
  const ids = events.flatMap(event => event[column] ?? []);
  const seen = await rows<{ id: number }>(
    db,
    sql`select t.id from ${sql.table(table.table)} t where t.id = any(${ids}::bigint[]) and ${scopeOf(table, actor)}`,
  );
  const known = new Set(seen.map(({ id }) => id));
  return events.filter(event => known.has(event[column] ?? 0));
}

async function put(db: Db, events: Event[], accountID: number, inbox: boolean, mail: boolean): Promise<void> {
  const { kind, detail } = events.at(-1)!;
  const names = JSON.stringify([...new Set(events.map(({ name }) => name))].slice(0, noticeLimits.namesMax));
  const joined = await row(
    db,
    sql`update notice set count = count + ${events.length}, "latestAt" = now(), detail = ${detail}, "mailDue" = "mailDue" or ${mail},
          names = (select jsonb_agg(name order by place) from (
            select name, min(place) as place from jsonb_array_elements_text(names || ${names}::jsonb) with ordinality one(name, place)
            group by name order by 2 limit ${noticeLimits.namesMax}) n)
        where id = (select id from notice where "accountID" = ${accountID} and kind = ${kind} and "readAt" is null and "isShown" = ${inbox}
          and "createdAt" > now() - ${noticeLimits.foldMinutes} * interval '1 minute' order by id desc limit 1 for update) returning 1`,
  );
  if (joined) return;
  await sql`insert into notice ("accountID", kind, count, names, detail, "isShown", "mailDue")
    values (${accountID}, ${kind}, ${events.length}, ${names}::jsonb, ${detail}, ${inbox}, ${mail})`.execute(db);
}
