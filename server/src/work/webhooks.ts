/**
 * Tells webhooks what happened ("webhookDelivery", written with the event). Whoever takes one leases it; each address is told one thing at a
 * time, in its order as far as it answers, and an address that does not is asked again later and later. Addresses of one operator and its
 * customers have some of the places, those that failed lately fewer, so that silent ones keep nobody else's waiting. Connections go by the address
 * policy of the operator, judged at each try; no redirect is followed.
 */
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { webhookLimits } from '#contract/limits.ts';
import { mailPolicy } from '../kit/mail/send.ts';
import { outbound, OutboundError } from '../kit/outbound.ts';
import { Sealed } from '../kit/sealed.ts';
import { Rounds } from '../kit/rounds.ts';
import { Seldom } from '../kit/seldom.ts';
import type { Services } from '../kit/services.ts';
import { plainText } from '../kit/text.ts';
import { logger } from '../log.ts';
import { row, rows } from '../store/db.ts';

const lookMs = 1000;
const troubles = new Seldom(300_000);
/** Whose an account `a` is: its own, of an operator; that it is a customer of. */
const operatorOf = sql`coalesce(a."parentClient", a."rootID", a.id)`;
/** Addresses `w` of accounts `a` that are told anything at all. */
const isTold = sql`w."deletedAt" is null and w.url <> '' and w.secret is not null and a."deletedAt" is null and a.status = 'normal'`;
/** What waits as `d` for an address `w` and is due. The clock is of the statement: it comes after the lock, and an index knows it. */
const isDue = sql`d."webhookID" = w.id and d.state = 'waiting' and d."nextAt" <= statement_timestamp() and (w.enable or d.kind = 'test')`;
/** Addresses looked at together; the next ones follow as long as there are places. */
const together = 200;

interface Address {
  id: number;
  clientID: number | null;
  /** seconds since 1970; null: nothing of it is due */
  since: number | null;
  isFailing: boolean;
}
interface Due {
  id: number;
  webhookID: number;
  body: string;
  attempts: number;
  url: string;
  secret: string;
  clientID: number | null;
  /** seconds since 1970, by the database's clock */
  at: number;
}

