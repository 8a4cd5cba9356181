/** The second step of signing in: which one an account has, codes by mail, the authenticator and its recovery codes. */
import { randomInt, timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import { Fail } from '#contract/errors.ts';
import { codeTries, loginTwoFactorTypes as types, session as limits } from '#contract/limits.ts';
import type { Area } from '#contract/kit/call.ts';
import type { Language } from '#contract/kit/text.ts';
import { newToken, sha256 } from '../kit/crypto.ts';
import { tooManySignIns } from '../kit/hashing.ts';
import { mailTime } from '../kit/mail/mail-time.ts';
import { sendMail } from '../kit/mail/send.ts';
import { neighbourhoods } from '../kit/networks.ts';
import { ownerID } from '../kit/owner.ts';
import { Sealed } from '../kit/sealed.ts';
import type { Services } from '../kit/services.ts';
import { table } from '../kit/table.ts';
import type { Claim } from '../kit/tries.ts';
import { type Db, row } from '../store/db.ts';
import { newRecoveryCodes, recoveryOf, stepOf } from './totp.ts';

export type FactorType = (typeof types)[keyof typeof types];

// read and written here alone
table()({ table: 'authenticator', scope: { tenant: [['accountID']], owner: () => sql`false` }, sealed: ['secret'], soft: false });
const sealed = (services: Pick<Services, 'sealing'>) => new Sealed('authenticator', ['secret'], services.sealing);

/** To whom a code goes, and by whose server. */
export interface CodeReader {
  id: number;
  email: string;
  auth: Area;
  rootID: number;
  parentClient: number | null;
  language: Language;
  /** IANA */
  timezone: string;
}
/** undefined: there is no such account */
export const readerOf = (db: Db, accountID: number): Promise<CodeReader | undefined> =>
  row<CodeReader>(
    db,
    sql`select id, email, auth, coalesce("rootID", id) as "rootID", "parentClient", language, timezone from account where id = ${accountID}`,
  );
/** By whose server an account's mails go. */
export const operatorOf = ({ auth, rootID, parentClient }: Pick<CodeReader, 'auth' | 'rootID' | 'parentClient'>): number | null =>
  auth === 'admin' ? null : auth === 'client' ? rootID : parentClient;

/** What is asked after the password: what the person chose, or what the operator asks of everybody. */
export async function factorOf(db: Db, account: CodeReader): Promise<FactorType> {
  const found = await row<{ twoFactor: FactorType; isAsked: boolean }>(
    db,
    sql`select a."twoFactor", exists (
        select from setting s where s.key = 'accountVerify' and s.value = 'true' and s."clientID" = coalesce(${operatorOf(account)}::bigint, ${ownerID})) as "isAsked"
      from account a where a.id = ${account.id}`,
  );
  if (!found || found.twoFactor !== types.none) return found?.twoFactor ?? types.mail;
  return found.isAsked ? types.mail : types.none;
}

export const newCode = () => String(randomInt(10 ** limits.codeDigits)).padStart(limits.codeDigits, '0');
export const codeHash = (code: string, onePassKey: string) => sha256(code + onePassKey).toString('hex');
export const isCode = (stored: string, code: string, onePassKey: string) =>
  timingSafeEqual(Buffer.from(stored), Buffer.from(codeHash(code, onePassKey)));

interface Held {
  kind?: 'login' | 'twoFactor';
  type?: FactorType;
  /** else a new one */
  onePassKey?: string;
}
/** Until when a code that is made now is good: another one for the same key has as long as the first, and none of its tries. */
export const codeUntil = sql`now() + ${limits.codeLifetimeMinutes} * interval '1 minute'`;

/** Puts a login on hold until its code comes; answers the one-pass key and the code to be sent. */
export async function holdLogin(
  db: Db,
  accountID: number,
  { kind = 'login', type = types.mail, onePassKey = newToken() }: Held = {},
): Promise<{ onePassKey: string; vcode: string }> {
  const vcode = newCode();
  // what nobody waits for any more
  await sql`delete from login where "accountID" = ${accountID} and "expiredAt" < now()`.execute(db);
  await sql`insert into login (hash, "accountID", code, kind, type, "expiredAt") values (${sha256(onePassKey)}, ${accountID},
    ${codeHash(vcode, onePassKey)}, ${kind}, ${type}, ${codeUntil})`.execute(db);
  return { onePassKey, vcode };
}

const mailClaim = ({ id }: Pick<CodeReader, 'id'>): Claim => ({
  kind: 'account',
  key: `code mail ${id}`,
  free: codeTries.mailsFreeOfAccount,
});
/** How many mails one account, and one address, may cause. */
const mailClaims = (account: Pick<CodeReader, 'id'>, ip: string): Claim[] => [
  mailClaim(account),
  { kind: 'address', key: `code mails ${neighbourhoods(ip)[1]}`, free: codeTries.mailsFreeOfAddress },
];
/** Mails a code. @throws 429 where too many were, illegalEmailSettings where no mail can go out: nobody is let in without */
export async function mailCode(
  { db, services, ip }: { db: Db; services: Services; ip: string },
  account: CodeReader,
  template: 'loginCode' | 'factorCode',
  code: string,
): Promise<void> {
  const wait = services.sessions.tries.take(mailClaims(account, ip));
  if (wait) throw tooManySignIns(wait.seconds);
  const { email: to, language } = account;
  const minutes = limits.codeLifetimeMinutes;
  const sent = await sendMail(db, services, {
    ...{ operatorID: operatorOf(account), to, language, template, minutes, rootID: account.rootID, isUrgent: true },
    data: { code, minutes, ip },
  });
  if (!sent) throw new Fail('illegalEmailSettings', { errorData: [{ path: 'email', rule: 'mailServerMissing' }] });
}

/**
 * Its person, where whoever manages the account took away what its sign-in asked for beside the password (`factorTaken`), or whoever holds
 * the machine set another password (`passwordSet`). False: no mail can go out.
 */
export async function mailTaken(
  { db, services }: { db: Db; services: Pick<Services, 'sealing'> },
  accountID: number,
  template: 'factorTaken' | 'passwordSet' = 'factorTaken',
): Promise<boolean> {
  const account = await readerOf(db, accountID);
  if (!account) return false;
  const { email: to, language, rootID } = account;
  const data = { time: mailTime(account) };
  return sendMail(db, services, { operatorID: operatorOf(account), rootID, to, language, template, data });
}

const tryClaims = (accountID: number): Claim[] => [{ kind: 'account', key: `code ${accountID}`, free: codeTries.freeOfAccount }];
/** Counted before a code is looked at, over all sign-ins of the account: who knows the password begins as many as they like. */
export function takeCodeTry({ sessions }: Services, accountID: number): void {
  const wait = sessions.tries.take(tryClaims(accountID));
  if (wait) throw tooManySignIns(wait.seconds);
}
export function codeWasRight({ sessions }: Services, accountID: number): void {
  sessions.tries.giveBack(tryClaims(accountID));
  sessions.tries.giveBack([mailClaim({ id: accountID })]);
}

const proofs = ({ sealing }: Pick<Services, 'sealing'>, accountID: number, code: string) =>
  sealing.proofs(`recovery ${accountID} ${code}`);

/** A code of the account's authenticator, each once, or one of its recovery codes, each once, however many try at once. */
export async function takeAuthenticator(db: Db, services: Services, accountID: number, typed: string): Promise<boolean> {
  const recovery = recoveryOf(typed);
  if (recovery !== undefined) {
    const used = await row(
      db,
      sql`update authenticator set recovery = array(select unnest(recovery) except select unnest(${proofs(services, accountID, recovery)}::text[]))
          where "accountID" = ${accountID} and recovery && ${proofs(services, accountID, recovery)}::text[] returning 1`,
    );
    return used !== undefined;
  }
  const found = await row<{ secret: string }>(db, sql`select secret from authenticator where "accountID" = ${accountID}`);
  const secret = found && sealed(services).open('secret', found.secret);
  const step = secret ? stepOf(secret, typed.trim(), Date.now()) : undefined;
  if (step === undefined) return false;
  // who watched it being typed comes too late, and so does the second of two at once
  return !!(await row(
    db,
    sql`update authenticator set step = ${step} where "accountID" = ${accountID} and step < ${step} returning 1`,
  ));
}

/** Sets an authenticator, in place of the one there was; answers its recovery codes. */
export async function setAuthenticator(
  db: Db,
  services: Services,
  accountID: number,
  secret: string,
  step: number,
): Promise<string[]> {
  const codes = newRecoveryCodes();
  const kept = codes.map(code => proofs(services, accountID, recoveryOf(code)!)[0]);
  await dropAuthenticator(db, accountID);
  await sql`insert into authenticator ("accountID", secret, step, recovery)
    values (${accountID}, ${sealed(services).seal({ secret })['secret']}, ${step}, ${kept}::text[])`.execute(db);
  return codes;
}
export const dropAuthenticator = (db: Db, accountID: number) =>
  sql`delete from authenticator where "accountID" = ${accountID}`.execute(db);
