/**
 * Where a customer's name leads, as resolvers say it: through which names, and to which addresses. Only the resolvers of this machine are
 * asked, or those that the installation names: never a server that a customer chose.
 */
import { getServers, Resolver } from 'node:dns/promises';
import { getDomain } from 'tldts';
import type { unseenReasons } from '#contract/limits.ts';

const lookMs = 2000;
const hopsMost = 8;
const serversMost = 8;

export interface Seen {
  /** names in order, without the first */
  through: string[];
  addresses: string[];
  /** who serves the zone that it lies in; none: nobody says */
  nameServers: string[];
}

export type Unseen = (typeof unseenReasons)[number];
/** What a resolver says that has been told something, or has found that it cannot be (`SERVFAIL`, `REFUSED` and kin); all else is silence. */
const answeredCodes = ['ESERVFAIL', 'EREFUSED', 'ENOTIMP', 'EFORMERR', 'EBADRESP'];

/** Or why nobody could say; `tooLate`: `signal` was aborted before. A wildcard is asked for by a name below it. */
export async function seenOf(domainName: string, resolvers: readonly string[], signal: AbortSignal): Promise<Seen | Unseen> {
  if (signal.aborted) return 'tooLate';
  const resolver = new Resolver({ timeout: lookMs, tries: 2 });
  resolver.setServers(resolvers.length ? resolvers : getServers());
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel);
  try {
    const seen = await follow(resolver, domainName);
    return signal.aborted ? 'tooLate' : seen;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

async function follow(resolver: Resolver, domainName: string): Promise<Seen | Unseen> {
  let unseen: Unseen = 'noAnswer';
  const none = <T>({ code = '' }: NodeJS.ErrnoException): T[] | undefined => {
    if (answeredCodes.includes(code)) unseen = 'failed';
    return code === 'ENODATA' || code === 'ENOTFOUND' ? [] : undefined;
  };
  const through: string[] = [];
  let now = domainName.replace(/^\*\./, 'a-name-of-the-wildcard.').toLowerCase();
  while (through.length < hopsMost) {
    const next = await resolver.resolveCname(now).catch(none<string>);
    if (!next) return unseen;
    const name = next[0]?.toLowerCase().replace(/\.$/, '');
    // one that comes back to itself leads nowhere
    if (name === undefined || name === now || through.includes(name)) break;
    through.push(name);
    now = name;
  }
  // a name below no suffix that is known may be a zone of the house, or lie in one
  const zone = getDomain(domainName.replace(/^\*\./, ''));
  const [four, six, servers] = await Promise.all([
    resolver.resolve4(now).catch(none<string>),
    resolver.resolve6(now).catch(none<string>),
    zone === null ? [] : resolver.resolveNs(zone).catch(() => []),
  ]);
  if (!four && !six && !through.length) return unseen;
  const nameServers = servers.map(one => one.toLowerCase().replace(/\.$/, '')).sort();
  return { through, addresses: [...(four ?? []), ...(six ?? [])], nameServers: nameServers.slice(0, serversMost) };
}
