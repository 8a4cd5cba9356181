/**
 * What can be mended instead of refused: what people paste is put into the form the rules ask for. Pure; forms call it when a field is
 * left, so that the person sees what became of it before anything is sent.
 */
import { isIP } from './address.ts';

export interface MendedOrigin {
  address: string;
  port?: number;
  protocol?: 'http' | 'https';
}

/** As it stands in DNS: what is written in another script has a form in ASCII (UTS #46), full width letters and dots are narrow ones. */
function inASCII(host: string): string {
  // oxlint-disable-next-line no-control-regex -- ASCII as a whole
  if (!/[^\u0000-\u007f]/.test(host) || /[\s/?#@\\]/.test(host)) return host;
  // a star is a name's first label, and no URL has one
  const [, star = '', name = ''] = /^(\*\.)?(.*)$/.exec(host)!;
  return URL.canParse(`http://${name}`) ? star + new URL(`http://${name}`).hostname : host;
}
const withoutEnd = (host: string) => inASCII(host.toLowerCase()).replace(/\.$/, '');

/** `HTTPS://Shop.Example.com./path` → `shop.example.com`; what is no address of a page only loses its spaces. */
export function mendDomainName(typed: string): string {
  const text = typed.trim();
  const host = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#@\s]+)/i.exec(text)?.[1] ?? text.split(/[/?#]/, 1)[0]!;
  return withoutEnd(host.replace(/:\d{1,5}$/, ''));
}

/** `NS1.Example.com. 192.0.2.53` → `ns1.example.com 192.0.2.53` */
export function mendNameServer(typed: string): string {
  const [name = '', ...addresses] = typed.trim().split(/\s+/);
  return [withoutEnd(name), ...addresses].join(' ');
}

/** `http://10.0.0.1:8080/` → its address, port and protocol; `[2001:db8::1]:443` and `origin.test:81` likewise. */
export function mendOrigin(typed: string): MendedOrigin {
  const text = typed.trim();
  const scheme = /^(https?):\/\//i.exec(text);
  const rest = (scheme ? text.slice(scheme[0].length) : text).split(/[/?#]/, 1)[0]!;
  const protocol = scheme ? { protocol: scheme[1]!.toLowerCase() as 'http' | 'https' } : {};
  if (isIP(rest)) return { address: rest.toLowerCase(), ...protocol };
  const match = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(rest);
  if (!match) return { address: rest, ...protocol };
  const address = withoutEnd(match[1]!.replace(/^\[|\]$/g, ''));
  return { address, ...(match[2] ? { port: Number(match[2]) } : {}), ...protocol };
}

/** `https://Shop.Example.com./path` → `shop.example.com`, with the port that was written: a Host header has one. */
export function mendHost(typed: string): string {
  const text = typed.trim();
  const host = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#@\s]+)/i.exec(text)?.[1] ?? text.split(/[/?#]/, 1)[0]!;
  const [, name = host, port = ''] = /^(.*?)(:\d{1,5})?$/.exec(host)!;
  return isIP(host) && host.includes(':') ? `[${host.toLowerCase()}]` : withoutEnd(name) + port;
}

/** One line of addresses: `1.2.3.4:8080` → `1.2.3.4`; full width digits and blanks around dash and slash become what was meant. */
export function mendAddressLine(typed: string): string {
  const text = typed
    .normalize('NFKC')
    .split(/([-/])/)
    .map(part => part.trim())
    .join('');
  const bare = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(text)?.[1];
  return bare !== undefined && isIP(bare) ? bare : text;
}
