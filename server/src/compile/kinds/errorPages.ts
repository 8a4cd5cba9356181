import type { errorPageStatuses, errorPageTypes } from '#contract/limits.ts';
import { arrayOf, headOf, ofSites, type PartSource } from '../source.ts';

export interface ErrorPageRow {
  code: (typeof errorPageStatuses)[number];
  type: (typeof errorPageTypes)[number];
  content: string;
}
/** Rows of a table that stands as `x`, in the document's own form. */
export const errorPagesOf = (rows: readonly ErrorPageRow[]): ErrorPageRow[] =>
  rows.toSorted((a, b) => a.code - b.code).map(({ code, type, content }) => ({ code, type, content }));
export const errorPageColumns = 'x.code, x.type, x.content';

const where = `from "errorPage" x where x."siteID" = s.id and x."deletedAt" is null`;
export const errorPages: PartSource<'errorPages', ErrorPageRow[]> = {
  text: ofSites(arrayOf(`select ${errorPageColumns} ${where}`)),
  present: `exists (select ${where})`,
  compile: loaded => ({ ...headOf(loaded), errorPages: errorPagesOf(loaded.row) }),
};
