/** Changing one's own second factor in three steps: the password, what it is to be, and a code that proves it. */
import { sql } from 'kysely';
import { fail, failFields } from '#contract/errors.ts';
import { secondFactor } from '#contract/account/second-factor.ts';
import { loginTwoFactorTypes as types, session as limits } from '#contract/limits.ts';
import type { Context } from '../kit/context.ts';
import { sha256 } from '../kit/crypto.ts';
import { implement } from '../kit/implement.ts';
import { mailTime } from '../kit/mail/mail-time.ts';
import { sendMail } from '../kit/mail/send.ts';
import { Sealed } from '../kit/sealed.ts';
import { row } from '../store/db.ts';
import {
  codeHash,
  codeUntil,
  codeWasRight,
  dropAuthenticator,
  factorOf,
  type FactorType,
  holdLogin,
  isCode,
  mailCode,
  newCode,
  operatorOf,
  setAuthenticator,
  takeAuthenticator,
  takeCodeTry,
} from './factors.ts';
import { ownFactor, readerOf } from './own-factor.ts';
import { ownPassword } from './session.ts';
import { newSecret, qrOf, stepOf } from './totp.ts';

interface Change {
  code: string;
  tries: number;
  /** whose `code` is asked for: of the present authenticator or the new one, or the one that was mailed */
  type: FactorType;
  wanted: FactorType | null;
  secret: string | null;
  expired: boolean;
}
const sealed = (ctx: Context) => new Sealed('login', ['secret'], ctx.services.sealing);

/** One's own change that is under way. @throws 101013, 101014 */
async function changeOf(ctx: Context, onePassKey: string): Promise<Change> {
  const found = await row<Change>(
    ctx.db,
    sql`select code, tries, type, wanted, secret, "expiredAt" < now() as expired from login
        where hash = ${sha256(onePassKey)} and "accountID" = ${ctx.actor.accountID} and kind = 'twoFactor'`,
  );
  if (!found) throw fail('invalidToken');
  if (found.expired || found.tries >= limits.codeTriesMax) throw fail('tokenExpired');
  return found;
}

/** Of a right code: the step of a new authenticator. */
interface Proven {
  wanted: FactorType;
  secret?: string;
  step?: number;
}

/** A code of the factor that a new authenticator takes the place of: as it is now, whatever it was when the change began. @throws 101003 */
async function presentCode(
  ctx: Context,
  change: Change,
  { onePassKey, presentCode: given = '' }: { onePassKey: string; presentCode?: string | undefined },
) {
  const present = await factorOf(ctx.db, await readerOf(ctx));
  if (present === types.none) return;
  const code = given.trim();
  if (code === '') throw failFields([{ path: 'presentCode', rule: present === types.google ? 'factorByApp' : 'factorByMail' }]);
  const isRight =
    present === types.google
      ? await takeAuthenticator(ctx.db, ctx.services, ctx.actor.accountID, code)
      : isCode(change.code, code, onePassKey);
  if (!isRight) throw failFields([{ path: 'presentCode', rule: 'wrongCode' }]);
}

export const secondFactorCalls = implement(
  secondFactor,
  {
    'POST /phase0': async ({ ctx, body, request }) => {
      await ownPassword(ctx, request, body.password, 'password');
      const { onePassKey } = await holdLogin(ctx.db, ctx.actor.accountID, { kind: 'twoFactor' });
      return { onePassKey };
    },

    'POST /phase1': async ({ ctx, body }) => {
      const { onePassKey, type: wanted } = body;
      await changeOf(ctx, onePassKey);
      const reader = await readerOf(ctx);
      const secret = wanted === types.google ? newSecret() : null;
      // an authenticator proves itself; it is given up by its own code, and anything else is proven by mail
      const type = wanted === types.google || reader.twoFactor === types.google ? types.google : types.mail;
      const code = newCode();
      await sql`update login set wanted = ${wanted}, type = ${type}, secret = ${secret && sealed(ctx).seal({ secret })['secret']},
          code = ${codeHash(code, onePassKey)}, "expiredAt" = ${codeUntil} where hash = ${sha256(onePassKey)}`.execute(ctx.db);
      // a new one proves that it works; that its person may have another says a code of the present factor
      const presentType = secret === null ? types.none : await factorOf(ctx.db, reader);
      if (type === types.mail || presentType === types.mail) await mailCode(ctx, reader, 'factorCode', code);
      const shown = secret ? qrOf(secret, reader.email, 'Breakwater') : { qrCode: '', qrCodeData: '' };
      return { onePassKey, ...shown, login2FAType: type, presentType };
    },

    'POST /phase2': async ({ ctx, body, prepared }) => {
      const { wanted, secret, step } = prepared as Proven; // what `prepare` of this call found
      const { accountID, sessionID } = ctx.actor;
      // one change of a key, also when it is sent twice at once
      const mine = await row(ctx.db, sql`delete from login where hash = ${sha256(body.onePassKey)} returning 1`);
      if (!mine) throw fail('invalidToken');
      const reader = await readerOf(ctx);
      let recoveryCodes: string[] = [];
      if (secret !== undefined) recoveryCodes = await setAuthenticator(ctx.db, ctx.services, accountID, secret, step!);
      else await dropAuthenticator(ctx.db, accountID);
      await sql`update account set "twoFactor" = ${wanted}, "rowVersion" = "rowVersion" + 1, "updatedAt" = now() where id = ${accountID}`.execute(
        ctx.db,
      );
      ctx.note({ table: 'account', id: accountID, before: { twoFactor: reader.twoFactor }, after: { twoFactor: wanted } });
      // who was let in without it is asked for it
      await ctx.services.sessions.endAll(ctx.db, accountID, sessionID);
      await sendMail(ctx.db, ctx.services, {
        operatorID: operatorOf(reader),
        rootID: reader.rootID,
        to: reader.email,
        language: reader.language,
        template: wanted === types.none ? 'factorOff' : 'factorOn',
        data: { time: mailTime(reader) },
      });
      return { recoveryCodes };
    },
  },
  {
    presence: {
      password: (ctx, request, password) => ownPassword(ctx, request, password, 'ownPassword'),
      code: ownFactor,
    },
    prepare: {
      // outside of the transaction: a wrong code is counted, whatever becomes of the call
      'POST /phase2': async ({ ctx, body }) => {
        if (ctx.actor.proxyName) throw fail('permissionDenied');
        const { accountID } = ctx.actor;
        const change = await changeOf(ctx, body.onePassKey);
        takeCodeTry(ctx.services, accountID);
        const { tries } = (await row<{ tries: number }>(
          ctx.db,
          sql`update login set tries = tries + 1 where hash = ${sha256(body.onePassKey)} returning tries`,
        )) ?? { tries: Infinity };
        if (tries > limits.codeTriesMax) throw fail('tokenExpired');
        const { wanted, type } = change;
        if (wanted === null) throw fail('invalidToken');
        const proven: Proven = { wanted };
        const secret = sealed(ctx).open('secret', change.secret);
        if (secret !== null) {
          const step = stepOf(secret, body.code.trim(), Date.now());
          if (step === undefined) throw fail('invalidToken');
          await presentCode(ctx, change, body);
          Object.assign(proven, { secret, step });
        } else if (
          type === types.google
            ? !(await takeAuthenticator(ctx.db, ctx.services, accountID, body.code))
            : !isCode(change.code, body.code, body.onePassKey)
        )
          throw fail('invalidToken');
        codeWasRight(ctx.services, accountID);
        return proven;
      },
    },
  },
);
