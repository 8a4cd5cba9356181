/** The implementations of this folder; a further one is one line. */
export { groupAnswerCalls } from './answers.ts';
export { cnameCheckCalls } from './check-cname.ts';
export { cnameCalls } from './cnames.ts';
export { dnsSecondaryCalls } from './dns-secondaries.ts';
export { dnsSettingCalls } from './dns-setting.ts';
export { geoDataCalls } from './geo-data.ts';
export { geoSourceCalls } from './geo-source.ts';
export { lineVirtualNodeCalls, virtualNodeCalls } from './virtual-nodes.ts';
