/** The groups of calls of this folder; a further one is one line. */
export { nodeCommands } from './commands.ts';
export { zoneCanary } from './canary.ts';
export { fleet } from './fleet.ts';
export { nodeInfo } from './info.ts';
export { nodeSettings } from './node-settings.ts';
export { joinLines } from './join-lines.ts';
export { nodeSelf, nodes } from './nodes.ts';
export { subNodes } from './subs.ts';
export { nodeUpgrades } from './upgrade.ts';
export { zonePorts } from './zone-ports.ts';
export { groups, products, zones } from './zones.ts';
