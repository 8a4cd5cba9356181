/**
 * A certificate's document → its records: `c:<id>` the leaf with its key, `i:<hash>` each certificate above it. nginx reads them into
 * OpenSSL by edge/lua/tls/pairs.lua.
 */
import type { DocumentOf } from '#contract/edge/kinds/index.ts';

/** The private key of a certificate's document: DER in base64. @throws where the node cannot open it */
export type OpenKey = (document: DocumentOf<'certificate'>) => string;

export function certificateRecords(document: DocumentOf<'certificate'>, open: OpenKey): { key: string; value: string }[] {
  const { id, leaf, issuers, type, ocsp } = document;
  const own = { id, leaf, issuers: issuers.map(({ hash }) => hash), type, key: open(document), ...(ocsp ? { ocsp } : {}) };
  return [
    ...issuers.map(({ hash, der }) => ({ key: `i:${hash}`, value: JSON.stringify({ der }) })),
    { key: `c:${id}`, value: JSON.stringify(own) },
  ];
}
