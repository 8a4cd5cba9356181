/** Records that the embedded name server holds of a zone and of a group. */
import * as dns from '../domain/dns/message.ts';
import type { GroupAnswer, NameZone } from './driver.ts';
import { addressOf, inZone } from './knot-files.ts';
import { groupName, lineZone, ttl, versionName } from './names.ts';
import { add, type Change, drop } from './updates.ts';

export function emptied(zone: string, groupID: number): Change[] {
  const name = groupName(zone, groupID);
  return [
    ...[dns.types.A, dns.types.AAAA, dns.types.CNAME].map(type => drop(name, type)),
    drop(versionName(zone, groupID), dns.types.TXT),
  ];
}
export function setsOf(zone: string, group: GroupAnswer): Change[] {
  const { groupID, version } = group;
  const { a, aaaa, cname } = inZone(group);
  const name = groupName(zone, groupID);
  return [
    add(versionName(zone, groupID), dns.types.TXT, ttl.version, dns.textData(String(version))),
    ...(cname === null
      ? [
          ...a.map(one => add(name, dns.types.A, ttl.group, dns.addressData(one))),
          ...aaaa.map(one => add(name, dns.types.AAAA, ttl.group, dns.addressData(one))),
        ]
      : [add(name, dns.types.CNAME, ttl.group, dns.nameBytes(cname))]),
  ];
}

interface Server {
  name: string;
  addresses: readonly string[];
}
/** Whoever has named no name servers of a zone: this machine by a name in the zone. */
export const serversOf = ({ name, nameServers }: NameZone, addresses: readonly string[]): readonly Server[] =>
  nameServers.length ? nameServers : [{ name: `ns1.${name}`, addresses }];

/** Name → its records, as the server's control writes them. */
export function apexOf(zone: NameZone, name: string, servers: readonly Server[]): Map<string, string[]> {
  const names = servers.map(one => `NS ${one.name}.`);
  // sets: what stands there twice is refused
  const wanted = new Map([[name, new Set(names)]]);
  if (name === zone.name) {
    wanted.set(lineZone(zone.name), new Set(names));
    for (const { name: server, addresses } of servers) {
      if (!addresses.length || (server !== zone.name && !server.endsWith(`.${zone.name}`))) continue;
      const known = wanted.get(server) ?? new Set();
      for (const one of addresses.map(addressOf)) known.add(`${one.includes(':') ? 'AAAA' : 'A'} ${one}`);
      wanted.set(server, known);
    }
  }
  return new Map([...wanted].map(([owner, set]) => [owner, [...set]]));
}
