/** What a licence bounds, as columns and fields of lists and forms. */
import { portTypes } from '#contract/limits.ts';
import { type FormField, options } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import { number } from '../kit/units.ts';

/** @param zero what 0 stands for (§9) */
export const Limit = ({ value, zero = 'unlimited' }: { value: number; zero?: 'unlimited' }) =>
  value === 0 ? <span className="ink-3">{t(`unit.${zero}`)}</span> : number(value);

export const limitNames = ['siteLimit', 'nodeLimit', 'zoneLimit', 'domainLimit', 'autoSSLLimit'] as const;
export const portType: FormField = {
  name: 'portType',
  kind: 'segments',
  ...options(portTypes, 'portType'),
  initial: portTypes[0],
};
export const limitFields: FormField[] = [
  { name: 'siteLimit', label: 'licenseSites', kind: 'number', help: 'zeroUnlimited', initial: 0 },
  { name: 'nodeLimit', label: 'licenseNodes', kind: 'number', help: 'zeroUnlimited', initial: 0 },
  { name: 'zoneLimit', label: 'licenseZones', kind: 'number', help: 'zeroUnlimited', initial: 0 },
  { name: 'domainLimit', label: 'licenseDomains', kind: 'number', help: 'zeroUnlimited', initial: 0 },
  { name: 'autoSSLLimit', label: 'licenseAutoSSL', kind: 'number', help: 'zeroUnlimited', initial: 0 },
];
export const monitor: FormField = {
  name: 'nodeMonitorSeconds',
  kind: 'number',
  unit: 'seconds',
  help: 'nodeMonitorSeconds',
  initial: 0,
};
export const days: FormField = { name: 'days', kind: 'number', unit: 'days', help: 'licenseDays', initial: 365 };
