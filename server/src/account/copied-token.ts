/**
 * A refresh token that was replaced and comes again is a copy in other hands: what it opened has ended (kit/session.ts, kit/api-tokens.ts),
 * and here its person and whoever reads the audit hear of it.
 */
import { sql } from 'kysely';
import { fail, type Fail } from '#contract/errors.ts';
import { deviceMailsMax } from '#contract/limits.ts';
import { audit, type Context } from '../kit/context.ts';
import { mailTime } from '../kit/mail/mail-time.ts';
import { sendMail } from '../kit/mail/send.ts';
import type { Reused } from '../kit/session-row.ts';
import { operatorOf, readerOf } from './factors.ts';

/** The answer to whoever brought it, once it is told. */
export async function copyRefused(ctx: Context, { accountID, proxyID, token }: Reused['reused']): Promise<Fail> {
  const { db, services, ip } = ctx;
  const { sessions } = services;
  const failure = fail('refreshTokenFailed');
  const actor = (await sessions.acting(db, accountID, proxyID)) ?? (await sessions.acting(db, accountID));
  if (actor)
    await audit(services, db, {
      reqID: ctx.reqID,
      actor: { ...actor, token },
      method: 'PATCH',
      url: `/api/v1/${actor.area}`,
      permission: null,
      body: null,
      ip,
      changes: [],
      status: failure.status,
      durationMs: performance.now() - ctx.startedAt,
      reason: 'tokenCopied',
      isKept: true,
    });
  // whose browser or program it was: who acts in another's name is told of their own
  const person = await readerOf(db, proxyID ?? accountID);
  if (!person) return failure;
  const { id, email, rootID, language } = person;
  // the vendor's people have no inbox
  if (person.auth !== 'admin')
    await sql`insert into "noticeEvent" ("rootID", kind, name, detail, "accountID")
      values (${rootID}, 'tokenCopied', ${email}, ${token ? `${token.name}, ${ip}` : ip}, ${id})`.execute(db);
  // each copy ends what it is of, so an inbox has no more lines than there were sign-ins; a mailbox is filled by nobody
  if (sessions.tries.take([{ kind: 'account', key: `copied ${id}`, free: deviceMailsMax }])) return failure;
  const time = mailTime(person);
  const whom = { operatorID: operatorOf(person), rootID, to: email, language };
  await (token
    ? sendMail(db, services, { ...whom, template: 'tokenCopied', data: { time, ip, name: token.name } })
    : sendMail(db, services, { ...whom, template: 'sessionCopied', data: { time, ip } }));
  return failure;
}
