/** The groups of calls of this folder; a further one is one line. */
export { groupAnswers } from './answers.ts';
export { cnameChecks } from './check-cname.ts';
export { cnames } from './cnames.ts';
export { dnsSecondaries } from './dns-secondaries.ts';
export { dnsSettings } from './dns-setting.ts';
export { geoData } from './geo-data.ts';
export { geoSource } from './geo-source.ts';
export { lineVirtualNodes, virtualNodes } from './virtual-nodes.ts';
