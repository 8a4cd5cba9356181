import { sql } from 'kysely';
import type * as z from 'zod/mini';
import type { Certificate } from '#contract/domain/certificates.ts';
import { certificateLimits } from '#contract/limits.ts';
import { like, table } from '../../kit/table.ts';
import { siteTable } from '../../site/tables.ts';

export type CertificateRow = z.output<typeof Certificate>;

export const certificateTable = table<CertificateRow>()({
  table: 'certificate',
  scope: { parent: siteTable, column: 'siteID' },
  sort: ['sslName', 'type', 'issuer', 'notAfter', 'createdAt', 'updatedAt'],
  filters: { sslName: like('sslName') },
  most: certificateLimits.perSite,
  bytesMax: certificateLimits.bytesPerSite,
  // one that an authority makes for a domain by itself is bounded by the domains there are
  counted: { column: 'type', value: 'manual' },
  forgets: true,
  edge: { kind: 'certificate', column: 'id' },
  sealed: ['privateKey'],
  // of the certificate itself, and what nodes get of it
  secret: ['leaf', 'issuers', 'ocsp', 'ocspAskAt', 'ocspTries', 'ocspWhy'],
  follows: [
    'names',
    'issuer',
    'serial',
    'fingerprint',
    'keyType',
    'keyBits',
    'notBefore',
    'notAfter',
    'isWhole',
    'leaf',
    'issuers',
    'ocsp',
    'ocspUntil',
    'ocspAskAt',
    'ocspTries',
    'ocspWhy',
  ],
  extra: {
    ocspState: sql`case when t."ocspWhy" = 'revoked' then 'revoked' when t.ocsp is not null and t."ocspUntil" > now() then 'stapled'
      when t."ocspWhy" <> '' then 'failed' when t."ocspAskAt" is null then 'none' else 'waiting' end`,
    ocspError: sql`case when t."ocspWhy" = 'revoked' then '' else t."ocspWhy" end`,
    daysLeft: sql`floor(extract(epoch from t."notAfter" - now()) / 86400)::int`,
    domainIDs: sql`select coalesce(jsonb_agg(d.id order by d.id), '[]') from domain d where d."certificateID" = t.id and d."deletedAt" is null`,
  },
});
