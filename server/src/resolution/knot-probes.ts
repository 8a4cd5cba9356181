/** Whether the embedded name server answers what it was told: lines that it could not read are no error there, only the wrong answer. */
import { formatIP, parseAddressSet } from '#contract/rules/address.ts';
import * as dns from '../domain/dns/message.ts';
import type { GeoIndex } from '../kit/services.ts';
import { ask, type NameServer } from './ask.ts';
import type { GroupAnswer } from './driver.ts';
import { isByPlace, networkOf, prefixOf } from './knot-files.ts';
import { addressOnAny } from './line-places.ts';
import { versionName } from './names.ts';

/** Networks to ask as a visitor of: one of a line by network, and one of a line by place, as far as there are such. */
export function probesOf(group: GroupAnswer, index: GeoIndex | undefined): string[] {
  const found = index && addressOnAny(group.lines.filter(isByPlace), index);
  return [networkOf(group, index), found].filter(one => one !== undefined);
}

/** Which version of a group is answered, to everybody or to a visitor of that network; undefined: none. */
export async function versionOf(
  server: NameServer,
  zone: string,
  groupID: number,
  network?: string,
): Promise<number | undefined> {
  const set = network === undefined ? undefined : parseAddressSet(network);
  // a subnet of no bits would say nothing, not even of which family it is
  const subnet = set && { address: formatIP({ family: set.family, value: set.from }), prefix: Math.max(8, prefixOf(set)) };
  const { answers } = await ask(server, versionName(zone, groupID), dns.types.TXT, subnet);
  const text = answers.find(one => one.type === dns.types.TXT);
  const [, version, isLines] = (text && /^(\d+)(-line)?$/.exec(dns.textOf(text.data))) ?? [];
  // what everybody is told is no answer of a line: the module falls back to it, silently
  return version === undefined || (subnet && !isLines) ? undefined : Number(version);
}
