/** Rules about a site's DNS accounts (§7, site DNS): what each provider asks of whoever wants to change a name's records. */
import { dnsAccountFields, type dnsProviders, dnsSettingFields, type dnsTypes } from '../limits.ts';
import { parseIP } from './address.ts';
import { isURL } from './lists.ts';
import { answer, at, broken, isEmpty, wrong } from './rule.ts';
import type { Rule } from './rule.ts';
import { isHostName } from './values.ts';

type Provider = (typeof dnsProviders)[number];

/** A name server: a name or an address, with a port where it is not 53; an address of IPv6 with a port stands in brackets. */
export const dnsServer: Rule<string> = {
  name: 'dnsServer',
  check(value) {
    if (isEmpty(value) || parseIP(value)) return true;
    const match = /^(?:\[([^\]]+)\]|([^:\s]+))(?::(\d{1,5}))?$/.exec(value);
    const isHost =
      match?.[1] === undefined ? isHostName(match?.[2] ?? '') || !!parseIP(match?.[2] ?? '') : parseIP(match[1])?.family === 6;
    const port = Number(match?.[3] ?? 53);
    return isHost && port >= 1 && port <= 65_535 ? true : wrong('dnsServerForm');
  },
};

/** A key or a token as a provider gives it: printable, without a space. */
export const dnsCredentials: Rule<string | null | undefined> = {
  name: 'dnsCredentials',
  check: value => (/^[!-~]+$/.test(String(value)) ? true : broken('wrongFormat')),
};

type Account = {
  provider: Provider;
  server?: string | undefined;
  keyName?: string | undefined;
  credentials?: string | null | undefined;
};
/** Nothing that the provider asks for is missing, and a key is one. */
export const dnsAccount: Rule<Account> = {
  name: 'dnsAccount',
  check({ provider, server, keyName, credentials }) {
    const used = dnsAccountFields[provider];
    return answer([
      ...(used.includes('server') && isEmpty(server) ? broken('required', undefined, ['server']) : []),
      ...(used.includes('keyName') && isEmpty(keyName) ? broken('required', undefined, ['keyName']) : []),
      ...(provider === 'rfc2136' && keyName && !isKeyName(keyName) ? wrong('dnsKeyName', ['keyName']) : []),
      ...(provider === 'rfc2136' && credentials && !isBase64(credentials) ? wrong('dnsKeyBase64', ['credentials']) : []),
    ]);
  },
};

/** Of a TSIG key. */
export const tsigKeyName: Rule<string> = {
  name: 'tsigKeyName',
  check: value =>
    isEmpty(value) ? broken('required') : /^[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*$/.test(value) || wrong('dnsKeyName'),
};
/** Of a TSIG key, or the ID of a token or an access key. */
export const dnsKeyID: Rule<string> = {
  name: 'dnsKeyID',
  check: value => /^[A-Za-z0-9._-]*$/.test(value) || wrong('dnsKeyChars'),
};

/** A TSIG key in base64. */
export const tsigSecret: Rule<string> = {
  name: 'tsigSecret',
  check: value => isBase64(value) || wrong('dnsKeyBase64'),
};

type Setting = {
  driver: (typeof dnsTypes)[number];
  server?: string | undefined;
  keyName?: string | undefined;
  credentials?: string | null | undefined;
};
/** The same of who answers for an operator's names: a name server with a key, or where an API is. */
export const dnsSetting: Rule<Setting> = {
  name: 'dnsSetting',
  check({ driver, server, keyName, credentials }) {
    const used = dnsSettingFields[driver];
    return answer([
      ...(used.includes('server') && isEmpty(server) ? broken('required', undefined, ['server']) : []),
      ...(used.includes('keyName') && isEmpty(keyName) ? broken('required', undefined, ['keyName']) : []),
      ...(driver === 'rfc2136' && server ? at('server', dnsServer.check(server)) : []),
      ...(driver === 'powerdns' && server && !isAPI(server) ? wrong('urlForm', ['server']) : []),
      ...(driver === 'rfc2136' && keyName && !isKeyName(keyName) ? wrong('dnsKeyName', ['keyName']) : []),
      ...(driver === 'rfc2136' && credentials && !isBase64(credentials) ? wrong('dnsKeyBase64', ['credentials']) : []),
    ]);
  },
};
/** Where an API is: what stands behind its address, or a password in it, would be nobody's. */
function isAPI(value: string): boolean {
  if (!isURL(value)) return false;
  const { search, hash, username, password } = new URL(value);
  return !search && !hash && !username && !password;
}

const isKeyName = (name: string) =>
  name.length <= 253 &&
  name
    .replace(/\.$/, '')
    .split('.')
    .every(label => label.length >= 1 && label.length <= 63);
const isBase64 = (text: string) => text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
