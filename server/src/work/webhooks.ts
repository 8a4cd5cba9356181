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
import { row } from '../store/db.ts';

const lookMs = 1000;
const troubles = new Seldom(300_000);
/** Whose an account `a` is: its own, of an operator; that it is a customer of. */
const operatorOf = sql`coalesce(a."parentClient", a."rootID", a.id)`;

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
      while (telling.size < webhookLimits.atOnce && !failure && !ending.aborted) {
        const due = await this.#take();
        if (!due) break;
        const one = this.#tell(due)
          .catch((err: unknown) => void (failure ??= { err }))
          .finally(() => telling.delete(one));
        telling.add(one);
      }
      if (!telling.size) break;
      await Promise.race([...telling, sleep(lookMs, undefined, { signal: ending }).catch(() => {})]);
    }
    if (failure) throw failure.err;
  }

  /** Leases the next of an operator that has the fewest under way. One that has failed lately waits behind those that have not. */
  async #take(): Promise<Due | undefined> {
    const { database } = this.#services;
    // mostly there is nothing: then one question, and no lock
    if (!(await row(database.db, sql`select 1 from "webhookDelivery" where state = 'waiting' and "nextAt" <= now() limit 1`)))
      return undefined;
    return database.db.transaction().execute(async trx => {
      // several processes lease one after the other, or each would count without what the others just took
      await sql`select pg_advisory_xact_lock(hashtextextended('webhook lease', 0))`.execute(trx);
      return row<Due>(
        trx,
        sql`with busy as materialized (
              select w.id as "webhookID", ${operatorOf} as "clientID" from "webhookDelivery" d
              join webhook w on w.id = d."webhookID" join account a on a.id = w."accountID"
              where d.state = 'waiting' and d."leasedUntil" > clock_timestamp()
            ), address as (
              select w.id, u.n, f.failing, f.since from webhook w join account a on a.id = w."accountID"
              cross join lateral (select count(*) as n from busy b where b."clientID" = ${operatorOf}) u
              cross join lateral (
                select min(d."nextAt") filter (where d."nextAt" <= clock_timestamp() and (w.enable or d.kind = 'test')) as since,
                  coalesce(bool_or(d.attempts > 0), false) as failing
                from "webhookDelivery" d where d."webhookID" = w.id and d.state = 'waiting') f
              where w."deletedAt" is null and w.url <> '' and w.secret is not null and a."deletedAt" is null and a.status = 'normal'
                and f.since is not null and not exists (select from busy b where b."webhookID" = w.id)
                and u.n < case when f.failing then ${webhookLimits.atOnceOfFailing}::int else ${webhookLimits.atOnceOfOne}::int end
            ), chosen as (
              select d.id from (select * from address order by n, failing, since, id limit 1) w
              cross join lateral (
                select d.id from "webhookDelivery" d join webhook o on o.id = d."webhookID" where d."webhookID" = w.id and d.state = 'waiting'
                  and d."nextAt" <= clock_timestamp() and (o.enable or d.kind = 'test') order by d.id limit 1) d)
            update "webhookDelivery" d set attempts = attempts + 1,
              "leasedUntil" = clock_timestamp() + ${3 * webhookLimits.timeoutSeconds} * interval '1 second'
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
      // we end: it is another's at once
      if (this.#rounds.ending.aborted) {
        await sql`update "webhookDelivery" set "leasedUntil" = null where ${mine}`.execute(db);
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
