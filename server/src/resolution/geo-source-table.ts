/** Where data of places are fetched from by themselves: one row, of the installation's owner. */
import { sql } from 'kysely';
import type { geoRhythms } from '#contract/limits.ts';
import { col, table } from '../kit/table.ts';

export interface GeoSourceRow extends Record<string, unknown> {
  id: number;
  version: number;
  url: string;
  headerName: string;
  headerIsSet: boolean;
  every: (typeof geoRhythms)[number];
}
export const geoSourceTable = table<GeoSourceRow>()({
  table: 'geoSource',
  scope: { tenant: [['clientID']], owner: (actor, a) => sql`${col('clientID', a)} = ${actor.rootID}` },
  sealed: ['header'],
});
