/** What the embedded name server's control says, and what stands in its files. */
import { readFileSync, statSync } from 'node:fs';
import { DnsProblem } from '../domain/dns/driver.ts';
import { type Observed, observedGroups } from './driver.ts';
import { groupOf } from './names.ts';

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
/** What a zone and its zone of lines have of ours, as the control reads them out. */
export function observedOf(zone: string, own: string, lines: string): Observed {
  const names = new Map<string, number>();
  for (const [owner, type, data] of records(own)) {
    if (type !== 'CNAME' || !owner.endsWith(`.${zone}`)) continue;
    const groupID = groupOf(zone, data.replace(/\.$/, ''));
    if (groupID !== undefined) names.set(owner.slice(0, -zone.length - 1), groupID);
  }
  const { groups, groupFor } = observedGroups();
  for (const [owner, type, data] of records(lines)) {
    const isVersion = owner.startsWith('v.');
    const groupID = groupOf(zone, isVersion ? owner.slice(2) : owner);
    if (groupID === undefined) continue;
    const group = groupFor(groupID);
    if (isVersion && type === 'TXT') group.version = Number(data.replaceAll('"', ''));
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
