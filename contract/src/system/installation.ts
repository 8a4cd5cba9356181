/** What the vendor sees of an installation at a glance: its operators, its nodes and which versions run. */
import { calls } from '../kit/call.ts';
import { arr, id, int, nullable, obj, one, text, time } from '../kit/schema.ts';
import { licenceStates } from '../limits.ts';
import { accountStates, nodeStates } from '../states.ts';

/** Operators listed: those with the most sites. All of them are in the list of accounts. */
export const operatorsMost = 50;

/** An operator with what hangs on it; what was deleted is not counted. */
export const Operator = obj({
  id: id(),
  name: text(100),
  email: text(254),
  status: one(accountStates),
  createdAt: time(),
  /** its customers' own accounts, without theirs */
  customers: int(),
  sites: int(),
  domains: int(),
  nodes: int(),
  /** of them in service */
  normalNodes: int(),
  /** of its licence */
  licenseState: one(licenceStates),
  /** null: without end */
  licenseEnds: nullable(time()),
});

export const Licences = obj({ inForce: int(), endingSoon: int(), ended: int(), unlimited: int() });

export const installation = calls(
  { base: '/admin', areas: ['admin'], resource: 'accounts' },
  {
    'GET /installation': {
      answer: obj({
        /** of the server that answers */
        version: text(64),
        /** when its first account was made */
        since: time(),
        operatorCount: int(),
        /** most sites first */
        operators: arr(Operator, operatorsMost),
        customers: int(),
        sites: int(),
        domains: int(),
        /** operators by what they hold; `endingSoon` of those in force: within 30 days */
        licenses: Licences,
        /** nodes in a zone by their state; `uninitialized`: in none */
        nodes: arr(obj({ status: one(nodeStates), count: int() }), nodeStates.length),
        /** what their agents say of themselves, most nodes first; '' never said anything */
        versions: arr(obj({ version: text(64), nodes: int() }), 100),
      }),
    },
  },
);
