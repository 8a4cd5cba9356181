/**
 * Passkeys (WebAuthn Level 3): one's own, and signing in by one. Its authenticator has seen who it is, so a passkey is both factors. It is
 * bound to a host: one of the installation, or of the account's own operator; another operator's host could ask for it in their name.
 */
import { sql } from 'kysely';
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import { decodeAttestationObject, isoBase64URL, isoCBOR } from '@simplewebauthn/server/helpers';
import { fail, failFields } from '#contract/errors.ts';
import type { SignInReason } from '#contract/states-audit.ts';
import { passkeyLogin, passkeys, transports } from '#contract/account/passkeys.ts';
import { deviceMailsMax, passkeys as limits } from '#contract/limits.ts';
import { statusOf, withRoots } from '../kit/acting.ts';
import { consoleOrigins } from '../kit/console-url.ts';
import type { Context } from '../kit/context.ts';
import type { Change } from '../kit/effects.ts';
import { tooManySignIns } from '../kit/hashing.ts';
import { implement } from '../kit/implement.ts';
import type { MailData } from '../kit/mail/texts.ts';
import { mailTime } from '../kit/mail/mail-time.ts';
import { sendMail } from '../kit/mail/send.ts';
import { neighbourhoods } from '../kit/networks.ts';
import type { Incoming } from '../kit/request.ts';
import { unknownID } from '../kit/store.ts';
import { table } from '../kit/table.ts';
import { type Db, row, rows } from '../store/db.ts';
import { auditSignIn, type Comer, enter, knownDevice, mayCome, type Said, triesOf } from './entering.ts';
import { type CodeReader, operatorOf } from './factors.ts';
import { ownFactor, readerOf } from './own-factor.ts';
import { judgeSignIn, newChallenge, signInChallenge, spendSignIn, takeChallenge } from './passkey-challenges.ts';
import { handleOf, isHandleOf } from './passkey-handles.ts';
import { ownPassword } from './session.ts';

type Transport = (typeof transports)[number];
interface PasskeyRow {
  id: number;
  name: string;
  host: string;
  isSynced: boolean;
  createdAt: string;
  lastUsedAt: string | null;
}
// read and written here alone
table()({ table: 'passkey', scope: { tenant: [['accountID']], owner: () => sql`false` }, soft: false });

/** All of an account. */
export const takePasskeys = async (db: Db, accountID: number): Promise<Change[]> =>
  (
    await rows<{ id: number; name: string; host: string }>(
      db,
      sql`delete from passkey where "accountID" = ${accountID} returning id, name, host`,
    )
  ).map(({ id, ...before }) => ({ table: 'passkey', id, before }));
/** The same by whoever manages it: what was opened by them ends, as when their person removes one. */
export async function dropPasskeys(ctx: Context, accountID: number): Promise<boolean> {
  const gone = await takePasskeys(ctx.db, accountID);
  for (const one of gone) ctx.note(one);
  if (gone.length) await ctx.services.sessions.endAll(ctx.db, accountID);
  return gone.length > 0;
}

export const timeout = limits.challengeMinutes * 60_000;
// COSE (RFC 9053): Ed25519, P-256, RSA
const algorithms = [-8, -7, -257] as const;

interface ClientData {
  /** base64url, as the authenticator signed it */
  challenge: string;
  origin: string;
}
/** What the browser says it was asked and where (WebAuthn 5.8.1); the library judges the rest of it. */
export function clientDataOf(encoded: string, refusal: 'invalidToken' | 'credentialFailed'): ClientData {
  try {
    const said = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8')) as Record<string, unknown>;
    const { challenge, origin, crossOrigin } = said;
    // nobody shows us in a frame: the library lets that pass where the browser does not say whose frame it is
    if (typeof challenge === 'string' && typeof origin === 'string' && crossOrigin !== true) return { challenge, origin };
  } catch {
    // as below
  }
  throw fail(refusal);
}

async function tell<T extends 'passkeyOn' | 'passkeyOff' | 'passkeyCopied'>(
  ctx: Context,
  account: CodeReader,
  template: T,
  data: MailData[T],
): Promise<void> {
  const { email: to, language, rootID } = account;
  await sendMail(ctx.db, ctx.services, { operatorID: operatorOf(account), rootID, to, language, template, data });
}

