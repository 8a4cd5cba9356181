/** Settings that the documents of zones, sites and domains carry: one word each. The value that counts is always there; an older server sends none. */
import { settingFields } from '../kit/setting.ts';
import { originCheck } from './origin-check.ts';
import { originTimeouts } from './origin-timeouts.ts';
import { originTLS } from './origin-tls.ts';
import { domainHeaders } from '../module/custom-headers.ts';
import { gzip } from '../site/gzip.ts';
import { forceSSLRedirectCode, http2, http3, proxyProtocol, resource } from '../site/zone-settings.ts';

export const zoneSettings = { http2, http3, forceSSLRedirectCode, proxyProtocol, resource } as const;
export const siteSettings = { gzip } as const;
export const domainSettings = { customHeaders: domainHeaders, originTLS, originCheck, originTimeouts } as const;

export const zoneSettingFields = settingFields(zoneSettings);
export const siteSettingFields = settingFields(siteSettings);
export const domainSettingFields = settingFields(domainSettings);
