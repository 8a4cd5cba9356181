/**
 * Every setting there is: key → shape and default. A key belongs to the operators, one value each, or to the installation.
 * What is stored and no longer fits its shape reads as the default, so that a newer shape needs no migration.
 */
import * as z from 'zod/mini';
import { arr, bool, id, nullable, obj, one, oneOf, str, text } from '../kit/schema.ts';
import { debugSamplings, geoLayers, nodeLogDefaults, nodeLogLevels, retentionDefaults } from '../limits.ts';
import { retentionFields, RetentionRun } from './retention.ts';

interface Setting<T extends z.ZodMiniType = z.ZodMiniType> {
  of: 'operator' | 'installation';
  shape: T;
  fallback: z.output<T>;
}
const setting = <T extends z.ZodMiniType>(of: Setting['of'], shape: T, fallback: z.output<T>): Setting<T> => ({
  of,
  shape,
  fallback,
});

/** Times are ISO 8601. */
const GeoFetched = obj({
  lookedAt: text(30),
  takenAt: nullable(text(30)),
  /** the file of ours that it became (`geoData`) */
  file: nullable(text(64)),
  sha256: nullable(text(64)),
  dataAt: nullable(text(30)),
  /** as the source said of that file, for it to say that there is no other one (RFC 9110, 13.1) */
  etag: nullable(text(1000)),
  modified: nullable(text(100)),
  problem: nullable(obj({ rule: text(40), bounds: z.record(z.string(), z.union([z.string(), z.number()])) })),
  failedSince: nullable(text(30)),
});

const ranges = () => arr(str(50), 100);

export const settings = {
  /** private ranges in which the operator's customers may have origins */
  originAllow: setting('operator', ranges(), []),
  /** scheme, host and port of the operator's console; '': the installation's */
  outgoingURL: setting('operator', text(200), ''),
  /** where the operator's people may come from; none: from everywhere */
  restrictGroupCIDRs: setting('operator', arr(str(64), 100), []),
  /** each sign-in takes a second factor */
  accountVerify: setting('operator', bool(), false),
  /** what nodes write down */
  nodeLog: setting('operator', obj({ level: one(nodeLogLevels), sampling: oneOf(debugSamplings) }), nodeLogDefaults),
  /** BREAKWATER_ORIGIN_ALLOW as the server read it when it started */
  originEnvironment: setting('installation', ranges(), []),
  /** days that what nobody needs any more is kept */
  retention: setting('installation', obj(retentionFields), retentionDefaults),
  /** files of the owner that say where addresses are, in the data folder */
  geoData: setting('installation', arr(obj({ file: text(64), layers: arr(one(geoLayers), 2) }), 2), []),
  /** what became of the owner's source of them, written by the work service; null: it was never asked */
  geoFetched: setting('installation', nullable(GeoFetched), null),
  /** written by the work service */
  retentionRun: setting('installation', nullable(RetentionRun), null),
  /** what the demo opens, for its own zone alone; null where no demo runs */
  originDemo: setting('installation', nullable(obj({ zoneID: id(), ranges: ranges() })), null),
  /** addresses, and addresses with ports, of the installation itself */
  ownAddresses: setting('installation', arr(str(60), 1000), []),
} as const;

export type SettingKey = keyof typeof settings;
export type SettingValue<K extends SettingKey> = z.output<(typeof settings)[K]['shape']>;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a stored value means: the default where there is none, or none that fits. */
export function settingValue<K extends SettingKey>(key: K, stored: unknown): SettingValue<K> {
  const { shape, fallback } = settings[key];
  // a field that came later has its default
  const given = isRecord(fallback) && isRecord(stored) ? { ...fallback, ...stored } : stored;
  const read = given === undefined || given === null ? undefined : z.safeParse(shape as z.ZodMiniType, given);
  return (read?.success ? read.data : fallback) as SettingValue<K>;
}
