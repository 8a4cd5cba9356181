/** Beside one's own password, a code of the present second factor: for what takes its place, which the password alone would get round it by. */
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import { loginTwoFactorTypes as types, session as limits } from '#contract/limits.ts';
import type { Language } from '#contract/kit/text.ts';
import type { Context } from '../kit/context.ts';
import { sha256 } from '../kit/crypto.ts';
import { unwritten } from '../kit/quiet.ts';
import { row } from '../store/db.ts';
import {
  codeWasRight,
  type CodeReader,
  type FactorType,
  factorOf,
  holdLogin,
  isCode,
  mailCode,
  takeAuthenticator,
  takeCodeTry,
} from './factors.ts';

/** Who acts, as mails go to them. */
export async function readerOf({ db, actor }: Context): Promise<CodeReader & { name: string; twoFactor: FactorType }> {
  const { accountID: id, area: auth, rootID, clientID, email } = actor;
  const found = await row<{ language: Language; timezone: string; name: string; twoFactor: FactorType }>(
    db,
    sql`select language, timezone, name, "twoFactor" from account where id = ${id}`,
  );
  return { id, auth, rootID, parentClient: auth === 'user' ? clientID : null, email, ...found! };
}

/** Codes that a passkey gave this session in place of one (passkey-presence.ts). */
export const presenceKey = ({ services, actor }: Context): string =>
  services.sealing.proofs(`own presence ${actor.accountID} ${actor.sessionID}`)[0]!;

/**
 * Where signing in takes a code, so does this. Without one it is said which is meant; one by mail is sent. Outside of a transaction: a wrong
 * code is counted, whatever becomes of the call. One that a passkey gave serves as well: the mail server may be what is to be mended.
 * @throws 101003 `factorByApp`, `factorByMail`, `wrongCode` at `code`; 429
 */
export async function ownFactor(ctx: Context, given: string | undefined): Promise<void> {
  const { db, services, actor } = ctx;
  const self = await readerOf(ctx);
  const type = await factorOf(db, self);
  if (type === types.none) return;
  // of this session alone, and known to nobody who reads the database
  const key = services.sealing.proofs(`own factor ${self.id} ${actor.sessionID}`)[0]!;
  const code = given?.trim() ?? '';
  if (code === '') {
    if (type === types.mail) {
      await sql`delete from login where hash = ${sha256(key)}`.execute(db);
      const { vcode } = await holdLogin(db, self.id, { kind: 'twoFactor', onePassKey: key });
      await mailCode(ctx, self, 'factorCode', vcode);
    }
    // a question, and nothing that was refused to anybody
    throw unwritten(failFields([{ path: 'code', rule: type === types.google ? 'factorByApp' : 'factorByMail' }]));
  }
  takeCodeTry(services, self.id);
  const isRight =
    (await takeMailed(ctx, presenceKey(ctx), code)) ||
    (type === types.google ? await takeAuthenticator(db, services, self.id, code) : await takeMailed(ctx, key, code));
  if (!isRight) throw failFields([{ path: 'code', rule: 'wrongCode' }]);
  codeWasRight(services, self.id);
}

/** Each once, and counted before it is looked at. */
async function takeMailed({ db }: Context, key: string, code: string): Promise<boolean> {
  const held = await row<{ code: string }>(
    db,
    sql`update login set tries = tries + 1 where hash = ${sha256(key)} and "expiredAt" > now() and tries < ${limits.codeTriesMax} returning code`,
  );
  if (!held || !isCode(held.code, code, key)) return false;
  return !!(await row(db, sql`delete from login where hash = ${sha256(key)} and code = ${held.code} returning 1`));
}