/** RFC 9110 7.2: compared without case */
export const hostOf = ({ host }: Pick<Incoming, 'host'>) => host.toLowerCase().slice(0, 255);

/** Whoever acts in another's name has no business with what the other signs in by. */
export function ownOnly({ actor }: Context): void {
  if (actor.proxyName) throw fail('permissionDenied');
}

/** A new credential that the authenticator of this person made, at a host of theirs. */
interface Made {
  credentialID: string;
  publicKey: Buffer;
  counter: number;
  host: string;
  isSynced: boolean;
}

async function verifiedNew(ctx: Context, given: NewCredential): Promise<Made> {
  const said = clientDataOf(given.response.clientDataJSON, 'invalidToken');
  await takeChallenge(ctx.db, said.challenge, ctx.actor.area, ctx.actor.accountID);
  const host = URL.parse(said.origin)?.hostname ?? '';
  const origins = await consoleOrigins(ctx.db, ctx.services, operatorOf(await readerOf(ctx)), host);
  try {
    // nothing is asked about who made the authenticator: what it says of that, certificates that name addresses to look at, is not read
    const authData = decodeAttestationObject(isoBase64URL.toBuffer(given.response.attestationObject)).get('authData');
    const bare = isoCBOR.encode(
      new Map<string, string | Uint8Array | Map<string, string>>([
        ['fmt', 'none'],
        ['attStmt', new Map<string, string>()],
        ['authData', authData],
      ]),
    );
    const { registrationInfo } = await verifyRegistrationResponse({
      response: {
        id: given.id,
        rawId: given.rawId,
        type: given.type,
        clientExtensionResults: {},
        response: { clientDataJSON: given.response.clientDataJSON, attestationObject: isoBase64URL.fromBuffer(bare) },
      },
      expectedChallenge: said.challenge,
      expectedOrigin: origins,
      expectedRPID: host,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...algorithms],
    });
    if (!registrationInfo || registrationInfo.credential.id !== given.id) throw fail('invalidToken');
    const { credential, credentialBackedUp } = registrationInfo;
    const { id, publicKey, counter } = credential;
    return { credentialID: id, publicKey: Buffer.from(publicKey), counter, host, isSynced: credentialBackedUp };
  } catch {
    throw fail('invalidToken');
  }
}
interface NewCredential {
  id: string;
  rawId: string;
  type: 'public-key';
  response: { clientDataJSON: string; attestationObject: string };
}

