/** Rows of the lists of a site that are declared by `siteList` alone: what no test has to say of them. */
import { groups } from '#contract/index.ts';
import { obj, type Shape } from '#contract/kit/schema.ts';
import { isSiteList } from '#server/site/rows.ts';
import { generate } from './generate.ts';

export const siteLists = groups.filter(isSiteList).map(({ base, siteList }) => ({
  call: `GET ${base}/${siteList.name}`,
  kind: siteList.name,
  table: siteList.table,
  schema: obj(siteList.fields as Shape),
  /** a row as its table takes it, beside the site it hangs on */
  row: () => generate(obj(siteList.fields as Shape), 'x') as Record<string, unknown>,
}));
