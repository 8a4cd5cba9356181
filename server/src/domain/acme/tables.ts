import { sql } from 'kysely';
import type * as z from 'zod/mini';
import type { AutoCertificate } from '#contract/domain/auto-certificates.ts';
import { table } from '../../kit/table.ts';
import { domainTable } from '../tables.ts';

export type AutoCertificateRow = z.output<typeof AutoCertificate>;

export const autoCertificateTable = table<AutoCertificateRow>()({
  table: 'autoCertificate',
  scope: { parent: domainTable, column: 'domainID' },
  sort: ['state', 'attempts', 'nextAt', 'createdAt', 'updatedAt'],
  // how far it is: nobody sends that
  follows: ['way', 'state', 'attempts', 'error', 'certificateID'],
  extra: {
    domainName: sql`select "domainName" from domain d where d.id = t."domainID"`,
    siteID: sql`select "siteID" from domain d where d.id = t."domainID"`,
    siteName: sql`select s."siteName" from domain d join site s on s.id = d."siteID" where d.id = t."domainID"`,
    notAfter: sql`select "notAfter" from certificate c where c.id = t."certificateID" and c."deletedAt" is null`,
    inUse: sql`select count(*) from domain d where d."certificateID" = t."certificateID" and d."deletedAt" is null`,
  },
});

// Declared for the keys they seal, which are sealed anew when the installation's key changes; nobody is shown a row of them.
export const acmeOrderTable = table()({
  table: 'acmeOrder',
  scope: { parent: domainTable, column: 'domainID' },
  soft: false,
  sealed: ['privateKey'],
});
export const acmeAccountTable = table()({
  table: 'acmeAccount',
  scope: { tenant: [['clientID']], owner: (actor, a) => sql`${sql.ref(`${a}.clientID`)} = ${actor.clientID ?? actor.rootID}` },
  soft: false,
  sealed: ['privateKey'],
});
