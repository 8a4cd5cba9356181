/** Sign-ins from a device that was not seen before: its person is told by mail, at once and in words, and in the inbox of the console. */
import { sql } from 'kysely';
import { deviceMailsMax } from '#contract/limits.ts';
import type { Context } from '../kit/context.ts';
import { mailTime } from '../kit/mail/mail-time.ts';
import { sendMail } from '../kit/mail/send.ts';
import { neighbourhoods } from '../kit/networks.ts';
import { placeInMail, whereabouts } from '../kit/place.ts';
import { type From, userAgentMax } from '../kit/session-row.ts';
import { row } from '../store/db.ts';
import { deviceOf } from './device.ts';
import { type CodeReader, operatorOf } from './factors.ts';

const unknown = { zh_TW: '不明裝置', zh_CN: '未知设备', en_US: 'unknown' } as const;
/** Addresses of one browser that are looked at. */
const addressesMax = 100;

/**
 * Asked before the session is opened; what it answers is called once it is open, and tells if there is something to tell. A device is
 * known by its mark (`isMarked`), or where the same browser came from the same address before: a new password takes marks away, and
 * scripts keep none. The very first sign-in of an account tells nothing.
 */
export async function newDevice(ctx: Context, account: CodeReader, from: From, isMarked: boolean): Promise<() => Promise<void>> {
  const { db, services } = ctx;
  const found = await row<{ isWanted: boolean; isFirst: boolean; addresses: string[] }>(
    db,
    sql`select a."newDeviceMail" as "isWanted", a."firstSignInAt" is null as "isFirst",
        array(select distinct s.address from session s where s."accountID" = a.id and s."proxyID" is null
          and s."userAgent" = ${from.userAgent.slice(0, userAgentMax)} and s.address is not null limit ${addressesMax}) as addresses
      from account a where a.id = ${account.id}`,
  );
  const network = neighbourhoods(from.ip)[1];
  const isKnown = isMarked || found?.addresses.some(address => neighbourhoods(address)[1] === network);
  return async () => {
    if (found?.isFirst)
      // a change that is under way in its tree holds nobody up: then the next sign-in is the first
      await sql`update account set "firstSignInAt" = now() where id in
        (select id from account where id = ${account.id} and "firstSignInAt" is null for no key update skip locked)`.execute(db);
    if (!found || found.isFirst || isKnown) return;
    // whoever knows the password and signs in again and again fills no mailbox, and no inbox
    if (services.sessions.tries.take([{ kind: 'account', key: `new device ${account.id}`, free: deviceMailsMax }])) return;
    const { browser, system } = deviceOf(from.userAgent);
    const { language, rootID, email } = account;
    const name = [browser, system].filter(Boolean).join(', ');
    // the vendor's people have no inbox
    if (account.auth !== 'admin')
      await sql`insert into "noticeEvent" ("rootID", kind, name, detail, "accountID")
        values (${rootID}, 'newDevice', ${email}, ${[name, from.ip].filter(Boolean).join(', ')}, ${account.id})`.execute(db);
    if (!found.isWanted) return;
    const { of, credits } = await whereabouts(services);
    // where no mail can go out people sign in all the same: the list of sessions tells of it
    await sendMail(db, services, {
      operatorID: operatorOf(account),
      rootID,
      to: email,
      language,
      template: 'newDevice',
      data: {
        time: mailTime(account),
        ip: from.ip,
        place: placeInMail(of(from.ip), credits, language),
        device: name || unknown[language],
      },
    });
  };
}
