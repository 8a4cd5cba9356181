/** The address people reach the console by: it stands in mails, and its hostname shows the operator's branding (decisions.md). */
import { calls } from '../kit/call.ts';
import { presence } from '../kit/present.ts';
import { int, obj, str, text } from '../kit/schema.ts';
import * as rules from '../rules.ts';
import { HostProof } from './host-proof.ts';

export const outgoingURLMax = 200;
export const outgoingURL = calls(
  { base: '/client/setting/system', areas: ['client'], resource: 'outgoingURL' },
  {
    /** `installation`: what counts where the operator has none of its own */
    'GET /outgoingURL': { answer: obj({ outgoingURL: text(outgoingURLMax), installation: text(500), version: int() }) },
    /** what the zone of its hostname says now */
    'GET /outgoingURL/proof': {
      query: obj({ outgoingURL: str(outgoingURLMax).check(rules.zodRule(rules.consoleAddress)) }),
      answer: HostProof,
    },
    /** '': none of its own */
    'PUT /outgoingURL': {
      auth: 'session',
      present: true,
      body: obj({ outgoingURL: text(outgoingURLMax).check(rules.zodRule(rules.consoleAddress)), ...presence() }),
      errors: ['duplicated', 'permissionDenied'],
    },
  },
);