/** What stands in `Breakwater-Signature`. */
export const signatureOf = (secret: string, timestamp: number, body: string): string =>
  `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;

export class WebhookSender {
  readonly #services: Services;
  /** the address that was looked at last, of more than are looked at together; 0: all were */
  #after = 0;
  readonly #rounds = new Rounds({
    loop: 'webhooks',
    everyMs: lookMs,
    look: () => this.look(),
    failed: err => logger.warn({ err }, 'webhooks could not be told'),
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

  /** All that is due, several addresses side by side; what comes due while some of them keep silent is told beside these. */
  async look(): Promise<void> {
    const { ending } = this.#rounds;
    const telling = new Set<Promise<void>>();
    let failure: { err: unknown } | undefined;
    for (;;) {
      const room = failure || ending.aborted ? 0 : webhookLimits.atOnce - telling.size;
      const failed = (err: unknown) => void (failure ??= { err });
      const begin = (due: Due) => {
        const one = this.#tell(due)
          .catch(failed)
          .finally(() => telling.delete(one));
        telling.add(one);
      };
      // what is under way by then is told to its end
      if (room > 0) await this.#take(room, begin).catch(failed);
      if (!telling.size) break;
      // what is cut off says so to the database, for which it needs its time
      await (ending.aborted
        ? Promise.all(telling)
        : Promise.race([...telling, sleep(lookMs, undefined, { signal: ending }).catch(() => {})]));
    }
    if (failure) throw failure.err;
  }

  /** Leases for so many places what is due, whichever addresses wait, and begins each at once: of what was leased and not begun a try would be lost. */
  async #take(room: number, begin: (due: Due) => void): Promise<void> {
    let taken = 0;
    // mostly there is nothing: then one question
    const { db } = this.#services.database;
    if (!(await row(db, sql`select 1 from "webhookDelivery" where state = 'waiting' and "nextAt" <= now() limit 1`))) return;
    do {
      const waiting = await this.#waiting();
      this.#after = waiting.length < together ? 0 : waiting.at(-1)!.id;
      const due = waiting.filter(({ since }) => since !== null);
      if (!due.length) continue;
      const leased = await this.#lease(due, room - taken);
      leased.forEach(begin);
      taken += leased.length;
    } while (this.#after && taken < room && !this.#rounds.ending.aborted);
  }

  /** The next addresses that anything waits for: from one to the next by the index, however much waits for each. */
  #waiting(): Promise<Address[]> {
    const next = (id: unknown) =>
      sql`select d."webhookID" from "webhookDelivery" d where d.state = 'waiting' and d."webhookID" > ${id} order by 1 limit 1`;
    return rows(
      this.#services.database.db,
      sql`with recursive walk(id, n) as (
            (select *, 1 from (${next(this.#after)}) first)
            union all select (${next(sql`walk.id`)}), n + 1 from walk where walk.id is not null and n < ${together}
          )
          select walk.id, f."clientID", extract(epoch from f.since)::float8 as since,
            exists (select from "webhookDelivery" d where d."webhookID" = walk.id and d.state = 'waiting' and d.attempts > 0) as "isFailing"
          from walk left join lateral (
            select ${operatorOf} as "clientID", s.since from webhook w join account a on a.id = w."accountID"
            cross join lateral (select d."nextAt" as since from "webhookDelivery" d where ${isDue} order by d."nextAt" limit 1) s
            where w.id = walk.id and ${isTold}
          ) f on true where walk.id is not null order by walk.id`,
    );
  }

  /** Leases of operators that have the fewest under way first. Addresses that failed lately wait behind those that have not. */
  #lease(due: readonly Address[], room: number): Promise<Due[]> {
    return this.#services.database.db.transaction().execute(async trx => {
      // several processes lease one after the other, or each would count without what the others just took
      await sql`select pg_advisory_xact_lock(hashtextextended('webhook lease', 0))`.execute(trx);
      // processes of an earlier release hold the address alone, so it is held too, and looked at anew below
      const chosen = await rows<{ id: number }>(
        trx,
        sql`with busy as materialized (
              select w.id as "webhookID", ${operatorOf} as "clientID" from "webhookDelivery" d
              join webhook w on w.id = d."webhookID" join account a on a.id = w."accountID"
              where d.state = 'waiting' and d."leasedUntil" > statement_timestamp()
            ), address as (
              select c.*, (select count(*) from busy b where b."clientID" = c."clientID")
                + row_number() over (partition by c."clientID" order by c."isFailing", c.since, c.id) as turn
              from jsonb_to_recordset(${JSON.stringify(due)}::jsonb) as c(id bigint, "clientID" bigint, since float8, "isFailing" boolean)
              where not exists (select from busy b where b."webhookID" = c.id)
            )
            select w.id from address c join webhook w on w.id = c.id
            where c.turn <= case when c."isFailing" then ${webhookLimits.atOnceOfFailing}::int else ${webhookLimits.atOnceOfOne}::int end
            order by c.turn, c."isFailing", c.since, c.id limit ${room} for no key update of w skip locked`,
      );
      if (!chosen.length) return [];
      return rows<Due>(
        trx,
        sql`with chosen as (
              select d.id from webhook w join account a on a.id = w."accountID"
              cross join lateral (select d.id from "webhookDelivery" d where ${isDue} order by d.id limit 1) d
              where w.id = any(${chosen.map(({ id }) => id)}::bigint[]) and ${isTold} and not exists (select from "webhookDelivery" o
                where o."webhookID" = w.id and o.state = 'waiting' and o."leasedUntil" > statement_timestamp())
            )
            update "webhookDelivery" d set attempts = attempts + 1,
              "leasedUntil" = statement_timestamp() + ${3 * webhookLimits.timeoutSeconds} * interval '1 second'
            from chosen, webhook w, account a where d.id = chosen.id and w.id = d."webhookID" and a.id = w."accountID"
            returning d.id, d."webhookID", d.body, d.attempts, w.url, w.secret, ${operatorOf} as "clientID", extract(epoch from now())::int as at`,
      );
    });
  }

  async #tell(due: Due): Promise<void> {
    const { database, sealing } = this.#services;
    const { db } = database;
    const mine = sql`id = ${due.id} and attempts = ${due.attempts}`;
    let status: number | null = null;
    let answer: string | null = null;
    let problem: string | null = null;
    try {
      const secret = new Sealed('webhook', ['secret'], sealing).open('secret', due.secret)!;
      const got = await outbound(due.url, {
        policy: await mailPolicy(db, due.clientID ?? 0),
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'Breakwater-Webhook/1',
          'breakwater-delivery': String(due.id),
          'breakwater-timestamp': String(due.at),
          'breakwater-signature': signatureOf(secret, due.at, due.body),
        },
        body: due.body,
        bytesMax: 65_536,
        timeoutMs: webhookLimits.timeoutSeconds * 1000,
        signal: this.#rounds.ending,
      });
      status = got.status;
      answer = plainText(got.body.toString('utf8', 0, 800), 200);
    } catch (error) {
      // we end: it is another's at once, and no try of its address, or a few restarts would be all that it has
      if (this.#rounds.ending.aborted) {
        await sql`update "webhookDelivery" set "leasedUntil" = null, attempts = greatest(attempts - 1, 0) where ${mine}`.execute(
          db,
        );
        return;
      }
      // whatever it is, it counts as a try: one that cannot be told at all shall not be taken up for ever
      const isTheirs = error instanceof OutboundError;
      if (!isTheirs && troubles.isTime('tell')) logger.warn({ err: error }, 'a webhook could not be told');
      problem = isTheirs ? plainText(error.message, 300) : 'It could not be sent: the log of Breakwater says why.';
    }
    const isDone = status !== null && status >= 200 && status < 300;
    const isLast = due.attempts >= webhookLimits.triesMax;
    const seconds = webhookLimits.againSeconds * 4 ** (due.attempts - 1);
    // what waits for an address that does not take it would be one timeout after the other, and others would wait for it; before
    // the lease ends, or one of us takes the next of it up at once
    if (!isDone)
      await sql`update "webhookDelivery" set "nextAt" = now() + ${webhookLimits.againSeconds} * interval '1 second'
        where "webhookID" = ${due.webhookID} and state = 'waiting' and "nextAt" < now() + ${webhookLimits.againSeconds} * interval '1 second'`.execute(
        db,
      );
    await sql`update "webhookDelivery" set "leasedUntil" = null, status = ${status}, answer = ${answer}, problem = ${problem}, "sentAt" = now(),
        state = ${isDone ? 'done' : isLast ? 'failed' : 'waiting'}, "nextAt" = now() + ${seconds} * interval '1 second' where ${mine}`.execute(
      db,
    );
  }
}
