import { sql } from 'kysely';
import type * as z from 'zod/mini';
import type { Holder, License, Offline } from '#contract/licence/licences.ts';
import { col, like, table } from '../kit/table.ts';

export type LicenseRow = z.output<typeof License> & { vendorID: number };
export type OfflineRow = z.output<typeof Offline> & { vendorID: number; issuedAt: string };

/** The vendor's templates. */
export const licenseTable = table<LicenseRow>()({
  table: 'license',
  scope: { tenant: [['vendorID']], owner: (actor, a) => sql`${col('vendorID', a)} = ${actor.rootID}` },
  sort: ['name', 'days', 'createdAt', 'updatedAt'],
  filters: { keyword: like('name') },
  unique: { license_name: 'duplicated' },
  extra: {
    holders: sql`select count(*) from "licenseOrder" o where o."licenseID" = t.id and not o."isGone" and o.kind = 'order'`,
  },
});

export const offlineTable = table<OfflineRow>()({
  table: 'offlineLicense',
  scope: { tenant: [['vendorID']], owner: (actor, a) => sql`${col('vendorID', a)} = ${actor.rootID}` },
  sort: ['name', 'expiredAt', 'registeredAt', 'createdAt', 'updatedAt'],
  filters: { keyword: like('name', 'serial', 'installationID') },
  follows: ['file', 'revision', 'serial', 'registeredAt', 'expiredAt'],
});

type OperatorRow = Pick<z.output<typeof Holder>, 'id' | 'email' | 'name' | 'version' | 'createdAt' | 'updatedAt' | 'deletedAt'>;
/** Operators: whom a licence is issued to. */
export const operatorTable = table<OperatorRow>()({
  table: 'account',
  scope: {
    tenant: [['rootID', 'id']],
    owner: (actor, a) => (actor.area === 'admin' ? sql`(${col('auth', a)} = 'client' and ${col('isRoot', a)})` : sql`false`),
  },
  sort: ['email', 'name', 'createdAt', 'updatedAt'],
  filters: { keyword: like('email', 'name') },
  secret: ['password'],
});
