/** Which addresses of a node are answered. Pure. */
import { parseIP } from '#contract/rules/address.ts';
import { strictPolicy } from '#contract/rules/address-policy.ts';

export interface Addressed {
  addresses: readonly string[];
  /** the families of them that are answered; left out: both */
  families?: ReadonlySet<4 | 6>;
}
/** What of its addresses is answered. */
export const addressesOf = ({ addresses, families }: Addressed, family: 4 | 6): string[] =>
  families?.has(family) === false ? [] : reachable(addresses).filter(address => parseIP(address)?.family === family);

/** Of a node that knows public addresses those alone: the others are of its own house. */
function reachable(addresses: readonly string[]): string[] {
  const open = addresses.filter(one => strictPolicy.judge(one, 443).allowed);
  return open.length ? open : [...addresses];
}
