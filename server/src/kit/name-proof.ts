/**
 * Whose a name is, as its own zone says it: a TXT record with a word of the installation about one account and this name. Nothing is kept;
 * a record that was set early is found at the first look, and a word is worth nothing to another account or at another name.
 */
import { getServers, Resolver } from 'node:dns/promises';
import type { NameProofState } from '#contract/limits.ts';
import type { Services } from './services.ts';

const lookMs = 2000;
/** The zone was asked and has no such record, or can have none of that length; whatever else fails says nothing of it. */
const saysNone = new Set(['ENODATA', 'ENOTFOUND', 'EBADNAME']);

const valueOf = (proof: string) => `breakwater-verification=${proof}`;

/** The record that shows it. `name` in lower case, in its A-labels (RFC 5890), without `*.` */
export const proofOf = ({ sealing }: Pick<Services, 'sealing'>, accountID: number, name: string) => ({
  record: `_breakwater.${name}`,
  value: valueOf(sealing.proofs(`${accountID} ${name}`)[0]!),
});

/** What the zone says of it now. Takes seconds where nobody answers, so it is asked before any transaction. */
export async function seenProof(
  { sealing, dns }: Pick<Services, 'sealing' | 'dns'>,
  accountID: number,
  name: string,
): Promise<NameProofState> {
  const resolver = new Resolver({ timeout: lookMs, tries: 1 });
  resolver.setServers(dns?.resolvers.length ? dns.resolvers : getServers());
  // words given under a key that the installation had before count on
  const wanted = new Set(sealing.proofs(`${accountID} ${name}`).map(valueOf));
  try {
    const texts = await resolver.resolveTxt(`_breakwater.${name}`);
    // strings of one record are one text (RFC 7208 3.3)
    return texts.some(parts => wanted.has(parts.join(''))) ? 'proven' : 'other';
  } catch (error) {
    // what node:dns throws
    return saysNone.has((error as NodeJS.ErrnoException).code ?? '') ? 'missing' : 'unanswered';
  }
}
