/**
 * A setting: one object with defaults, of an operator (`system`), a zone, a site or a domain. Whoever has none of its own has the
 * nearest one above it, else the defaults. One declaration gives the calls of every level, storage, audit, the document's field
 * (server/src/kit/setting.ts) and the form (console/src/kit/setting.tsx).
 */
import * as z from 'zod/mini';
import { type Area, calls, type Group, type GroupOptions } from './call.ts';
import { int, obj, one, type Shape } from './schema.ts';
import { confidentialNames } from './secret.ts';

/** From the widest to the nearest. */
export const settingLevels = ['system', 'zone', 'site', 'domain'] as const;
export type SettingLevel = (typeof settingLevels)[number];
export const settingSources = ['default', ...settingLevels] as const;
export type SettingSource = (typeof settingSources)[number];

/**
 * What GET tells beside the value: whose value it is, how often this level's own was changed (0: it has none), and what counts where this
 * level has none.
 */
const told = <F extends Shape>(fields: F) => ({
  from: one(settingSources),
  version: int(),
  above: obj({ from: one(settingSources), value: obj(fields) }),
});

/** Where a setting is read and written. The last id of the path is its owner's; `system` has none, it is the caller's operator. */
export interface SettingPlace extends Pick<GroupOptions, 'resource' | 'permission' | 'auth' | 'pending'> {
  base: string;
  path: string;
  areas?: readonly Area[];
  /** DELETE gives it back to what is above. */
  canReset?: boolean;
}

/** The usual place of each level, and whose key is asked: `{ ...at.site, path: '/gzip' }`. An operator's own names its `resource`. */
export const at = {
  system: { base: '/client/setting', areas: ['client'] },
  zone: { base: '/client/zone/{id}/setting', areas: ['client'], resource: 'zones' },
  site: { base: '/{area}/site/{siteID}/setting', areas: ['user', 'client'], resource: 'siteSettings' },
  domain: { base: '/{area}/site/{siteID}/domain/{domainID}', areas: ['user', 'client'], resource: 'domains' },
} as const satisfies Record<SettingLevel, Omit<Partial<SettingPlace>, 'path'>>;
type Places = { [L in SettingLevel]?: SettingPlace };
export type Values<F extends Shape> = { [K in keyof F]: z.output<F[K]> };

type Defs<P extends string, F extends Shape, R> = {
  [K in `GET ${P}`]: { answer: z.ZodMiniObject<F & ReturnType<typeof told<F>>, z.core.$strict> };
} & { [K in `PUT ${P}`]: { body: z.ZodMiniObject<F, z.core.$strict> } } & (R extends true
    ? { [K in `DELETE ${P}`]: Record<never, never> }
    : unknown);
type GroupAt<P, F extends Shape> = P extends { base: infer B extends string; path: infer Q extends string }
  ? Group<B, Defs<Q, F, P extends { canReset: infer R } ? R : false>>
  : never;

export interface SettingOptions<F extends Shape, L extends Places> {
  /** Its name in storage, in its document and in the texts. */
  name: string;
  fields: F;
  /** What holds where nobody set anything. */
  defaults: Values<F>;
  /** Rules that look at several fields. */
  check?: (value: z.ZodMiniObject<F, z.core.$strict>) => z.ZodMiniType;
  levels: L;
  /** Whose document carries it: a change above is published for all below that have none of their own. */
  edge?: Exclude<SettingLevel, 'system'>;
}

/** What the server and the documents read of any setting. */
export interface Setting {
  name: string;
  fields: Shape;
  defaults: Record<string, unknown>;
  levels: Places;
  edge?: Exclude<SettingLevel, 'system'> | undefined;
  schema: z.ZodMiniType;
}

export function settingOf<F extends Shape, const L extends Places>(options: SettingOptions<F, L>) {
  const { name, fields, defaults, check, levels, edge } = options;
  if (confidentialNames(obj(fields)).size) throw new Error(`${name}: a setting is answered whole, and holds no secret`);
  const nearest = settingLevels.findLast(level => levels[level]);
  if (edge && settingLevels.indexOf(edge) < settingLevels.indexOf(nearest!))
    throw new Error(`${name}: a ${nearest} has a value of its own that no ${edge} can carry`);
  const bare = obj(fields);
  const schema = (check ? check(bare) : bare) as typeof bare;
  const made = Object.entries(levels).map(([level, place]) => {
    const { base, path, areas, canReset, ...rest } = place as SettingPlace;
    const group = calls(
      { base, ...rest, ...(areas ? { areas } : {}) },
      {
        [`GET ${path}`]: { answer: obj({ ...fields, ...told(fields) }) },
        [`PUT ${path}`]: { body: schema },
        ...(canReset ? { [`DELETE ${path}`]: {} } : {}),
      },
    );
    // the keys of `levels`
    return [level as SettingLevel, group] as const;
  });
  const setting = {
    name,
    fields,
    defaults,
    levels,
    edge,
    schema,
    // the keys are made of the very paths the type is made of
    calls: Object.fromEntries(made) as { [K in keyof L]: GroupAt<L[K], F> },
  };
  for (const [level, group] of made) Object.assign(group, { settingAt: { setting, level } satisfies SettingAt });
  return setting;
}

/** Which setting the calls of a group read and write, and of which level. */
export interface SettingAt {
  setting: Setting & { calls: Partial<Record<SettingLevel, unknown>> };
  level: SettingLevel;
}
export const isSettingGroup = (group: Group): group is Group & { settingAt: SettingAt } => 'settingAt' in group;

/** What a stored value means: fields that came later have their defaults, one that fits no longer means nothing. */
export function settingValue(setting: Setting, stored: unknown): Record<string, unknown> | undefined {
  if (typeof stored !== 'object' || stored === null) return undefined;
  const kept = Object.entries(stored).filter(([key]) => key in setting.fields);
  const result = z.safeParse(setting.schema, { ...setting.defaults, ...Object.fromEntries(kept) });
  return result.success ? (result.data as Record<string, unknown>) : undefined;
}

/** The fields of a document that carries these settings. */
export const settingFields = <S extends Record<string, { fields: Shape; defaults: Record<string, unknown> }>>(settings: S) =>
  // each of its own name, its fields those of the setting
  Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, settingField(setting)])) as unknown as {
    [K in keyof S]: z.ZodMiniOptional<z.ZodMiniObject<S[K]['fields'], z.core.$strip>>;
  };

/** As a document's field: absent where nobody set anything; a field that a node of another release does not send has its default. */
const settingField = ({ fields, defaults }: { fields: Shape; defaults: Record<string, unknown> }) =>
  z.optional(
    z.object(Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, z._default(field, defaults[key] as never)]))),
  );
