/**
 * Sends the mails that wait (kit/mail/send.ts). Whoever takes one leases its row for longer than a conversation may last: a process that
 * dies leaves it to others, and no two send one. What a server refuses is tried again later and later, until nobody needs it any more.
 * Turns go round by operator and then by customer, at each turn codes before all else, and each operator has a few at a time; one place is
 * for whatever waits longest, or what is no code would never go while enough operators have codes and slow servers. A place is held until
 * the mail is out, not until it is answered. A server that fails whatever it is given (it is away, it refuses our password) is left alone
 * longer and longer, then asked by one mail; such questions never take more than half of the places.
 */
import { sql } from 'kysely';
import { mailLimits } from '#contract/limits.ts';
import { deliver, MailProblem } from '../kit/mail/deliver.ts';
import { messageIDOf } from '../kit/mail/message-id.ts';
import { type Mail, render } from '../kit/mail/render.ts';
import { mailPolicy, mailServerOf, sealedMail, serverFor } from '../kit/mail/send.ts';
import { loopOf } from '../kit/metrics.ts';
import { Seldom } from '../kit/seldom.ts';
import type { Services } from '../kit/services.ts';
import { logger } from '../log.ts';
import { type Database, listen, openDatabase, rows, type Sql } from '../store/db.ts';

const lookMs = 1000;
const leaseSeconds = 2 * mailLimits.timeoutSeconds;
const firstAgainSeconds = 5;
const longestAgainSeconds = 1800;
/** of a server: who waits for a code waits for it */
const longestPauseSeconds = 300;
const againAfter = (failures: number, longest: number) => Math.min(firstAgainSeconds * 3 ** (failures - 1), longest);
const troubles = new Seldom(300_000);

interface Waiting {
  id: number;
  clientID: number | null;
  message: string;
  attempts: number;
  createdAt: string;
  isProbe: boolean;
  isOldest: boolean;
  /** its server as it is set now: another address is another server */
  way: string;
}

function count(of: Map<string, number>, way: string, more: 1 | -1): void {
  const now = (of.get(way) ?? 0) + more;
  if (now > 0) of.set(way, now);
  else of.delete(way);
}
const countOf = (of: ReadonlyMap<string, number>): Sql =>
  sql`coalesce((${JSON.stringify(Object.fromEntries(of))}::jsonb->>(s.id || '.' || s."rowVersion"))::int, 0)`;

export class Mailer {
  readonly #database: Database;
  readonly #services: Pick<Services, 'sealing' | 'mail'>;
  #probes = 0;
  /** conversations whose mail is not out yet: these have the places, `#sending` all that is awaited */
  #talking = 0;
  /** of these, taken because it had waited longest: one */
  #oldest = 0;
  /** Mails under way at each server, answered or not. Of this process: a lease may be that of one that died, for ten minutes. */
  readonly #atServer = new Map<string, number>();
  /** Of these, mails that ask one that failed whether it is well, until they are out. */
  readonly #probing = new Map<string, number>();
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

