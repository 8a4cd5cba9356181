import { sql } from 'kysely';
import type * as z from 'zod/mini';
import type { Account, Self } from '#contract/account/session.ts';
import type { Role } from '#contract/account/accounts.ts';
import { col, eq, like, table } from '../kit/table.ts';

export type AccountRow = z.output<typeof Account> & {
  rootID: number | null;
  lockedBy: number | null;
  password: string | null;
  /** kit/owner.ts */
  isOwner: boolean;
};
export type SelfRow = z.output<typeof Self>;
export type RoleRow = z.output<typeof Role> & { rootID: number; makerID: number | null };

/** Of an account: the operator, and the tree it stands in. A root names itself once it is made. */
const tenant = [
  ['parentClient', 'rootID', 'id'],
  ['rootID', 'id'],
] as const;

/** The accounts an actor may manage: an admin all of them, an operator its sub-accounts and customers, a customer its sub-users. */
export const accountTable = table<AccountRow>()({
  table: 'account',
  scope: {
    tenant,
    owner: (actor, a) =>
      actor.area === 'admin'
        ? sql`true`
        : actor.area === 'client'
          ? sql`(${col('rootID', a)} = ${actor.rootID} or ${col('parentClient', a)} = ${actor.rootID})`
          : sql`${col('rootID', a)} = ${actor.rootID}`,
  },
  sort: ['email', 'name', 'status', 'expired', 'grade', 'createdAt', 'updatedAt'],
  filters: {
    auth: eq('auth'),
    // its customers with theirs, and its own sub-accounts
    client: (value: number, a) =>
      sql`(${col('parentClient', a)} = ${value} or (${col('auth', a)} = 'client' and ${col('rootID', a)} = ${value} and not ${col('isRoot', a)}))`,
    status: eq('status'),
    name: like('name', 'email'),
    roleID: eq('roleID'),
  },
  unique: { account_email: 'duplicateEmail' },
  follows: ['lockedBy'],
  secret: ['password'],
});

/** One's own row. */
export const selfTable = table<AccountRow>()({
  table: 'account',
  scope: { tenant, owner: (actor, a) => sql`${col('id', a)} = ${actor.accountID}` },
  secret: ['password'],
});

/** Root customers of an operator: whom a site can be sold to. */
export const customerTable = table<AccountRow>()({
  ...accountTable,
  scope: {
    tenant,
    owner: (actor, a) =>
      sql`${col('auth', a)} = 'user' and ${col('isRoot', a)} and ${col('parentClient', a)} = ${actor.clientID}`,
  },
});

/** Accounts of a customer's tree: whom a site can be shown to. */
export const memberTable = table<AccountRow>()({
  ...accountTable,
  scope: {
    tenant,
    owner: (actor, a) =>
      actor.area === 'client'
        ? sql`${col('auth', a)} = 'user' and ${col('parentClient', a)} = ${actor.rootID}`
        : sql`${col('auth', a)} = 'user' and ${col('rootID', a)} = ${actor.rootID}`,
  },
});

/** Sub-accounts of an operator: who sees the zones that are assigned to them. */
export const subClientTable = table<AccountRow>()({
  ...accountTable,
  scope: {
    tenant,
    owner: (actor, a) => sql`${col('auth', a)} = 'client' and not ${col('isRoot', a)} and ${col('rootID', a)} = ${actor.rootID}`,
  },
});

export const roleTable = table<RoleRow>()({
  table: 'role',
  scope: { tenant: [['rootID']], owner: (actor, a) => sql`${col('rootID', a)} = ${actor.rootID}` },
  sort: ['name', 'createdAt', 'updatedAt'],
  filters: { name: like('name') },
  extra: { holders: sql`(select count(*)::int from account h where h."roleID" = t.id and h."deletedAt" is null)` },
  unique: { role_name: 'duplicated' },
});
