/** Which action a node's state allows (contract states), and in the reader's words why not. */
import { type nodeActions, nodeCan, type NodeState, reasonText } from '#contract/states.ts';
import type { RowOf } from '../kit/client.ts';
import { language } from '../kit/text.ts';

export type Node = RowOf<'GET /client/nodes'>;

/** A node without a zone is uninitialized, whatever its heartbeat says. */
export const stateOf = (node: Node): NodeState => (node.zoneID === null ? 'uninitialized' : node.status);

export const why = (action: keyof typeof nodeActions) => (node: Node) => {
  const answer = nodeCan(action, stateOf(node), node.silentSince !== null);
  return answer === true ? undefined : reasonText(answer, language);
};
