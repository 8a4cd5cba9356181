/** What holds for the visitors of all sites of a zone (§3 Zone settings; calls.md, §9). */
import { bool, oneOf } from '../kit/schema.ts';
import { at, settingOf } from '../kit/setting.ts';
import { redirectStatuses } from '../limits.ts';

/** Whether visitors may speak HTTP/2. A node asks its nginx to read its configuration anew: what it is under way with goes on. */
export const http2 = settingOf({
  name: 'http2',
  fields: { enable: bool() },
  defaults: { enable: true },
  levels: { zone: { ...at.zone, path: '/http2' } },
  edge: 'zone',
});

/**
 * Whether visitors may speak HTTP/3, over UDP at the ports of https. Off at first: it takes UDP at the firewall, and a node whose nginx has
 * it not (Debian 12's) says so of itself and serves the rest.
 */
export const http3 = settingOf({
  name: 'http3',
  fields: { enable: bool() },
  defaults: { enable: false },
  levels: { zone: { ...at.zone, path: '/http3' } },
  edge: 'zone',
});

/** What a domain with `forceSSL` sends visitors over http away with; 307 and 308 keep the method. */
export const forceSSLRedirectCode = settingOf({
  name: 'forceSSLRedirectCode',
  fields: { code: oneOf(redirectStatuses) },
  defaults: { code: 301 },
  levels: { zone: { ...at.zone, path: '/forceSSLRedirectCode' } },
  edge: 'zone',
});
