/** Domains that are made after others, at another site or under other names, and one address of origins put for another (§6). */
import { calls } from '../kit/call.ts';
import { arr, id, ids, int, obj, some, str } from '../kit/schema.ts';
import { caps } from '../limits.ts';
import * as rules from '../rules.ts';

const address = () => str(253).check(rules.zodRule(rules.originAddress));
const made = () => obj({ ids: arr(id()) });

export const domainCopies = calls(
  { base: '/{area}/site/{siteID}', areas: ['user', 'client'], resource: 'domains', limited: 'domains' },
  {
    /**
     * The same names with their origins, settings and tags at `siteID`, switched off: a name is served by one site at a time, so whoever
     * moves one switches it off here and on there. Modules and certificates belong to a site and do not go along.
     */
    'POST /domains/copyToSite': {
      limited: false,
      body: obj({ ids: ids(), siteID: id() }),
      answer: made(),
      errors: ['domainsExceeded', 'multiple'],
    },
    /** Other names at the same site, with all that `fromDomainID` has but its certificate. */
    'POST /domains/createFrom': {
      limited: false,
      body: obj({
        fromDomainID: id(),
        domains: some(str(253).check(rules.zodRule(rules.domainName)), caps.namesTogetherMax),
      }),
      answer: made(),
      errors: ['duplicateDomains', 'domainsExceeded', 'noUpstreamEnabled', 'multiple'],
    },
    /** Origins of these domains at address `from` are at `to` from now on; domains without any stay as they are. `changed`: of how many. */
    'PUT /domains/modifyUpstreamIPs': {
      body: obj({ domainIDs: ids(), from: address(), to: address() }),
      answer: obj({ changed: int() }),
      errors: ['duplicated', 'multiple'],
    },
  },
);
