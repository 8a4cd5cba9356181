import type { siteStates } from '#contract/states.ts';
import { headOf, ofSites, type Source } from '../source.ts';
import { parts } from '../parts.ts';
import { compileSiteSettings, type SettingRow, settingsOfSite } from '../settings.ts';

export interface SiteRow {
  status: (typeof siteStates)[number];
  expired: Date | string | null;
  cacheGeneration: number;
  /** kinds of its parts that are not empty */
  parts: string[];
  settings: SettingRow[];
}

const present = Object.entries(parts).map(([name, { present: condition }]) => `case when ${condition} then '${name}' end`);

export const site: Source<'site', SiteRow> = {
  // its domains and parts take the zone, its domains whether they serve from their backups alone
  text: ofSites(
    `jsonb_build_object('status', s.status, 'expired', s.expired, 'cacheGeneration', s."cacheGeneration",
       'parts', to_jsonb(array_remove(array[${present.join(', ')}], null)),
       'settings', ${settingsOfSite})`,
    `concat(g."zoneID", ' ', s."forceBackup"::text)`,
  ),
  compile: loaded => {
    const { status, expired, cacheGeneration, parts: named, settings } = loaded.row;
    return {
      ...headOf(loaded),
      state: status,
      expires: expired === null ? 0 : Math.max(1, Math.floor(new Date(expired).getTime() / 1000)),
      gen: cacheGeneration,
      parts: named,
      ...compileSiteSettings(settings),
    };
  },
};
