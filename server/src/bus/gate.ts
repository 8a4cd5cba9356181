/** What the API asks of joining (kit/services.ts, NodeGate), but for telling nodes: that takes a bus. */
import type { Queryable } from '../compile/load.ts';
import type { NodeGate } from '../kit/services.ts';
import { type BusAuthority, type Grant, joinNode, renewNode } from './join.ts';
import { Roll } from './roll.ts';

export function gateOf(db: Queryable, authority: BusAuthority): Omit<NodeGate, 'notify'> {
  const roll = new Roll(db);
  const settled = async (grant: Grant) => {
    await authority.settled?.(grant.nodeID);
    return grant;
  };
  return {
    join: async (body, enter) => settled(await enter(() => joinNode(db, authority, body))),
    renew: async (body, enter) => settled(await enter(() => renewNode(db, authority, body))),
    isExpected: body => roll.isExpected(body),
    isOurs: (body, ip) => roll.isOurs(body, ip),
  };
}
