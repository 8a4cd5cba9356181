/** Whoever's password is another now reads it in their mailbox: who changed it themselves, and who had it changed. */
import { deviceMailsMax } from '#contract/limits.ts';
import type { Context } from '../kit/context.ts';
import { mailTime } from '../kit/mail/mail-time.ts';
import { sendMail } from '../kit/mail/send.ts';
import { operatorOf, readerOf } from './factors.ts';

/** Where no mail can go out the password is changed all the same; the audit tells of it. */
export async function mailPassword(ctx: Context, accountID: number): Promise<void> {
  const { db, services, actor, ip } = ctx;
  // whoever sets one again and again fills no mailbox
  if (services.sessions.tries.take([{ kind: 'account', key: `password mail ${accountID}`, free: deviceMailsMax }])) return;
  const person = await readerOf(db, accountID);
  if (!person) return;
  const time = mailTime(person);
  const { rootID, email: to, language } = person;
  const whom = { operatorID: operatorOf(person), rootID, to, language };
  await (actor.accountID === accountID
    ? sendMail(db, services, { ...whom, template: 'passwordChanged', data: { time, ip } })
    : sendMail(db, services, { ...whom, template: 'passwordSetBy', data: { time, by: actor.proxyName ?? actor.email } }));
}
