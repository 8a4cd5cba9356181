/** Of licences (decisions.md, Licences). */

/** How an operator came by what it may: nothing was ever issued, an order of the vendor's, a signed file. */
export const licenceKinds = ['unlimited', 'order', 'offline'] as const;
/** `missing`: the last one was taken away; `illegal`: the file is edited, of a foreign key or installation, or the clock was set back. */
export const licenceStates = ['valid', 'expired', 'missing', 'illegal'] as const;
/** What is counted against a licence. */
export const licensed = ['sites', 'nodes', 'zones', 'domains', 'autoSSL'] as const;
export type Licensed = (typeof licensed)[number];
/** A clock may be that far behind what was seen of it before: machines differ, and are set right. */
export const licenceClockMinutes = 15;
/** A licence that ends is told of that many days before. */
export const licenceEndsSoonDays = 30;