export const passkeyCalls = implement(
  passkeys,
  {
    'GET /passkeys': async ({ ctx }) => {
      ownOnly(ctx);
      return {
        passkeys: await rows<PasskeyRow>(
          ctx.db,
          sql`select id, name, host, "isSynced", "createdAt", "lastUsedAt" from passkey where "accountID" = ${ctx.actor.accountID} order by id`,
        ),
      };
    },

    'POST /passkey/options': async ({ ctx, request }) => {
      const self = await readerOf(ctx);
      const host = hostOf(request);
      if (!(await consoleOrigins(ctx.db, ctx.services, operatorOf(self), host)).length)
        throw failFields([{ path: '', rule: 'passkeyHost' }]);
      const held = await rows<{ id: string; transports: Transport[] }>(
        ctx.db,
        sql`select "credentialID" as id, transports from passkey where "accountID" = ${self.id} and host = ${host}`,
      );
      return {
        rp: { id: host, name: host },
        user: { id: await handleOf(ctx.db, self.id), name: self.email, displayName: self.name },
        challenge: await newChallenge(ctx.db, self.auth, self.id),
        pubKeyCredParams: algorithms.map(alg => ({ alg, type: 'public-key' as const })),
        timeout,
        excludeCredentials: held.map(one => ({ ...one, type: 'public-key' as const })),
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
        attestation: 'none',
      };
    },

    'POST /passkey': async ({ ctx, body, prepared }) => {
      const { credentialID, publicKey, counter, host, isSynced } = prepared as Made; // what `prepare` of this call verified
      const self = await readerOf(ctx);
      // its row is held, as is that of its root: of two at once the second sees the first
      await sql`select 1 from account where id = ${self.id} for no key update`.execute(ctx.db);
      const { n } = (await row<{ n: number }>(
        ctx.db,
        sql`select count(*)::int as n from passkey where "accountID" = ${self.id}`,
      ))!;
      if (n >= limits.perAccountMax) throw failFields([{ path: '', rule: 'tooMany', bounds: { n: limits.perAccountMax } }]);
      const known = new Set<string>(transports);
      const told = body.credential.response.transports?.filter(one => known.has(one)) ?? [];
      const made = await row<{ id: number }>(
        ctx.db,
        sql`insert into passkey ("accountID", name, "credentialID", "publicKey", counter, transports, host, "isSynced")
            values (${self.id}, ${body.name}, ${credentialID}, ${publicKey}, ${counter}, ${told}::text[], ${host}, ${isSynced})
            on conflict ("credentialID") do nothing returning id`,
      );
      if (!made) throw fail('duplicated');
      ctx.note({ table: 'passkey', id: made.id, after: { name: body.name, host } });
      await tell(ctx, self, 'passkeyOn', { time: mailTime(self), name: body.name });
      return made;
    },

    'DELETE /passkey': async ({ ctx, body }) => {
      const self = await readerOf(ctx);
      // whoever is signing in by it holds its row until the session stands: that session ends too
      const gone = await row<{ name: string; host: string }>(
        ctx.db,
        sql`delete from passkey where id = ${body.passkeyID} and "accountID" = ${self.id} returning name, host`,
      );
      if (!gone) throw unknownID('passkeyID');
      ctx.note({ table: 'passkey', id: body.passkeyID, before: gone });
      await ctx.services.sessions.endAll(ctx.db, self.id, ctx.actor.sessionID);
      await tell(ctx, self, 'passkeyOff', { time: mailTime(self), name: gone.name });
      return {};
    },
  },
  {
    prepare: {
      'POST /passkey/options': async ({ ctx, body, request }) => {
        await ownPassword(ctx, request, body.password, 'password');
        // it will be both factors
        await ownFactor(ctx, body.code);
      },
      // outside of the transaction: a challenge is spent whatever becomes of the call
      'POST /passkey': ({ ctx, body }) => {
        ownOnly(ctx);
        return verifiedNew(ctx, body.credential);
      },
      'DELETE /passkey': ({ ctx, body, request }) => ownPassword(ctx, request, body.password, 'password'),
    },
  },
);

interface Held extends Comer {
  passkeyID: number;
  publicKey: Buffer;
  host: string;
}
export const heldBy = (db: Db, credentialID: string) =>
  row<Held>(
    db,
    sql`select p.id as "passkeyID", p."publicKey", p.host, a.id, a.password, ${statusOf} as status, root.id as "rootID", a."parentClient",
          a.email, a.auth, a.language, a.timezone
        from passkey p join account a on a.id = p."accountID" ${withRoots}
        where p."credentialID" = ${credentialID} and a."deletedAt" is null and root."deletedAt" is null`,
  );

