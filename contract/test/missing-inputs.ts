/**
 * What calls that are built lack of their inputs and fields (inputs.txt), each with the issue that brings what it is about. It only
 * shrinks: `missingMost` is how many there are, and a call that is mounted anew comes with all of them.
 */
import type { Missing } from './guards/inputs.ts';

export const missingMost = 11;
/** the settings of a domain */
const domain = {
  protection: '-> antiReferer antiHeader',
};
/** what is set of a node */
const node = {
  operations: '-> monitor',
};

export const missing: Missing = {
  'GET {S}': { sites: '-> limitation' },
  'GET /user/sites': { sites: '-> limitation' },
  'GET /client/sites': { sites: '-> limitation' },
  'GET {S}/domain/{domainID}': domain,
  'GET {S}/domains': domain,
  'GET /client/nodes': node,
  'GET /client/nodes/initialized': node,
  'GET /client/nodes/uninitialized': node,
  'GET /client/zone/{id}/nodes': node,
};
