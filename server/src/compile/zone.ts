import type { ZoneDocument } from '#contract/edge/document.ts';
import type { ZoneRows } from './rows.ts';

/** What holds for every site of a zone → its document. Pure. */
export function compileZone({ zone, origins }: ZoneRows): ZoneDocument {
  const { operator, environment, own } = origins;
  return {
    v: 1,
    rev: zone.revision,
    id: zone.id,
    origins: { operator: [...operator], environment: [...environment], own: [...own] },
  };
}
