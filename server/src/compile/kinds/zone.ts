import type { DocumentOf } from '#contract/edge/kinds/index.ts';
import { reloadFields } from '#contract/edge/kinds/zone.ts';
import { AddressPolicy, kindOf, looseAddress, type PolicyFacts, privateRanges } from '#contract/rules/address-policy.ts';
import type { schemes } from '#contract/limits.ts';
import { settingValue } from '#contract/system/settings.ts';
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
  /** as they were found (bus/zone-relays.ts) */
  relays: { relays: { id: number; addresses: string[]; port: number }[]; left: number[]; members?: number[] };
  settings: SettingRow[];
  /** of the operator, as it is stored; null: never set */
  log: unknown;
  /** another value of what takes a reload is being tried, or was given up (bus/canary.ts) */
  canary: HeldBack | null;
}

/** What takes a reload of nginx, as a zone's document says it. */
export type ReloadFacts = { [K in (typeof reloadFields)[number]]-?: NonNullable<DocumentOf<'zone'>[K]> };
export interface HeldBack {
  id: number;
  state: 'trying' | 'stopped' | 'passed';
  /** the one node that has `wanted`; all others go on with `accepted` */
  nodeID: number | null;
  accepted: ReloadFacts;
  wanted: ReloadFacts;
}

export const wantedFacts = ({ ports, settings }: Pick<ZoneRow, 'ports' | 'settings'>): ReloadFacts => {
  const { http2, http3, proxyProtocol, resource } = compileZoneSettings(settings);
  return {
    http2,
    http3,
    proxyProtocol,
    resource,
    ports: ports.map(({ port, scheme }) => ({ port, scheme })).sort((a, b) => a.port - b.port),
  };
};
/** jsonb orders keys by itself. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) =>
    one !== null && typeof one === 'object' && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
export const isSameFacts = (a: Partial<ReloadFacts>, b: Partial<ReloadFacts>): boolean =>
  reloadFields.every(name => textOf(a[name]) === textOf(b[name]));
/**
 * Where edges reach a node: the first address that the world knows, else the first one. A node says itself which addresses it has, and edges
 * knock there all the time: so never at a metadata service, a port of the installation, or at themselves. Private networks are theirs too.
 */
function reachedAt(addresses: readonly string[], port: number, policy: AddressPolicy): string | undefined {
  const allowed = addresses.filter(text => policy.judge(text, port).allowed);
  const isPublic = (text: string) => {
    const address = looseAddress(text);
    return address !== undefined && kindOf(address) === 'public';
  };
  return allowed.find(isPublic) ?? allowed[0];
}
/** `192.0.2.7:5432` or `[::1]:5432`, and no address. */
const isPort = (text: string) => /^(\[[^\]]*\]|[^:]*):\d+$/.test(text);
/** A relay may be a machine of the installation itself, at a port that is not the installation's. */
const policyOfRelays = ({ environment, own }: PolicyFacts) =>
  new AddressPolicy({ operator: privateRanges, environment, own: own.filter(isPort) });
/** Each has as many URLs as the others. Nothing is said where there are none. */
function relaysOf({ relays, left, members }: ZoneRow['relays'], origins: PolicyFacts) {
  const policy = policyOfRelays(origins);
  const listed = relays.flatMap(({ id, addresses, port }) => {
    const address = reachedAt(addresses, port, policy);
    return address === undefined ? [] : [{ id, address, port, weight: 1 }];
  });
  return {
    ...(listed.length > 0 && { relays: listed }),
    // a relay that no edge is told of any more still has a door
    ...((relays.length > 0 || left.length > 0) && { relayLeft: [...left] }),
    ...(members && { relayMembers: [...members] }),
  };
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
       'ports', ${portsOfZone}, 'relays', z.relays,
       'settings', ${settingsOfZone},
       'log', (select value from setting where key = 'nodeLog' and "clientID" = z."clientID"),
       'canary', (select jsonb_build_object('id', c.id, 'state', c.state, 'nodeID', c."nodeID", 'accepted', c.accepted, 'wanted', c.wanted)
         from "zoneCanary" c where c."zoneID" = z.id)) as row
   from zone z where z.id = any($1::bigint[]) and z."deletedAt" is null`,
  compile: loaded => {
    const { operator, environment, own } = loaded.row.origins;
    const wanted = wantedFacts(loaded.row);
    const { canary } = loaded.row;
    const held = canary && !isSameFacts(canary.accepted, wanted) ? canary : null;
    const isTried = held?.state === 'trying' && held.nodeID !== null && isSameFacts(held.wanted, wanted);
    return {
      ...headOf(loaded),
      origins: { operator: [...operator], environment: [...environment], own: [...own] },
      frequencies: itemsOf('frequencies', loaded.row.frequencies),
      errorPages: errorPagesOf(loaded.row.errorPages),
      ...relaysOf(loaded.row.relays, loaded.row.origins),
      ...(loaded.row.log != null && { log: settingValue('nodeLog', loaded.row.log) }),
      ...compileZoneSettings(loaded.row.settings),
      // what this release knows and the accepted values of before do not is as wanted
      ...wanted,
      ...held?.accepted,
      ...(isTried ? { canary: { id: held.id, node: held.nodeID!, ...wanted } } : {}),
    };
  },
};
