/** Mail servers, codes, links and second factors. */
import { areas } from '#contract/kit/areas.ts';
import { after } from 'node:test';
import { sql } from 'kysely';
import { holdLogin } from '#server/account/session.ts';
import { newToken, sha256 } from '#server/kit/crypto.ts';
import { writeSetting } from '#server/system/settings.ts';
import { newChallenge, presenceChallenge, signInChallenge } from '#server/account/passkey-challenges.ts';
import { handleOf } from '#server/account/passkey-handles.ts';
import { next } from '../generate.ts';
import { password } from '../../harness.ts';
import { PasskeyDevice } from '../../passkey-device.ts';
import { type Smtp, startSmtp } from '../../smtp.ts';
import type { Rig, Rows, World } from '../world.ts';
import { namesAreTheirs } from './system.ts';
import type { Area } from '#contract/kit/call.ts';

/** Every operator has a server: nobody looks whether it takes the mails. */
async function mailsGo(rig: Rig): Promise<void> {
  await sql`insert into "mailServer" ("clientID", host, "fromAddress")
    select a.id, 'mail.example.net', 'noreply@example.net' from account a where a.auth = 'client' and a."isRoot"
      and not exists (select from "mailServer" s where s."clientID" = a.id and s."deletedAt" is null)`.execute(
    rig.api.database.db,
  );
}

/** Their sign-in takes no code, so nothing else does. */
async function asksNoCode(rig: Rig, { people }: World): Promise<void> {
  const { db } = rig.api.database;
  const ids = Object.values(people).map(person => person.id);
  await sql`update account set "twoFactor" = 2 where id = any(${ids})`.execute(db);
  await writeSetting(db, people.client.id, 'accountVerify', false);
}

let smtp: Promise<Smtp> | undefined;
/** Every operator has a server that answers. */
async function mailsArrive(rig: Rig): Promise<void> {
  await mailsGo(rig);
  smtp ??= startSmtp({ startTLS: false });
  await sql`update "mailServer" set host = '127.0.0.1', port = ${(await smtp).port}, security = 'none', username = '', password = null`.execute(
    rig.api.database.db,
  );
}
after(async () => (await smtp)?.stop());

/** One that signs in: its row, and the device. */
async function passkeyOf(rig: Rig, world: World, area: Area) {
  const device = new PasskeyDevice();
  const accountID = world.people[area].id;
  device.userHandle = await handleOf(rig.api.database.db, accountID);
  const id = await rig.insert('passkey', {
    accountID,
    name: `${world.name}-${next()}`,
    credentialID: device.id,
    publicKey: device.publicKey,
    counter: 0,
    host: 'console.test',
    isSynced: false,
  });
  return { id, device };
}

export const mailRows: Rows = {
  make: {
    passkey: async (rig, world, area) => (await passkeyOf(rig, world, area)).id,
    mailServer: (rig, { name, people }) =>
      rig.insert('mailServer', {
        clientID: people.client.id,
        host: 'mail.example.net',
        fromAddress: 'noreply@example.net',
        fromName: name,
      }),
  },
  kindOfField: { passkeyID: 'passkey' },
  kindOfCall: { 'POST /{area}/account/resendEmail': 'account' },
  bodies: {
    'PUT /client/setting/system/accountVerify': async () => ({ enabled: false }),
    'POST /{area}/code': async (rig, { people }, area) => ({
      onePassKey: (await holdLogin(rig.api.database.db, people[area].id)).onePassKey,
      email: people[area].email,
    }),
    'POST /{area}/account/passkey/options': async () => ({ password }),
    'POST /{area}/account/passkey': async (rig, world, area) => {
      const challenge = await newChallenge(rig.api.database.db, area, world.people[area].id);
      return new PasskeyDevice().create({ challenge, user: { id: 'x' } }, `${world.name}-${next()}`);
    },
    'DELETE /{area}/account/passkey': async (rig, world, area) => ({
      passkeyID: await rig.fresh(world, 'passkey', area),
      password,
    }),
    'POST /{area}/passkey/verify': async (rig, world, area) => {
      const { device } = await passkeyOf(rig, world, area);
      return device.get({ challenge: signInChallenge(rig.api.services.sealing, area) });
    },
    'POST /{area}/account/presence/code': async (rig, world, area) => {
      const { device } = await passkeyOf(rig, world, area);
      const whose = await rig.api.sessions.actor(world.people[area].token, '127.0.0.1');
      return device.get({ challenge: presenceChallenge(rig.api.services.sealing, whose) });
    },
    'POST /{area}/login2fa/phase0': async () => ({ password }),
    'POST /{area}/login2fa/phase1': async (rig, { people }, area) => ({
      onePassKey: (await holdLogin(rig.api.database.db, people[area].id, { kind: 'twoFactor' })).onePassKey,
      type: 1,
    }),
    'POST /{area}/login2fa/phase2': async (rig, { people }, area) => {
      const { db } = rig.api.database;
      const { onePassKey, vcode } = await holdLogin(db, people[area].id, { kind: 'twoFactor' });
      await sql`update login set wanted = 2 where hash = ${sha256(onePassKey)}`.execute(db);
      return { onePassKey, code: vcode };
    },
    'POST /token/check': async () => ({ token: 'x' }),
    'POST /register/password': async (rig, world) => {
      const token = newToken();
      const accountID = await rig.fresh(world, 'account', 'client');
      await sql`insert into "mailLink" (hash, "accountID", "expiredAt") values (${sha256(token)}, ${accountID}, now() + interval '1 hour')`.execute(
        rig.api.database.db,
      );
      return { token, password };
    },
    'PUT /client/setting/email': async (_rig, { name }) => ({
      host: 'mail.example.net',
      port: 587,
      security: 'starttls',
      username: '',
      fromAddress: 'noreply@example.net',
      fromName: name,
      ownPassword: password,
    }),
  },
  stage: {
    'POST /{area}/account/presence/challenge': async (rig, world) => {
      for (const area of areas) await passkeyOf(rig, world, area);
    },
    'POST /{area}/account/passkey/options': asksNoCode,
    'PUT /client/setting/email': asksNoCode,
    'PUT /client/setting/system/outgoingURL': async (rig, world) => {
      await asksNoCode(rig, world);
      await namesAreTheirs(rig, world);
    },
    'PUT /client/setting/system/DBBackup': asksNoCode,
    // else it changes nothing
    'PUT /client/setting/system/accountVerify': async (rig, { people }) =>
      void (await writeSetting(rig.api.database.db, people.client.id, 'accountVerify', true)),
    'POST /client/setting/email/test': mailsArrive,
    'POST /{area}/code': mailsGo,
    'POST /{area}/account/resendEmail': mailsGo,
    'POST /{area}/login2fa/phase2': async (rig, { people }, _body, _ids) => {
      await mailsGo(rig);
      const ids = Object.values(people).map(person => person.id);
      // else it changes nothing
      await sql`update account set "twoFactor" = 0 where id = any(${ids})`.execute(rig.api.database.db);
    },
  },
};
