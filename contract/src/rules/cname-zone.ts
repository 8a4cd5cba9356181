/** Rules about zones that customers' names lead into, and the name servers of these. */
import { formatIP, isIP, parseIP } from './address.ts';
import { domainName, duplicates } from './origins.ts';
import { answer, broken, isEmpty, type Rule, wrong } from './rule.ts';
import { isHostName } from './values.ts';

type Missing = null | undefined;

/** A zone: as a domain of a site, and no wildcard. */
export const cnameZone: Rule<string | Missing> = {
  name: 'cnameZone',
  check: value => (value?.startsWith('*.') ? wrong('hostWhole') : domainName.check(value)),
};

/** A name of a machine: letters in lower case, digits, hyphens; no address. */
export const dnsName: Rule<string | Missing> = {
  name: 'dnsName',
  check(value) {
    if (isEmpty(value)) return broken('required');
    if (/[A-Z]/.test(value!)) return broken('lowerCase');
    if (isIP(value!)) return wrong('hostIsIP');
    return isHostName(value!, 2) ? true : wrong('hostWhole');
  },
};

/** What is answered instead of addresses: a name of a machine. */
export const cnameTarget: Rule<string | Missing> = { name: 'cnameTarget', check: dnsName.check };

/** Name servers of a zone: none twice. */
export const nameServers: Rule<readonly string[]> = {
  name: 'nameServers',
  check: value =>
    answer(
      duplicates(
        value.map(line => nameServerOf(line).name.toLowerCase()),
        index => ({ path: [index], rule: 'duplicateValue', bounds: { value: nameServerOf(value[index]!).name } }),
      ),
    ),
};

/** `ns1.cdn.example.net 192.0.2.53 2001:db8::53`: the name, and addresses where it needs them. */
export const nameServerOf = (line: string): { name: string; addresses: string[] } => {
  const [name = '', ...addresses] = line.trim().split(/\s+/);
  return { name, addresses };
};
export const nameServer: Rule<string> = {
  name: 'nameServer',
  check(value) {
    const { name, addresses } = nameServerOf(value);
    const found = dnsName.check(name);
    if (found !== true) return found;
    if (!addresses.every(isIP) || addresses.length > 8) return wrong('nameServerForm');
    const [twice] = duplicates(
      addresses.map(one => formatIP(parseIP(one)!)),
      index => ({ path: [], rule: 'duplicateIP', bounds: { ip: addresses[index]! } }),
    );
    return twice ? answer([twice]) : true;
  },
};

export const ipAddress: Rule<string | Missing> = {
  name: 'ipAddress',
  check: value => (isEmpty(value) ? broken('required') : isIP(value!) ? true : wrong('ipForm')),
};
