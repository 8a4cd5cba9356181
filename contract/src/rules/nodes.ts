/** Rules about what is set of nodes. */
import { nodeBounds, logRotateNoneSeconds } from '../limits.ts';
import { parseIP } from './address.ts';
import { type AddressKind, kindOf } from './address-policy.ts';
import { broken, type Rule, wrong } from './rule.ts';

const nowhere: ReadonlySet<AddressKind> = new Set(['unspecified', 'linkLocal', 'multicast', 'broadcast', 'metadata']);

/** One address of one machine, which somebody else can be sent to. */
export const nodeAddress: Rule<string> = {
  name: 'nodeAddress',
  check(value) {
    const address = parseIP(value.trim());
    if (!address) return wrong('ipForm');
    return nowhere.has(kindOf(address)) ? broken('addressNotAllowed') : true;
  },
};

/** None at all, or seldom enough for a machine to have something else to do. */
export const logRotateTime: Rule<number> = {
  name: 'logRotateTime',
  check: value =>
    value === logRotateNoneSeconds || value >= nodeBounds.logRotateSecondsMin
      ? true
      : broken('tooSmall', { min: nodeBounds.logRotateSecondsMin }),
};
