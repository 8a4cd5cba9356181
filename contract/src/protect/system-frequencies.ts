/** Frequencies of the operator: they hold on every site of its zones, beside the site's own (§7, "trigger rate"). */
import { calls } from '../kit/call.ts';
import { crud } from '../kit/crud.ts';
import { frequencyFields } from './frequencies.ts';

/** What one zone's document has room for. */
export const systemFrequenciesMax = 30;
export const systemFrequencies = calls(
  { base: '/client/setting', areas: ['client'], resource: 'systemFrequencies' },
  crud('/frequency', { fields: frequencyFields, max: systemFrequenciesMax }),
);
