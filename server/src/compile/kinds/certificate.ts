import { belowSites, headOf, type Source } from '../source.ts';

export interface CertificateRow {
  siteID: number;
  /** DER in base64 */
  leaf: string;
  issuers: { hash: string; der: string }[];
  keyType: 'ec' | 'rsa';
  /** as the row has it: sealed with the installation's key; the relay seals it anew for the zone (bus/zone-keys.ts) */
  privateKey: string;
  /** DER in base64, and until when it is good: seconds since 1970 */
  ocsp: { answer: string; until: number } | null;
}

export const certificate: Source<'certificate', CertificateRow> = {
  text: belowSites(
    'certificate',
    'c',
    `jsonb_build_object('siteID', c."siteID", 'leaf', c.leaf, 'issuers', c.issuers, 'keyType', c."keyType", 'privateKey', c."privateKey",
      'ocsp', case when c.ocsp is not null then jsonb_build_object('answer', c.ocsp, 'until', floor(extract(epoch from c."ocspUntil"))) end)`,
    // what nobody shows takes no room on nodes
    `c."privateKey" is not null and exists (select from domain d where d."certificateID" = c.id and d."siteID" = c."siteID" and d."deletedAt" is null)`,
  ),
  compile: loaded => {
    const { siteID, leaf, issuers, keyType, privateKey, ocsp } = loaded.row;
    return {
      ...headOf(loaded),
      site: siteID,
      leaf,
      issuers: issuers.map(({ hash, der }) => ({ hash, der })),
      type: keyType,
      key: privateKey,
      ...(ocsp ? { ocsp } : {}),
    };
  },
};
