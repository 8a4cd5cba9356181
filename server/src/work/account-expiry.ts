/**
 * Accounts whose time is over (`expired`) become that state at their time. Whoever is asked before judges by the time itself
 * (kit/acting.ts), so nobody gets in while no process looks; what the look adds is the state that lists show, the end of what such an
 * account opened for others, and the line of the audit. One that is paused or locked stays so: it ends once it is let go on.
 */
import { sql } from 'kysely';
import type { Area } from '#contract/kit/call.ts';
import { audit, theHouse } from '../kit/context.ts';
import { newRequestID } from '../kit/ids.ts';
import { Rounds } from '../kit/rounds.ts';
import type { Services } from '../kit/services.ts';
import { untangled } from '../kit/untangled.ts';
import { logger } from '../log.ts';
import { row } from '../store/db.ts';

const lookMs = 1000;

/** Of one look. */
const skippedMost = 100;
/** The first of those that are over, save these. */
const dueOf = (
  held: readonly number[],
) => sql`expired <= now() and status = 'normal' and "deletedAt" is null and id <> all(${[...held]}::bigint[])
  order by expired, id limit 1`;

interface Over {
  id: number;
  auth: Area;
  rootID: number;
  parentClient: number | null;
}

export class AccountExpiry {
  readonly #services: Services;
  readonly #rounds = new Rounds({
    loop: 'accountExpiry',
    everyMs: lookMs,
    look: () => this.look(),
    failed: err => logger.warn({ err }, 'accounts whose time is over could not be ended'),
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

  /** Ends all that are over; one that somebody holds is left for the next look. */
  async look(): Promise<void> {
    // one that cannot be ended keeps nobody behind it waiting
    const held: number[] = [];
    let problem: unknown;
    for (let goesOn = true; goesOn && !this.#rounds.ending.aborted;)
      try {
        goesOn = await this.#endOne(held);
      } catch (error) {
        problem ??= error;
        goesOn = held.length < skippedMost && (await this.#skip(held));
      }
    if (problem !== undefined) throw problem;
  }

  /** Leaves out the one whose turn it was. @returns whether there was one */
  async #skip(held: number[]): Promise<boolean> {
    const next = await row<{ id: number }>(this.#services.database.db, sql`select id from account where ${dueOf(held)}`);
    if (next) held.push(next.id);
    return next !== undefined;
  }

  async #endOne(held: readonly number[]): Promise<boolean> {
    const { database, sessions } = this.#services;
    const startedAt = performance.now();
    return untangled(database.writes, async db => {
      const ended = await row<Over>(
        db,
        sql`update account set status = 'expired', "updatedAt" = now(), "rowVersion" = "rowVersion" + 1
            where id = (select id from account where ${dueOf(held)} for no key update skip locked)
            returning id, auth, coalesce("rootID", id) as "rootID", "parentClient"`,
      );
      if (!ended) return false;
      const { id, auth, rootID, parentClient } = ended;
      await sessions.endOpened(db, id);
      await audit(this.#services, db, {
        reqID: newRequestID(),
        actor: {
          accountID: null,
          email: theHouse,
          proxyID: null,
          proxyName: null,
          clientID: auth === 'admin' ? null : auth === 'client' ? rootID : parentClient,
          area: auth === 'user' ? 'client' : auth,
          rootID,
        },
        userID: auth === 'user' ? rootID : null,
        method: 'EXPIRE',
        url: 'account',
        permission: null,
        body: null,
        ip: '',
        changes: [{ table: 'account', id, before: { status: 'normal' }, after: { status: 'expired' } }],
        status: 200,
        durationMs: performance.now() - startedAt,
      });
      return true;
    });
  }
}
