/** What the embedded name server's control says, and what stands in its files. */
import { readFileSync, statSync } from 'node:fs';
import { DnsProblem } from '../domain/dns/driver.ts';
import { recordTypes } from '../domain/dns/records.ts';
import { type ForeignRecord, type Observed, observedGroups } from './driver.ts';
import { groupOf, lineZone } from './names.ts';

/** What knotc says of itself (`error: …`, on either stream), without paths of this machine. */
export function controlProblem({
  stdout = '',
  stderr = '',
  killed,
}: {
  stdout?: string;
  stderr?: string;
  killed?: boolean;
}): DnsProblem {
  const line = `${stdout}\n${stderr}`.split('\n').find(one => one.startsWith('error:'));
  const said = line
    ?.slice('error:'.length)
    .replace(/(?:file |socket )?'?(?<![\w.-])\/[^\s',)]*'?/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  const isAway = !said || /failed to (?:connect|control)|timeout|not exists|OK$/i.test(said);
  const why = said || (killed ? 'it does not answer' : 'it ended without a word');
  return new DnsProblem(isAway ? 'away' : 'refused', `the name server's control: ${why.slice(0, 200)}`);
}

/** `[zone.] owner ttl type data` of each line. */
export function* records(text: string): Generator<[owner: string, type: string, data: string]> {
  for (const line of text.split('\n')) {
    const [, owner, type, data] = /^\[[^\]]+\] (\S+)\. \d+ (\S+) (.*)$/.exec(line) ?? [];
    if (owner !== undefined) yield [owner.toLowerCase(), type!, data!.trim().toLowerCase()];
  }
}
/** What a zone and its zone of lines have of ours, as the control reads them out. Addresses of its name servers are ours, and no names. */
export async function observedBy(
  zone: string,
  servers: readonly string[],
  readOut: (zone: string) => Promise<string>,
  onForeign: (record: ForeignRecord) => void = () => {},
): Promise<Observed> {
  const own = await readOut(zone);
  const lines = await readOut(lineZone(zone));
  const foreign = (name: string, said: string, data: string) => {
    const type = recordTypes.find(one => one === said);
    const isServers = (type === 'A' || type === 'AAAA') && servers.includes(name);
    if (type && !isServers) onForeign({ name, type, value: type === 'TXT' ? data.replaceAll('"', '') : data.replace(/\.$/, '') });
  };
  const names = new Map<string, number>();
  for (const [owner, type, data] of records(own)) {
    const isBelow = type === 'CNAME' && owner.endsWith(`.${zone}`);
    const groupID = isBelow ? groupOf(zone, data.replace(/\.$/, '')) : undefined;
    if (groupID !== undefined) names.set(owner.slice(0, -zone.length - 1), groupID);
    else foreign(owner, type, data);
  }
  const { groups, groupFor } = observedGroups();
  for (const [owner, type, data] of records(lines)) {
    const isVersion = owner.startsWith('v.');
    const groupID = groupOf(zone, isVersion ? owner.slice(2) : owner);
    if (groupID === undefined || (recordTypes.some(one => one === type) && (type === 'TXT') !== isVersion)) {
      foreign(owner, type, data);
      continue;
    }
    const group = groupFor(groupID);
    if (type === 'TXT') group.version = Number(data.replaceAll('"', ''));
    else if (type === 'A') group.fallback.a.push(data);
    else if (type === 'AAAA') group.fallback.aaaa.push(data);
    else if (type === 'CNAME') group.fallback.cname = data.replace(/\.$/, '');
  }
  return { names, groups };
}
export const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size;
export function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
