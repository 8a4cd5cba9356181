/**
 * Whether the world sees a record of ours: where its name leads (a customer may have delegated it with a CNAME), who has the last word on
 * it, and whether all of them that answer have it. An authority that issues certificates asks these, so it is asked to look after them.
 */
import { getServers, Resolver } from 'node:dns/promises';
import type { AddressPolicy } from '#contract/rules/address-policy.ts';

const timeoutMs = 2000;
const hopsMost = 5;
const serversMost = 8;
/** Of one server; they say the same. */
const addressesMost = 2;
const namedMost = 3;

export interface Looking {
  /** where origins, and so these servers too, may lie */
  policy: AddressPolicy;
  /** BREAKWATER_DNS_RESOLVERS: asked instead of the servers that have the last word; empty: those are asked */
  resolvers: readonly string[];
  /** who says which servers have the last word; default: whom this machine asks */
  machine?: readonly string[];
  /** of the servers that have the last word */
  port?: number;
}

const resolverOf = (servers: readonly string[]) => {
  const one = new Resolver({ timeout: timeoutMs, tries: 2 });
  one.setServers(servers);
  return one;
};
/** No such record, or nobody who says so. */
const none = (error: unknown): boolean => ['ENODATA', 'ENOTFOUND'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Where a name's records lie in the end. */
export async function leadsTo(name: string, { resolvers, machine = getServers() }: Looking): Promise<string> {
  const resolver = resolverOf(resolvers.length ? resolvers : machine);
  let now = name;
  for (let hops = 0; hops < hopsMost; hops++) {
    const next: string | undefined = (await resolver.resolveCname(now).catch(() => []))[0];
    if (!next || next.toLowerCase() === now) break;
    now = next.toLowerCase().replace(/\.$/, '');
  }
  return now;
}

/** Addresses of who has the last word on a zone; those that must not be connected to are none. */
async function serversOf(zone: string, { policy, machine = getServers(), port = 53 }: Looking): Promise<string[]> {
  const resolver = resolverOf(machine);
  const names = (await resolver.resolveNs(zone).catch(() => [])).slice(0, serversMost);
  const addresses = await Promise.all(
    names.map(async name => {
      const all = await Promise.all([resolver.resolve4(name).catch(() => []), resolver.resolve6(name).catch(() => [])]);
      return all
        .flat()
        .filter(address => policy.judge(address, port).allowed)
        .slice(0, addressesMost);
    }),
  );
  return addresses.flat().map(address => (address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`));
}

/** Undefined: all that answer have it. Else who does not, in words. */
export async function unseen(zone: string, name: string, value: string, looking: Looking): Promise<string | undefined> {
  const servers = looking.resolvers.length ? looking.resolvers : await serversOf(zone, looking);
  if (!servers.length) return `nobody says who serves ${zone}`;
  return unseenAt(servers, name, value);
}

const someOf = (servers: readonly string[]) =>
  servers.slice(0, namedMost).join(', ') + (servers.length > namedMost ? ` and ${servers.length - namedMost} more` : '');

export async function unseenAt(servers: readonly string[], name: string, value: string): Promise<string | undefined> {
  const found = await Promise.all(
    servers.map(async server => {
      try {
        const texts = await resolverOf([server]).resolveTxt(name);
        return texts.some(parts => parts.join('') === value) ? 'has' : 'lacks';
      } catch (error) {
        return none(error) ? 'lacks' : 'silent';
      }
    }),
  );
  const lacking = servers.filter((_, i) => found[i] === 'lacks');
  if (lacking.length) return `${someOf(lacking)} ${lacking.length === 1 ? 'does' : 'do'} not have it`;
  // those that say nothing say nothing to an authority either
  return found.includes('has') ? undefined : `none of ${someOf(servers)} answers`;
}
