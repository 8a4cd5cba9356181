/** The implementations of this folder; a further one is one line. */
export { nodeCommandCalls } from './commands.ts';
export { zoneCanaryCalls } from './canary.ts';
export { fleetCalls } from './fleet.ts';
export { joinLineCalls } from './join-lines.ts';
export { nodeInfoCalls } from './info.ts';
export { nodeSettingCalls } from './node-settings.ts';
export { nodeCalls, nodeSelfCalls } from './nodes.ts';
export { proxyProtocolImplementation } from './proxy-protocol.ts';
export { subNodeCalls } from './subs.ts';
export { nodeUpgradeCalls } from './upgrade.ts';
export { zonePortCalls } from './zone-ports.ts';
export { groupCalls, productCalls, zoneCalls } from './zones.ts';
