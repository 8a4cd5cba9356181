/** The implementations of this folder; a further one is one line. */
export { nodeCommandCalls } from './commands.ts';
export { nodeCalls, nodeSelfCalls } from './nodes.ts';
export { zonePortCalls } from './zone-ports.ts';
export { groupCalls, productCalls, zoneCalls } from './zones.ts';
