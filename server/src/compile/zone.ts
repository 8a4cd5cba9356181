import type { ZoneDocument } from '#contract/edge/document.ts';
import type { ZoneRows } from './rows.ts';

/** What holds for every site of a zone → its document. Pure. */
export function compileZone({ zone }: ZoneRows): ZoneDocument {
  return { v: 1, rev: zone.revision, id: zone.id };
}
