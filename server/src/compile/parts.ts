/** The parts of a site's document: those whose rows are not items as they stand are a line here. */
import { type PartKind, type RowsKind, rowsKinds } from '#contract/edge/kinds/index.ts';
import { cacheRules } from './kinds/cacheRules.ts';
import { errorPages } from './kinds/errorPages.ts';
import { purges } from './kinds/purges.ts';
import { rates } from './kinds/rates.ts';
import { itemRows, type RowsSource } from './rows.ts';
import type { PartSource } from './source.ts';

// of each name its own
const rowsParts = Object.fromEntries(rowsKinds.map(name => [name, itemRows(name)])) as { [K in RowsKind]: RowsSource<K> };

export const parts = {
  purges,
  cacheRules,
  rates,
  errorPages,
  ...rowsParts,
} satisfies {
  [K in PartKind]: PartSource<K, never>;
};
