/**
 * What whoever holds the machine of the control plane does to accounts, in nobody's name (bin/account.ts): a new password, second factors
 * that were lost, what keeps an operator's people out. Each leaves a line where the account's own people and its operator read it, and what
 * touches one account is mailed to its person.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { loginTwoFactorTypes as types } from '#contract/limits.ts';
import { audit } from './kit/context.ts';
import { hashPassword, newToken } from './kit/crypto.ts';
import type { Change } from './kit/effects.ts';
import type { Sealing } from './kit/sealed.ts';
import { endAllSessions, endLinks, tellChanged } from './kit/session-end.ts';
import { type Database, type Db, row } from './store/db.ts';
import { readSetting, writeSetting } from './system/settings.ts';
import { type CodeReader, dropAuthenticator, factorOf, type FactorType, mailTaken, operatorOf } from './account/factors.ts';
import { takeIdentities } from './account/oidc.ts';
import { takePasskeys } from './account/passkeys.ts';

export interface Machine {
  database: Database;
  /** by which mails are kept; undefined: the installation's key is not at hand, and nobody is mailed */
  sealing: Sealing | undefined;
}
/** As `breakwater account list` shows one: an e-mail may stand in each area. */
export interface Named {
  email: string;
  area: string;
}
type Found = CodeReader & { twoFactor: FactorType };

/** @throws Error, for whoever typed it */
async function held(db: Db, { email, area }: Named): Promise<Found> {
  // held before it changes: whoever is signing in waits, and finds what they signed in by gone
  const found = await row<Found>(
    db,
    sql`select id, email, auth, coalesce("rootID", id) as "rootID", "parentClient", language, timezone, "twoFactor" from account
        where auth = ${area} and lower(email) = lower(${email}) and "deletedAt" is null for update`,
  );
  if (!found) throw new Error(`There is no account ${email} in the area ${area}. \`breakwater account list\` shows them all.`);
  return found;
}

interface Line {
  command: string;
  startedAt: number;
  changes: Change[];
}
async function writeDown(
  { database }: Machine,
  db: Db,
  account: Pick<CodeReader, 'auth' | 'rootID' | 'parentClient'>,
  line: Line,
): Promise<void> {
  const { auth: area, rootID } = account;
  await audit({ database }, db, {
    reqID: randomUUID(),
    actor: {
      accountID: null,
      email: 'console of the machine',
      proxyID: null,
      proxyName: null,
      clientID: operatorOf(account),
      area,
      rootID,
    },
    userID: area === 'user' ? rootID : null,
    method: 'CLI',
    url: line.command,
    permission: null,
    body: null,
    ip: '',
    changes: line.changes,
    status: 200,
    durationMs: performance.now() - line.startedAt,
    isKept: true,
  });
}

const mailed = async ({ sealing }: Machine, db: Db, id: number, template: 'factorTaken' | 'passwordSet') =>
  sealing !== undefined && (await mailTaken({ db, services: { sealing } }, id, template));

/** A new password, which ends the account's sessions. */
export async function renewPassword(machine: Machine, named: Named): Promise<{ password: string; isMailed: boolean }> {
  const startedAt = performance.now();
  const password = newToken(12);
  const hash = await hashPassword(password);
  return machine.database.db.transaction().execute(async db => {
    const account = await held(db, named);
    await sql`update account set password = ${hash}, "updatedAt" = now() where id = ${account.id}`.execute(db);
    await endAllSessions(db, account.id);
    await endLinks(db, account.id);
    const change = { table: 'account', id: account.id, before: { password: '***' }, after: { password: '***' } };
    await writeDown(machine, db, account, { command: `account password ${account.email}`, startedAt, changes: [change] });
    return { password, isMailed: await mailed(machine, db, account.id, 'passwordSet') };
  });
}

export interface Dropped {
  /** what it chose: a code by mail, an authenticator */
  hadFactor: FactorType;
  passkeys: number;
  identities: number;
  /** a code by mail all the same: the operator asks for one of everybody */
  isAsked: boolean;
  isMailed: boolean;
}
/** All that the account's sign-in takes beside the password, or in its place, and its sessions. The password stays. */
export async function dropFactors(machine: Machine, named: Named): Promise<Dropped> {
  const startedAt = performance.now();
  return machine.database.db.transaction().execute(async db => {
    const account = await held(db, named);
    const { id, twoFactor } = account;
    await dropAuthenticator(db, id);
    const [passkeys, identities] = [await takePasskeys(db, id), await takeIdentities(db, id)];
    const changes = [...passkeys, ...identities];
    if (twoFactor !== types.none) {
      await sql`update account set "twoFactor" = ${types.none}, "rowVersion" = "rowVersion" + 1, "updatedAt" = now() where id = ${id}`.execute(
        db,
      );
      changes.push({ table: 'account', id, before: { twoFactor }, after: { twoFactor: types.none } });
    }
    await endAllSessions(db, id);
    await writeDown(machine, db, account, { command: `account factors --drop ${account.email}`, startedAt, changes });
    return {
      hadFactor: twoFactor,
      passkeys: passkeys.length,
      identities: identities.length,
      isAsked: (await factorOf(db, account)) !== types.none,
      isMailed: changes.length > 0 && (await mailed(machine, db, id, 'factorTaken')),
    };
  });
}

interface Cleared {
  key: 'restrictGroupCIDRs' | 'accountVerify';
  value: [] | false;
  command: string;
}
/** Takes back what keeps the people of this client's operator out. */
export async function clearSetting(machine: Machine, email: string, { key, value, command }: Cleared): Promise<void> {
  const startedAt = performance.now();
  await machine.database.db.transaction().execute(async db => {
    const account = await row<{ rootID: number }>(
      db,
      sql`select coalesce("rootID", id) as "rootID" from account where auth = 'client' and lower(email) = lower(${email}) and "deletedAt" is null`,
    );
    if (!account) throw new Error(`There is no client ${email}. \`breakwater account list\` shows them all.`);
    const { rootID } = account;
    const before = await readSetting(db, rootID, key);
    await writeSetting(db, rootID, key, value);
    await writeDown(
      machine,
      db,
      { auth: 'client', rootID, parentClient: null },
      {
        command: `account ${command} ${email}`,
        startedAt,
        changes: [{ table: 'setting', id: rootID, before: { [key]: before }, after: { [key]: value } }],
      },
    );
    await tellChanged(db);
  });
}

/** Whoever holds the machine says whose the installation is, where its owner is gone. @throws Error, for whoever typed it */
export async function makeOwner(machine: Machine, email: string): Promise<void> {
  const startedAt = performance.now();
  await machine.database.db.transaction().execute(async db => {
    const account = await held(db, { email, area: 'client' });
    if (account.id !== account.rootID) throw new Error(`${email} is no operator itself: name its operator's own account.`);
    const before = await row<{ id: number; email: string; isGone: boolean }>(
      db,
      sql`select id, email, "deletedAt" is not null as "isGone" from account where "isOwner" for update`,
    );
    if (before && !before.isGone)
      throw new Error(
        before.id === account.id
          ? `${email} is the installation's owner.`
          : `The installation's owner is ${before.email}, and is there: its backups and settings are not taken from it.`,
      );
    await sql`update account set "isOwner" = false where "isOwner"`.execute(db);
    await sql`update account set "isOwner" = true, "updatedAt" = now() where id = ${account.id}`.execute(db);
    const changes = [{ table: 'account', id: account.id, before: { isOwner: false }, after: { isOwner: true } }];
    await writeDown(machine, db, account, { command: `account owner ${account.email}`, startedAt, changes });
    await tellChanged(db);
  });
}
