/** What stands on a page of somebody's brand. */
import { parseIP } from './address.ts';
import { isEmpty, wrong } from './rule.ts';
import type { Rule } from './rule.ts';
import { freeName, isHostName } from './values.ts';

/** A name people come by, or an address, without a port; none at all is all the others. */
export const brandHost: Rule<string | null | undefined> = {
  name: 'brandHost',
  check: value =>
    isEmpty(value) || (value === value!.toLowerCase() && (isHostName(value!) || parseIP(value!) !== undefined))
      ? true
      : wrong('hostHeader'),
};

/** One line of any script, or none. */
export const oneLine: Rule<string | null | undefined> = {
  name: 'oneLine',
  check: value => (isEmpty(value) ? true : freeName.check(value)),
};
