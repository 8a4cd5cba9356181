/** What is noted of a document beside its record. */
import { isIP } from 'node:net';
import type { DomainDocument, EdgeDocument } from '#contract/edge/document.ts';

/** A domain whose origins are asked how they are; also where nothing hangs on it: what keeps nodes from verifying an origin is to be seen. */
export function wantsChecks(document: EdgeDocument): document is DomainDocument {
  if (!('originCheck' in document || 'originTLS' in document)) return false;
  const { originCheck, originTLS } = document;
  return (originCheck?.type ?? 'off') !== 'off' || (originTLS?.verify ?? 'off') !== 'off';
}

/** Host names of its origins. */
export function originNames(document: EdgeDocument): string[] {
  if (!('upstreams' in document)) return [];
  // of such a kind
  return [...new Set((document as DomainDocument).upstreams.map(upstream => upstream.address).filter(address => !isIP(address)))];
}

/** Who shares in what this node has few of: the customer, or the site where the document does not say whose it is; '': nobody. */
export function partyOf(document: EdgeDocument): string {
  if (!('upstreams' in document)) return '';
  const { owner, site } = document as DomainDocument; // as above
  return owner === undefined ? `site ${site}` : `owner ${owner}`;
}