export const passkeyLoginCalls = implement(passkeyLogin, {
  'POST /challenge': async ({ ctx, request }) => {
    const { tries } = ctx.services.sessions;
    // pages of the sign-in ask by themselves: an office opens many
    const wait = tries.take(
      neighbourhoods(ctx.ip).map((network, n) => ({
        key: `challenge ${network}`,
        free: limits.challengesFreeOfAddress * (n === 0 ? 3 : 1),
        halvesMs: 60_000,
      })),
    );
    if (wait) throw tooManySignIns(wait.seconds);
    return {
      challenge: signInChallenge(ctx.services.sealing, ctx.actor.area),
      timeout,
      rpId: hostOf(request) || 'localhost',
      userVerification: 'required',
    };
  },

  'POST /verify': async ({ ctx, body, request }) => {
    const { area } = ctx.actor;
    const { sessions } = ctx.services;
    const { credential } = body;
    const found = await heldBy(ctx.db, credential.id);
    // another area's is as unknown as nobody's
    const held = found?.auth === area ? found : undefined;
    const said: Said = (status, reason) => auditSignIn(ctx, 'passkey/verify', held, held?.email ?? '', status, reason);
    const device = knownDevice(ctx, held, request);
    const claims = triesOf(ctx.ip, device, { key: 'passkey', free: limits.triesFreeOfAddress });
    const wait = sessions.tries.take(claims);
    if (wait) {
      if (wait.isFirst) await said(429, 'tooManyTries');
      throw tooManySignIns(wait.seconds);
    }
    const client = clientDataOf(credential.response.clientDataJSON, 'credentialFailed');
    judgeSignIn(ctx.services.sealing, client.challenge, area);
    const refused = async (reason: SignInReason) => {
      await said(401, reason);
      return fail('credentialFailed');
    };
    if (!held) throw await refused('unknownPasskey');
    const counter = await signedCounter(ctx, held, credential, client);
    if (counter === undefined) throw await refused('wrongPasskey');
    await spendSignIn(ctx.db, client.challenge, area);
    await mayCome(ctx, held, request, said);
    let isCopied = false;
    const tokens = await enter(ctx, held, request, {
      said,
      how: device ? 'signedIn byPasskey knownDevice' : 'signedIn byPasskey',
      right: () => sessions.tries.giveBack(claims),
      open: () =>
        ctx.services.database.doors.transaction().execute(async db => {
          const isAhead = await countUp(db, held.passkeyID, counter);
          isCopied = isAhead === false;
          return isAhead ? sessions.openWith(db, held.id, held.password, request) : undefined;
        }),
    });
    if (tokens) return tokens;
    if (isCopied) await tellCopied(ctx, held);
    throw await refused(isCopied ? 'passkeyCopied' : 'passwordChanged');
  },
});

/** Its person, by mail, and not as often as somebody tries. */
export async function tellCopied(ctx: Context, held: Held): Promise<void> {
  if (!ctx.services.sessions.tries.take([{ kind: 'account', key: `passkey copied ${held.id}`, free: deviceMailsMax }]))
    await tell(ctx, held, 'passkeyCopied', { time: mailTime(held), ip: ctx.ip });
}

/**
 * An authenticator that counts counts up: of two that have the same key one is behind (WebAuthn 6.1.1), which is answered by false.
 * Undefined: it was removed meanwhile.
 */
export const countUp = async (db: Db, passkeyID: number, counter: number): Promise<boolean | undefined> =>
  (
    await row<{ isAhead: boolean }>(
      db,
      sql`update passkey p set counter = greatest(p.counter, ${counter}), "lastUsedAt" = case when b.ahead then now() else p."lastUsedAt" end
          from (select id, counter < ${counter} or (counter = 0 and ${counter} = 0) as ahead from passkey where id = ${passkeyID} for update) b
          where p.id = b.id returning b.ahead as "isAhead"`,
    )
  )?.isAhead;

/**
 * What the authenticator counted up to; undefined: it is not the passkey's, not its person's, not of here, or nobody was seen. `isNamed`: it
 * was asked for by its id, so that it need not say whose it is.
 */
export async function signedCounter(
  ctx: Context,
  held: Held,
  { id, rawId, type, response: { userHandle, ...response } }: SignedCredential,
  client: ClientData,
  isNamed = false,
): Promise<number | undefined> {
  if (userHandle ? !(await isHandleOf(ctx.db, ctx.services.sealing, held.id, userHandle)) : !isNamed) return undefined;
  // the host may have been given to another operator meanwhile
  const origins = await consoleOrigins(ctx.db, ctx.services, operatorOf(held), held.host);
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { id, rawId, type, clientExtensionResults: {}, response: { ...response, ...(userHandle ? { userHandle } : {}) } },
      expectedChallenge: client.challenge,
      expectedOrigin: origins,
      expectedRPID: held.host,
      requireUserVerification: true,
      // whether it went back is looked at where it is written
      credential: { id, publicKey: new Uint8Array(held.publicKey), counter: 0 },
    });
    return verified ? authenticationInfo.newCounter : undefined;
  } catch {
    return undefined;
  }
}
interface SignedCredential {
  id: string;
  rawId: string;
  type: 'public-key';
  response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string | null | undefined };
}
