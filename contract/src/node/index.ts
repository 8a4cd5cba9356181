/** The groups of calls of this folder; a further one is one line. */
export { nodeCommands } from './commands.ts';
export { nodeSelf, nodes } from './nodes.ts';
export { zonePorts } from './zone-ports.ts';
export { groups, products, zones } from './zones.ts';
