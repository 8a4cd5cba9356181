/** Places where customers keep the DNS of their domains, and what is special about each when a name is to lead here. */
import { getDomain } from 'tldts';

/**
 * What the top of a zone can have there: `flattens`: a CNAME, which is followed for everybody. `alias`: a record of its own (ALIAS, ANAME).
 * `beside`: a CNAME, while nothing else of the name stands beside it. `redirect`: none of these; a redirect to another name. `unknown`: it differs.
 */
export type Top = 'flattens' | 'alias' | 'beside' | 'redirect' | 'unknown';

const all = {
  cloudflare: { top: 'flattens' },
  godaddy: { top: 'redirect' },
  namecheap: { top: 'alias' },
  // a target without a dot at its end is taken as a name in the zone itself
  gandi: { top: 'alias', hasDot: true },
  route53: { top: 'redirect' },
  aliyun: { top: 'beside' },
  dnspod: { top: 'beside' },
  hinet: { top: 'redirect' },
  pchome: { top: 'redirect' },
  other: { top: 'unknown' },
} as const satisfies Record<string, { top: Top; hasDot?: true }>;
export type Registrar = keyof typeof all;
export const registrars = Object.keys(all) as Registrar[]; // its own keys
export const registrarOf = (said: string | null): Registrar => registrars.find(one => one === said) ?? 'other';

/** Names of their name servers, as these are published; who is not here has none that tell it from others. */
const servers: Partial<Record<Registrar, RegExp>> = {
  cloudflare: /\.ns\.cloudflare\.com$/,
  godaddy: /\.domaincontrol\.com$/,
  namecheap: /\.registrar-servers\.com$/,
  gandi: /\.gandi\.net$/,
  route53: /\.awsdns-\d+\.(?:com|net|org|co\.uk)$/,
  aliyun: /\.(?:hichina|alidns)\.com$/,
  dnspod: /\.(?:dnspod\.(?:net|com)|dnsv[1-5]\.com)$/,
  hinet: /\.hinet\.net$/,
};
/** Whose name servers these all are; undefined: nobody's of them, or of several (somebody moves). */
export const servedBy = (names: readonly string[]): Registrar | undefined =>
  names.length ? registrars.find(one => names.every(name => servers[one]?.test(name))) : undefined;

const types = { flattens: 'CNAME', alias: 'ALIAS', beside: 'CNAME', redirect: null, unknown: 'ALIAS / ANAME' } as const;

export interface RecordAsked {
  /** the registered domain, as the provider calls the zone */
  zone: string;
  /** what is typed as its name: `www`; `@` for the top of the zone */
  host: string;
  isTop: boolean;
  /** null: there is no such record at the top, a redirect is made instead */
  type: string | null;
  target: string;
  top: Top;
}

/** The record as it is typed there. */
export function recordAsked(registrar: Registrar, domainName: string, cname: string): RecordAsked {
  // whose is it whose name is nobody's below any suffix: it may be a zone of the house
  const zone = getDomain(domainName.replace(/^\*\./, '')) ?? domainName;
  const isTop = zone === domainName;
  const given: { top: Top; hasDot?: true } = all[registrar];
  return {
    zone,
    host: isTop ? '@' : domainName.slice(0, -zone.length - 1),
    isTop,
    type: isTop ? types[given.top] : 'CNAME',
    target: given.hasDot ? `${cname}.` : cname,
    top: given.top,
  };
}
