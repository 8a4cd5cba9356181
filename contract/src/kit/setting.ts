/**
 * A setting: one object with defaults, of an operator (`system`), a zone, a site or a domain. Whoever has none of its own has the
 * nearest one above it, else the defaults. One declaration gives the calls of every level, storage, audit, the document's field
 * (server/src/kit/setting.ts) and the form (console/src/kit/setting.tsx).
 */
import * as z from 'zod/mini';
import { type Area, calls, type Group, type GroupOptions } from './call.ts';
import { int, obj, one, type Shape } from './schema.ts';

/** From the widest to the nearest. */
export const settingLevels = ['system', 'zone', 'site', 'domain'] as const;
export type SettingLevel = (typeof settingLevels)[number];
export const settingSources = ['default', ...settingLevels] as const;
export type SettingSource = (typeof settingSources)[number];

/** What GET tells beside the value: whose value it is, and how often this level's own was changed (0: it has none). */
const told = { from: one(settingSources), version: int() };

/** Where a setting is read and written. The last id of the path is its owner's; `system` has none, it is the caller's operator. */
export interface SettingPlace extends Pick<GroupOptions, 'resource' | 'permission' | 'auth' | 'pending'> {
  base: string;
  path: string;
  areas?: readonly Area[];
  /** DELETE gives it back to what is above. */
  canReset?: boolean;
}
type Places = { [L in SettingLevel]?: SettingPlace };
export type Values<F extends Shape> = { [K in keyof F]: z.output<F[K]> };

type Defs<P extends string, F extends Shape, R> = {
  [K in `GET ${P}`]: { answer: z.ZodMiniObject<F & typeof told, z.core.$strict> };
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
        [`GET ${path}`]: { answer: obj({ ...fields, ...told }) },
        [`PUT ${path}`]: { body: schema },
        ...(canReset ? { [`DELETE ${path}`]: {} } : {}),
      },
    );
    return [level, group];
  });
  return {
    name,
    fields,
    defaults,
    levels,
    edge,
    schema,
    // the keys are made of the very paths the type is made of
    calls: Object.fromEntries(made) as { [K in keyof L]: GroupAt<L[K], F> },
  };
}

/** What a stored value means: fields that came later have their defaults, one that fits no longer means nothing. */
export function settingValue(setting: Setting, stored: unknown): Record<string, unknown> | undefined {
  if (typeof stored !== 'object' || stored === null) return undefined;
  const kept = Object.entries(stored).filter(([key]) => key in setting.fields);
  const result = z.safeParse(setting.schema, { ...setting.defaults, ...Object.fromEntries(kept) });
  return result.success ? (result.data as Record<string, unknown>) : undefined;
}

/** As a document's field: absent where nobody set anything; a field that a node of another release does not send has its default. */
export const settingField = <F extends Shape>(setting: { fields: F; defaults: Values<F> }) =>
  z.optional(
    z.object(
      Object.fromEntries(
        Object.entries(setting.fields).map(([key, field]) => [key, z._default(field, setting.defaults[key] as never)]),
      ) as unknown as F,
    ),
  );
