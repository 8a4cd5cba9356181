/** Whose history is asked for: a row by the path of the list that shows it, a setting by the path it is read at. */
import type { CallKey } from './client.ts';
import type { Column, Params, Values } from './resource.ts';

export interface HistoryOf {
  /** as `GET /{area}/history` takes it */
  resource: string;
  /** left out for a setting of the whole operator */
  id?: number | undefined;
  /** for fields that the form does not have */
  columns?: readonly Column<never>[];
  /** Form values of a row, where they are not the row's own fields. */
  valuesOf?: (older: Values) => Values;
}

/** `GET /{area}/site/{siteID}/rates` → `/site/{siteID}/rates` */
export const pathOf = (key: CallKey | string): string => key.replace(/^GET \/(?:\{area\}|user|client|admin)/, '');

/** The row that a path's last id names. */
export function lastOf(key: CallKey | string, params: Params): number | undefined {
  const last = [...pathOf(key).matchAll(/\{(\w+)\}/g)].at(-1)?.[1];
  return last === undefined ? undefined : params[last];
}

/** Of a setting: whose it is says its path. */
export const historyOfSetting = (read: CallKey, params: Params): HistoryOf => ({
  resource: pathOf(read),
  id: lastOf(read, params),
});
