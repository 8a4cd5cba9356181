/** Settings that the documents of sites and domains carry: one line each. The value that counts is always there; an older server sends none. */
import { settingField } from '../kit/setting.ts';
import { domainHeaders } from '../module/custom-headers.ts';
import { gzip } from '../site/gzip.ts';

export const siteSettings = { gzip } as const;
export const siteSettingFields = { gzip: settingField(gzip) };

export const domainSettings = { customHeaders: domainHeaders } as const;
export const domainSettingFields = { customHeaders: settingField(domainHeaders) };
