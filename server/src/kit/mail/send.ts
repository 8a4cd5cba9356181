/**
 * Mails. `sendMail` writes one down in the transaction of whoever has something to say, so that no mail goes out for what did not happen;
 * the service `work` (work/mailer.ts) sends it. What waits is encrypted: codes and links are in it.
 */
import { sql } from 'kysely';
import { mailLimits } from '#contract/limits.ts';
import { AddressPolicy, type PolicyFacts } from '#contract/rules/address-policy.ts';
import type { Language } from '#contract/kit/text.ts';
import { type Db, row, type Sql } from '../../store/db.ts';
import { ownerID } from '../owner.ts';
import { Sealed, type Sealing } from '../sealed.ts';
import type { Services } from '../services.ts';
import { col, table } from '../table.ts';
import type { MailServer } from './deliver.ts';
import type { MailData, MailTemplate } from './texts.ts';

export interface ToSend<T extends MailTemplate> {
  /** by whose server it goes, root account of an operator; null: of the vendor's people */
  operatorID: number | null;
  to: string;
  template: T;
  language: Language;
  data: MailData[T];
  /** whose people cause it: one customer takes no more than its share of the queue; null: nobody's */
  rootID: number | null;
  /** somebody waits for it: it goes before what can wait, and finds room when that has none */
  isUrgent?: boolean;
  /** after which nobody needs it any more; default a day */
  minutes?: number;
}

interface MailServerRow extends Record<string, unknown> {
  id: number;
  host: string;
  port: number;
  security: MailServer['security'];
  username: string;
  passwordIsSet: boolean;
  fromAddress: string;
  fromName: string;
  testedAt: string | null;
  version: number;
}
export const mailServerTable = table<MailServerRow>()({
  table: 'mailServer',
  scope: { tenant: [['clientID']], owner: (actor, a) => sql`${col('clientID', a)} = ${actor.rootID}` },
  follows: ['testedAt'],
  sealed: ['password'],
});
/** Nobody lists them. */
table()({ table: 'mail', scope: { tenant: [['clientID']], owner: () => sql`false` }, sealed: ['message'], soft: false });

/** Of mails that wait, what they say. */
export const sealedMail = (sealing: Sealing) => new Sealed('mail', ['message'], sealing);

/**
 * Puts a mail into the queue; false where none can go out, or where as many wait of this operator, or of this customer, as there is room
 * for. Whoever calls it bounds how often one address is written to.
 */
export async function sendMail<T extends MailTemplate>(
  db: Db,
  { sealing }: Pick<Services, 'sealing'>,
  { operatorID, rootID, isUrgent = false, minutes = mailLimits.keptHours * 60, ...mail }: ToSend<T>,
): Promise<boolean> {
  const { message } = sealedMail(sealing).seal({ message: JSON.stringify(mail) });
  const put = await row(
    db,
    sql`insert into mail ("clientID", message, "until", "rootID", "isUrgent")
        select ${operatorID}::bigint, ${message}, now() + ${minutes} * interval '1 minute', ${rootID}::bigint, ${isUrgent}
        where exists (${serverFor(operatorID)})
          and (select count(*) from mail where "clientID" is not distinct from ${operatorID}::bigint and "isUrgent" = ${isUrgent}) < ${mailLimits.waitingMax}
          and (${rootID}::bigint is not distinct from ${operatorID}::bigint
            or (select count(*) from mail where "rootID" = ${rootID}::bigint and "isUrgent" = ${isUrgent}) < ${mailLimits.waitingOfOneMax})
        returning 1`,
  );
  if (put) await sql`select pg_notify('mail', '')`.execute(db);
  return put !== undefined;
}

/** The operator's own server, or else that of the installation's owner. */
export const serverFor = (operatorID: number | null | Sql) => sql`
  select s.* from "mailServer" s where s."deletedAt" is null and s.host <> '' and (s."clientID" = ${operatorID}::bigint or s."clientID" = ${ownerID})
  order by s."clientID" is not distinct from ${operatorID}::bigint desc limit 1`;

/** By which server mails of an operator go, with its password in the open; undefined: by none. */
export async function mailServerOf(
  db: Db,
  sealing: Sealing,
  operatorID: number | null,
): Promise<(MailServer & { id: number; clientID: number; version: number; testedAt: string | null }) | undefined> {
  const found = await row<MailServer & { id: number; clientID: number; rowVersion: number; testedAt: string | null }>(
    db,
    serverFor(operatorID),
  );
  if (!found) return undefined;
  const password = new Sealed('mailServer', ['password'], sealing).open('password', found.password);
  return { ...found, password, version: found.rowVersion };
}

/** Where an operator's mail server may be: where its origins may. */
export async function mailPolicy(db: Db, clientID: number): Promise<AddressPolicy> {
  const found = await row<{ facts: PolicyFacts }>(
    db,
    sql`select jsonb_build_object(
      'operator', coalesce((select value from setting where key = 'originAllow' and "clientID" = ${clientID}), '[]'),
      'environment', coalesce((select value from setting where key = 'originEnvironment' and "clientID" is null), '[]'),
      'own', coalesce((select value from setting where key = 'ownAddresses' and "clientID" is null), '[]')) as facts`,
  );
  return new AddressPolicy(found!.facts);
}
