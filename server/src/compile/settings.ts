/** The settings that documents of sites and domains carry, out of the levels they may be set at. */
import {
  type domainSettingFields,
  domainSettings,
  type siteSettingFields,
  siteSettings,
  type zoneSettingFields,
  zoneSettings,
} from '#contract/edge/settings.ts';
import { type Setting, settingValue } from '#contract/kit/setting.ts';
import type * as z from 'zod/mini';

/** A value of some level, the nearest first. */
export interface SettingRow {
  name: string;
  value: unknown;
}

const valuesOf = (settings: Record<string, Setting>, levels: readonly string[], order: readonly string[]) =>
  `coalesce((select jsonb_agg(jsonb_build_object('name', x.name, 'value', x.value) order by ${order.join(', ')})
   from "scopedSetting" x where x.name in (${Object.values(settings)
     .map(({ name }) => `'${name}'`)
     .join(', ')}) and (${levels.join(' or ')})), '[]')`;
const above = ['x."siteID" = s.id', 'x."zoneID" = g."zoneID"', 'x."clientID" = s."clientID"'];
/** SQL over a zone `z`. */
export const settingsOfZone = valuesOf(zoneSettings, ['x."zoneID" = z.id', 'x."clientID" = z."clientID"'], ['x."zoneID"']);
/** SQL over a site `s` and its group `g`. */
export const settingsOfSite = valuesOf(siteSettings, above, ['x."siteID"', 'x."zoneID"']);
/** SQL over a domain `d`, its site `s` and the site's group `g`. */
export const settingsOfDomain = valuesOf(
  domainSettings,
  ['x."domainID" = d.id', ...above],
  ['x."domainID"', 'x."siteID"', 'x."zoneID"'],
);

type Fields<F extends Record<string, z.ZodMiniType>> = { [K in keyof F]-?: NonNullable<z.output<F[K]>> };

/** The nearest value that fits, else the default. */
const compileOf =
  <F extends Record<string, z.ZodMiniType>>(settings: Record<string, Setting>) =>
  (found: readonly SettingRow[]): Fields<F> =>
    Object.fromEntries(
      Object.entries(settings).map(([key, setting]) => {
        const values = found.filter(one => one.name === setting.name).map(one => settingValue(setting, one.value));
        return [key, values.find(value => value !== undefined) ?? setting.defaults];
      }),
    ) as Fields<F>;
/** Pure. */
export const compileZoneSettings = compileOf<typeof zoneSettingFields>(zoneSettings);
export const compileSiteSettings = compileOf<typeof siteSettingFields>(siteSettings);
export const compileDomainSettings = compileOf<typeof domainSettingFields>(domainSettings);
