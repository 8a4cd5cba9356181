import type { PolicyFacts } from '#contract/rules/address-policy.ts';
import type { schemes } from '#contract/limits.ts';
import { errorPageColumns, type ErrorPageRow, errorPagesOf } from './errorPages.ts';
import { compileZoneSettings, type SettingRow, settingsOfZone } from '../settings.ts';
import { columnsOf, itemsOf, type RowsRow } from '../rows.ts';
import { arrayOf, headOf, type Source } from '../source.ts';

export interface ZoneRow {
  /** of the operator, for all its sites */
  frequencies: RowsRow<'frequencies'>[];
  errorPages: ErrorPageRow[];
  /** where its origins may lie */
  origins: PolicyFacts;
  /** of layer 7 */
  ports: { port: number; scheme: (typeof schemes)[number] }[];
  settings: SettingRow[];
}

/** What is allowed to the origins of zone `z`: the operator's setting, the environment's and the demo's ranges, and who we are. */
export const originsOfZone = `jsonb_build_object(
  'operator', coalesce((select value from setting where key = 'originAllow' and "clientID" = z."clientID"), '[]'),
  'environment', coalesce((select value from setting where key = 'originEnvironment' and "clientID" is null), '[]')
    || coalesce((select value->'ranges' from setting where key = 'originDemo' and "clientID" is null and value->'zoneID' = to_jsonb(z.id)), '[]'),
  'own', coalesce((select value from setting where key = 'ownAddresses' and "clientID" is null), '[]'))`;

const frequenciesOfZone = arrayOf(
  `select ${columnsOf('frequencies')
    .map(column => `f."${column}"`)
    .join(', ')} from "systemFrequency" f
   where f."clientID" = z."clientID" and f."deletedAt" is null and f.enabled`,
);
const errorPagesOfZone = arrayOf(
  `select ${errorPageColumns} from "systemErrorPage" x where x."clientID" = z."clientID" and x."deletedAt" is null`,
);

const portsOfZone = arrayOf(
  `select x.port, x.scheme from "zonePort" x where x."zoneID" = z.id and x."deletedAt" is null and x.scheme in ('http', 'https')`,
);

/** What holds for every site of a zone. */
export const zone: Source<'zone', ZoneRow> = {
  text: `select z.id, z.id as "zoneID", null::bigint as "siteID", z.revision, '' as inherited,
     jsonb_build_object('origins', ${originsOfZone}, 'frequencies', ${frequenciesOfZone}, 'errorPages', ${errorPagesOfZone},
       'ports', ${portsOfZone},
       'settings', ${settingsOfZone}) as row
   from zone z where z.id = any($1::bigint[]) and z."deletedAt" is null`,
  compile: loaded => {
    const { operator, environment, own } = loaded.row.origins;
    return {
      ...headOf(loaded),
      origins: { operator: [...operator], environment: [...environment], own: [...own] },
      frequencies: itemsOf('frequencies', loaded.row.frequencies),
      errorPages: errorPagesOf(loaded.row.errorPages),
      ports: loaded.row.ports.map(({ port, scheme }) => ({ port, scheme })).sort((a, b) => a.port - b.port),
      ...compileZoneSettings(loaded.row.settings),
    };
  },
};
