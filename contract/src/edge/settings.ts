/** Settings that the documents of sites and domains carry: one word each. The value that counts is always there; an older server sends none. */
import { settingFields } from '../kit/setting.ts';
import { domainHeaders } from '../module/custom-headers.ts';
import { gzip } from '../site/gzip.ts';

export const siteSettings = { gzip } as const;
export const domainSettings = { customHeaders: domainHeaders } as const;

export const siteSettingFields = settingFields(siteSettings);
export const domainSettingFields = settingFields(domainSettings);