  /** What is under way is cut off and left to others at once, but what its server has in its hands: that is given some seconds. */
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
    const room = mailLimits.atOnce - this.#talking;
    if (room <= 0) return;
    const probeRoom = Math.max(0, Math.min(room, mailLimits.atOnce / 2 - this.#probes));
    const { db } = this.#database;
    await sql`delete from mail where "until" < now() and coalesce("leasedUntil" < now(), true)`.execute(db);
    const isFree = sql`m."nextAt" <= now() and coalesce(m."leasedUntil" <= now(), true)`;
    const taken = await rows<Waiting>(
      db,
      sql`with way as materialized (
            select c."clientID", s.id as "serverID", s.failures > 0 as "isProbe", coalesce(s."pausedUntil" > now(), false) as "isPaused",
                s.id || '.' || s."rowVersion" as way, ${countOf(this.#atServer)} as "inHand", ${countOf(this.#probing)} as probing
              from (select distinct "clientID" from mail) c join lateral (${serverFor(sql`c."clientID"`)}) s on true
          ), busy as materialized (
            select m."clientID", count(*) n from mail m where m."leasedUntil" > now() group by 1
          ), own as (
            select m.id, m."clientID", m."nextAt", m."isUrgent", way."serverID", way."isProbe", way.way, way."inHand", way.probing,
                row_number() over (partition by m."clientID", m."rootID", m."isUrgent" order by m."nextAt", m.id) as "ofRoot"
              from mail m join way on way."clientID" is not distinct from m."clientID" where ${isFree} and not way."isPaused"
                and way."inHand" < ${mailLimits.atOnceOfServer}
          ), due as (
            select own.*, row_number() over (partition by own."clientID" order by own."isUrgent" desc, own."ofRoot", own."nextAt", own.id)
                + coalesce((select b.n from busy b where b."clientID" is not distinct from own."clientID"), 0) as turn
              from own
          ), mayGo as (
            select due.*, not due."isProbe" and ${this.#oldest} = 0
                  and row_number() over (partition by due."isProbe" order by due.turn, due."nextAt", due.id) = 1 as "isOldest"
              from due where due.turn <= ${mailLimits.atOnceOfOne}
          ), first as (
            select mayGo.*, row_number() over (partition by mayGo."serverID"
                  order by mayGo."isOldest" desc, mayGo."isUrgent" desc, mayGo.turn, mayGo."nextAt", mayGo.id)
                + case when mayGo."isProbe" then mayGo.probing else mayGo."inHand" end as "ofServer" from mayGo
          ), chosen as (
            select first.*, row_number() over (partition by first."isProbe" order by random()) as place
              from first where first."ofServer" <= case when first."isProbe" then 1 else ${mailLimits.atOnceOfServer}::int end
          )
          update mail m set "leasedUntil" = now() + ${leaseSeconds} * interval '1 second', attempts = m.attempts + 1
          from (
            select m.id, chosen."isProbe", chosen."isOldest", chosen.way from mail m join chosen on chosen.id = m.id
              where (not chosen."isProbe" or chosen.place <= ${probeRoom}) and ${isFree}
              order by chosen."isOldest" desc, chosen."isProbe" and chosen.place = 1 and ${this.#probes} = 0 desc, chosen."isProbe", chosen.turn, chosen."isUrgent" desc, m.id limit ${room} for update of m skip locked
          ) mine where mine.id = m.id returning m.id, m."clientID", m.message, m.attempts, m."createdAt", mine."isProbe", mine."isOldest", mine.way`,
    );
    for (const mail of taken) {
      const giveBack = this.#place(mail);
      count(this.#atServer, mail.way, 1);
      const sending = this.#send(mail, giveBack)
        .catch((err: Error) => void (troubles.isTime('send') && logger.warn({ err }, 'a mail could not be sent')))
        .finally(() => {
          giveBack();
          count(this.#atServer, mail.way, -1);
          this.#sending.delete(sending);
          // one more of this operator may go
          this.#ask();
        });
      this.#sending.add(sending);
    }
  }

  /**
   * Takes a place, until it is given back: when the mail is out. An answer may take `mailLimits.answerSeconds`, in which a few operators'
   * servers would hold all places. Such a connection does nothing but wait; of one operator `mailLimits.atOnceOfOne` are under way, whatever
   * became of their places, and at one server, which may be that of many, `mailLimits.atOnceOfServer`.
   */
  #place({ isProbe, isOldest, way }: Waiting): () => void {
    const [probe, oldest] = [Number(isProbe), Number(isOldest)];
    let isHeld = true;
    this.#talking++;
    this.#probes += probe;
    this.#oldest += oldest;
    if (isProbe) count(this.#probing, way, 1);
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#talking--;
      this.#probes -= probe;
      this.#oldest -= oldest;
      if (isProbe) count(this.#probing, way, -1);
    };
  }

  async #send({ id, clientID, message, attempts, createdAt }: Waiting, giveBack: () => void): Promise<void> {
    const { db } = this.#database;
    const { sealing } = this.#services;
    // a lease that ran out is another's by now
    const mine = sql`id = ${id} and attempts = ${attempts}`;
    const server = await mailServerOf(db, sealing, clientID);
    let kept: Promise<void> | undefined;
    try {
      if (!server) throw new MailProblem('way', 'no mail server is set');
      // what sendMail wrote, in this release or an earlier one
      const mail = JSON.parse(sealedMail(sealing).open('message', message)!) as Mail; // sendMail wrote it
      const rendered = render(mail, server.fromName || server.fromAddress);
      await deliver(
        server,
        { ...rendered, to: mail.to, messageID: messageIDOf({ id, createdAt }, server.fromAddress) },
        {
          policy: await mailPolicy(db, server.clientID),
          ...this.#services.mail,
          signal: this.#end.signal,
          onOut: () => {
            giveBack();
            this.#ask();
            kept = this.#keep(mine);
          },
        },
      );
      await sql`delete from mail where ${mine}`.execute(db);
      await sql`update "mailServer" set failures = 0, problem = null, "pausedUntil" = null where id = ${server.id} and failures > 0`.execute(
        db,
      );
    } catch (error) {
      // it would lease anew what is given back below
      await kept;
      const problem = error instanceof MailProblem ? error : new MailProblem('way', String(error), { isOfServer: false });
      if (this.#isStopping) {
        // what the server may have taken is asked about no sooner than anything else that failed
        const seconds = problem.isOut ? againAfter(attempts, longestAgainSeconds) : 0;
        await sql`update mail set "leasedUntil" = null, "nextAt" = now() + ${seconds} * interval '1 second' where ${mine}`.execute(
          db,
        );
        return;
      }
      logger.warn({ mail: id, operator: clientID, problem: problem.message, attempts }, 'a mail was not taken');
      if (problem.isFinal) {
        await sql`delete from mail where ${mine}`.execute(db);
        return;
      }
      if (problem.isOfServer && server) await this.#pause(server, problem.message);
      const seconds = againAfter(attempts, problem.isOfServer ? longestPauseSeconds : longestAgainSeconds);
      // another's server is nothing to tell of: where it is, and what it says
      const told =
        server && server.clientID !== clientID ? 'the mail server of the installation did not take it' : problem.message;
      await sql`update mail set problem = ${told}, "leasedUntil" = null, "nextAt" = now() + ${seconds} * interval '1 second' where ${mine}`.execute(
        db,
      );
    }
  }

  /** The server has it whole: nobody else sends it while its answer is waited for. */
  async #keep(mine: Sql): Promise<void> {
    const seconds = mailLimits.answerSeconds + mailLimits.timeoutSeconds;
    try {
      await sql`update mail set "leasedUntil" = now() + ${seconds} * interval '1 second' where ${mine}`.execute(
        this.#database.db,
      );
    } catch (err) {
      if (troubles.isTime('keep')) logger.warn({ err }, 'a mail that its server has may be sent again');
    }
  }

  /** Nothing of what waits for this server is tried for a while; a change of its settings since is another server. */
  async #pause(server: { id: number; version: number }, problem: string): Promise<void> {
    await sql`update "mailServer" set failures = failures + 1, problem = ${problem},
        "pausedUntil" = now() + least(${firstAgainSeconds} * 3 ^ least(failures, 10), ${longestPauseSeconds}) * interval '1 second'
      where id = ${server.id} and "rowVersion" = ${server.version} and coalesce("pausedUntil" <= now(), true)`.execute(
      this.#database.db,
    );
  }
}
