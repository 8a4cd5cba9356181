/**
 * How an operator shows that a hostname of its console is its own (decisions.md): whoever named another's first would else show its own page
 * for signing in there.
 */
import { obj, one, text } from '../kit/schema.ts';
import { hostProofStates } from '../limits.ts';

/** `free`: nothing is asked, it shows the operator already, or the owner of the installation asks. `record` is a TXT record, `value` its text. */
export const HostProof = obj({ state: one(hostProofStates), record: text(300), value: text(100) });
