/**
 * Tells webhooks what happened ("webhookDelivery", written with the event). Whoever takes one leases it; each address is told one thing at a
 * time, in its order as far as it answers, and an address that does not is asked again later and later. Connections go by the address
 * policy of the operator, judged at each try; no redirect is followed.
 */
import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import { webhookLimits } from '#contract/limits.ts';
import { mailPolicy } from '../kit/mail/send.ts';
import { loopOf } from '../kit/metrics.ts';
import { outbound, OutboundError } from '../kit/outbound.ts';
import { Sealed } from '../kit/sealed.ts';
import { Seldom } from '../kit/seldom.ts';
import type { Services } from '../kit/services.ts';
import { plainText } from '../kit/text.ts';
import { logger } from '../log.ts';
import { row } from '../store/db.ts';

const lookMs = 1000;
const troubles = new Seldom(300_000);

interface Due {
  id: number;
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
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  readonly #end = new AbortController();

  constructor(services: Services) {
    this.#services = services;
  }

  start(): void {
    const round = loopOf('webhooks');
    const go = () => {
      this.#running = this.look()
        .catch((err: Error) => {
          if (troubles.isTime('look')) logger.warn({ err }, 'webhooks could not be told');
        })
        .then(() => {
          round();
          if (!this.#end.signal.aborted) this.#timer = setTimeout(go, lookMs);
        });
    };
    go();
  }

  async stop(): Promise<void> {
    this.#end.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** All that is due, several addresses side by side. */
  async look(): Promise<void> {
    await Promise.all(
      Array.from({ length: webhookLimits.atOnce }, async () => {
        while (!this.#end.signal.aborted && (await this.#tellOne()));
      }),
    );
  }

  async #tellOne(): Promise<boolean> {
    const { database, sealing } = this.#services;
    const { db } = database;
    const due = await row<Due>(
      db,
      sql`with chosen as (
            select d.id from "webhookDelivery" d join webhook w on w.id = d."webhookID"
            where d.state = 'waiting' and d."nextAt" <= now() and coalesce(d."leasedUntil" <= now(), true)
              and w."deletedAt" is null and (w.enable or d.kind = 'test') and w.url <> '' and w.secret is not null
              and not exists (select from "webhookDelivery" o where o."webhookID" = d."webhookID" and o."leasedUntil" > now())
            order by d.id limit 1 for update of d skip locked)
          update "webhookDelivery" d set attempts = attempts + 1, "leasedUntil" = now() + ${3 * webhookLimits.timeoutSeconds} * interval '1 second'
          from chosen, webhook w, account a where d.id = chosen.id and w.id = d."webhookID" and a.id = w."accountID"
          returning d.id, d.body, d.attempts, w.url, w.secret, coalesce(a."parentClient", a."rootID", a.id) as "clientID", extract(epoch from now())::int as at`,
    );
    if (!due) return false;
    const secret = new Sealed('webhook', ['secret'], sealing).open('secret', due.secret)!;
    const mine = sql`id = ${due.id} and attempts = ${due.attempts}`;
    let status: number | null = null;
    let answer: string | null = null;
    let problem: string | null = null;
    try {
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
        signal: this.#end.signal,
      });
      status = got.status;
      answer = plainText(got.body.toString('utf8', 0, 800), 200);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      // we end: it is another's at once
      if (this.#end.signal.aborted) {
        await sql`update "webhookDelivery" set "leasedUntil" = null where ${mine}`.execute(db);
        return false;
      }
      problem = plainText(error.message, 300);
    }
    const isDone = status !== null && status >= 200 && status < 300;
    const isLast = due.attempts >= webhookLimits.triesMax;
    const seconds = webhookLimits.againSeconds * 4 ** (due.attempts - 1);
    await sql`update "webhookDelivery" set "leasedUntil" = null, status = ${status}, answer = ${answer}, problem = ${problem}, "sentAt" = now(),
        state = ${isDone ? 'done' : isLast ? 'failed' : 'waiting'}, "nextAt" = now() + ${seconds} * interval '1 second' where ${mine}`.execute(
      db,
    );
    return true;
  }
}
