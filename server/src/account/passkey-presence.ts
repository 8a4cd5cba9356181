/**
 * A passkey in place of a code: of a person who is signed in, asked again who they are. It gives a code that this session may spend where one
 * is asked for beside the password (own-factor.ts), so that nobody needs the mail server to mend the mail server.
 */
import { sql } from 'kysely';
import { fail, failFields } from '#contract/errors.ts';
import { passkeyPresence, type transports } from '#contract/account/passkeys.ts';
import { loginTwoFactorTypes as types } from '#contract/limits.ts';
import { sha256 } from '../kit/crypto.ts';
import { implement } from '../kit/implement.ts';
import { rows } from '../store/db.ts';
import { codeWasRight, holdLogin, takeCodeTry } from './factors.ts';
import { presenceKey } from './own-factor.ts';
import { judgePresence, presenceChallenge, spendPresence } from './passkey-challenges.ts';
import { clientDataOf, countUp, heldBy, hostOf, ownOnly, signedCounter, tellCopied, timeout } from './passkeys.ts';

type Transport = (typeof transports)[number];

export const passkeyPresenceCalls = implement(passkeyPresence, {
  'POST /challenge': async ({ ctx, request }) => {
    ownOnly(ctx);
    const rpId = hostOf(request);
    const held = await rows<{ id: string; transports: Transport[] }>(
      ctx.db,
      sql`select "credentialID" as id, transports from passkey where "accountID" = ${ctx.actor.accountID} and host = ${rpId}`,
    );
    if (!held.length) throw failFields([{ path: '', rule: 'passkeyNone' }]);
    return {
      challenge: presenceChallenge(ctx.services.sealing, ctx.actor),
      timeout,
      rpId,
      allowCredentials: held.map(one => ({ ...one, type: 'public-key' as const })),
      userVerification: 'required',
    };
  },

  'POST /code': async ({ ctx, body }) => {
    ownOnly(ctx);
    const { actor, db, services } = ctx;
    const { credential } = body;
    takeCodeTry(services, actor.accountID);
    const client = clientDataOf(credential.response.clientDataJSON, 'credentialFailed');
    judgePresence(services.sealing, actor, client.challenge);
    const held = await heldBy(db, credential.id);
    if (held?.id !== actor.accountID) throw fail('credentialFailed');
    const counter = await signedCounter(ctx, held, credential, client, true);
    if (counter === undefined) throw fail('credentialFailed');
    await spendPresence(db, actor, client.challenge);
    const isAhead = await countUp(db, held.passkeyID, counter);
    // it signed in this person's name: they hear of it here as where it signs in
    if (isAhead === false) await tellCopied(ctx, held);
    if (!isAhead) throw fail('credentialFailed');
    codeWasRight(services, actor.accountID);
    const onePassKey = presenceKey(ctx);
    await sql`delete from login where hash = ${sha256(onePassKey)}`.execute(db);
    return { code: (await holdLogin(db, actor.accountID, { kind: 'twoFactor', type: types.none, onePassKey })).vcode };
  },
});
