/** An origin as a form asks for it. */
import { originProtocols, upstreamLimits } from '#contract/limits.ts';
import { mendOrigin } from '#contract/rules/mend.ts';
import { type FormField, options } from '../kit/resource.ts';

export const newUpstream = () => ({
  address: '',
  port: upstreamLimits.portDefault,
  weight: upstreamLimits.weightDefault,
  protocol: 'follow',
  backup: false,
});
export const upstreamFields: FormField[] = [
  { name: 'address', kind: 'mono', mend: typed => ({ ...mendOrigin(typed) }) },
  { name: 'port', kind: 'number', width: 84 },
  { name: 'weight', kind: 'number', width: 74 },
  { name: 'protocol', kind: 'select', ...options(originProtocols, 'protocol'), width: 96 },
  { name: 'backup', kind: 'switch', width: 48 },
];
