import { fail } from '#contract/errors.ts';
import { customHeader, domainHeaders } from '#contract/module/custom-headers.ts';
import { headerNames } from '#contract/rules/lists.ts';
import { domainTable } from '../domain/tables.ts';
import { implementSetting } from '../kit/setting.ts';
import { moduleRows } from './rows.ts';

/** A header is set once: names differ, whatever their case. */
async function checkNames(row: Record<string, unknown>) {
  for (const list of [row['request'], row['response']] as { name: string }[][])
    if (headerNames.check(list) !== true) throw fail('duplicateKeys');
}
export const customHeaderImplementation = moduleRows(customHeader, { before: (_ctx, row) => checkNames(row) });
export const domainHeaderImplementation = implementSetting(domainHeaders, 'domain', domainTable, {
  before: (_ctx, value) => checkNames(value),
});
