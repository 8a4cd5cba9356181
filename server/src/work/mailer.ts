/**
 * Sends the mails that wait (kit/mail/send.ts). Whoever takes one leases its row for longer than a conversation may last: a process that
 * dies leaves it to others, and no two send one. What a server refuses is tried again later and later, until nobody needs it any more.
 * Turns go round by operator, and each has a few at a time: a server that stands still keeps nobody else's mails.
 */
import { sql } from 'kysely';
import { mailLimits } from '#contract/limits.ts';
import { deliver, MailProblem } from '../kit/mail/deliver.ts';
import { messageIDOf } from '../kit/mail/message-id.ts';
import { type Mail, render } from '../kit/mail/render.ts';
import { mailPolicy, mailServerOf, sealedMail } from '../kit/mail/send.ts';
import { loopOf } from '../kit/metrics.ts';
import { Seldom } from '../kit/seldom.ts';
import type { Services } from '../kit/services.ts';
import { logger } from '../log.ts';
import { type Database, listen, openDatabase, rows } from '../store/db.ts';

const lookMs = 1000;
const leaseSeconds = 2 * mailLimits.timeoutSeconds;
const firstAgainSeconds = 5;
const longestAgainSeconds = 1800;
const troubles = new Seldom(300_000);

interface Waiting {
  id: number;
  clientID: number | null;
  message: string;
  attempts: number;
  createdAt: string;
}

export class Mailer {
  readonly #database: Database;
  readonly #services: Pick<Services, 'sealing' | 'mail'>;
  readonly #underWay = new Map<number | null, number>();
  readonly #sending = new Set<Promise<void>>();
  #listener: { stop(): Promise<void> } | undefined;
  #running: Promise<void> | undefined;
  readonly #end = new AbortController();
  #wake = () => {};
  #isAsked = false;
  #isStopping = false;

  constructor(databaseUrl: string, services: Pick<Services, 'sealing' | 'mail'>) {
    // of its own: what waits for somebody's server takes no connection from whoever waits for an answer
    this.#database = openDatabase(databaseUrl, 2);
    this.#services = services;
  }

  start(): void {
    const round = loopOf('mailer');
    this.#listener = listen(this.#database.url, ['mail'], () => this.#ask());
    const go = async () => {
      while (!this.#isStopping) {
        this.#isAsked = false;
        await this.#look().catch((err: Error) => {
          if (troubles.isTime('look')) logger.warn({ err }, 'mails could not be looked for');
        });
        round();
        if (!this.#isAsked && !this.#isStopping)
          await new Promise<void>(done => {
            const timer = setTimeout(done, lookMs);
            this.#wake = () => {
              clearTimeout(timer);
              done();
            };
          });
      }
    };
    this.#running = go();
  }

  #ask(): void {
    this.#isAsked = true;
    this.#wake();
  }

  /** What is under way is cut off, and left to others at once. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#end.abort();
    this.#wake();
    await this.#listener?.stop();
    await this.#running;
    await Promise.all(this.#sending);
    await this.#database.close();
  }

  async #look(): Promise<void> {
    const room = mailLimits.atOnce - this.#sending.size;
    if (room <= 0) return;
    const full = [...this.#underWay].filter(([, count]) => count >= mailLimits.atOnceOfOne).map(([id]) => id ?? 0);
    const { db } = this.#database;
    await sql`delete from mail where "until" < now()`.execute(db);
    const taken = await rows<Waiting>(
      db,
      sql`update mail m set "nextAt" = now() + ${leaseSeconds} * interval '1 second', attempts = m.attempts + 1
          from (
            select m.id from mail m join (
                select id, row_number() over (partition by "clientID" order by "nextAt", id) turn from mail
                  where "nextAt" <= now() and coalesce("clientID", 0) <> all(${full}::bigint[])
              ) due on due.id = m.id
              where due.turn <= ${mailLimits.atOnceOfOne} and m."nextAt" <= now()
              order by due.turn, m.id limit ${room} for update of m skip locked
          ) mine where mine.id = m.id returning m.id, m."clientID", m.message, m.attempts, m."createdAt"`,
    );
    for (const mail of taken) {
      const { clientID } = mail;
      this.#underWay.set(clientID, (this.#underWay.get(clientID) ?? 0) + 1);
      const sending = this.#send(mail)
        .catch((err: Error) => void (troubles.isTime('send') && logger.warn({ err }, 'a mail could not be sent')))
        .finally(() => {
          const left = this.#underWay.get(clientID)! - 1;
          if (left) this.#underWay.set(clientID, left);
          else this.#underWay.delete(clientID);
          this.#sending.delete(sending);
          this.#ask();
        });
      this.#sending.add(sending);
    }
  }

  async #send({ id, clientID, message, attempts, createdAt }: Waiting): Promise<void> {
    const { db } = this.#database;
    const { sealing } = this.#services;
    try {
      const server = await mailServerOf(db, sealing, clientID);
      if (!server) throw new MailProblem('way', 'no mail server is set');
      // what sendMail wrote, in this release or an earlier one
      const mail = JSON.parse(sealedMail(sealing).open('message', message)!) as Mail; // sendMail wrote it
      const rendered = render(mail, server.fromName || server.fromAddress);
      await deliver(
        server,
        { ...rendered, to: mail.to, messageID: messageIDOf({ id, createdAt }, server.fromAddress) },
        { policy: await mailPolicy(db, server.clientID), ca: this.#services.mail?.ca, signal: this.#end.signal },
      );
      await sql`delete from mail where id = ${id}`.execute(db);
    } catch (error) {
      if (this.#isStopping) {
        await sql`update mail set "nextAt" = now() where id = ${id}`.execute(db);
        return;
      }
      const problem = error instanceof MailProblem ? error : new MailProblem('way', String(error));
      logger.warn({ mail: id, operator: clientID, problem: problem.message, attempts }, 'a mail was not taken');
      if (problem.isFinal) await sql`delete from mail where id = ${id}`.execute(db);
      else {
        const seconds = Math.min(firstAgainSeconds * 3 ** (attempts - 1), longestAgainSeconds);
        await sql`update mail set problem = ${problem.message}, "nextAt" = now() + ${seconds} * interval '1 second' where id = ${id}`.execute(
          db,
        );
      }
    }
  }
}
