/** Join lines that are still open: made by `POST /client/nodes/joinToken`, used by nobody yet. The line itself was told once, to whoever made it. */
import { calls } from '../kit/call.ts';
import { id, ids, list, nullable, obj, one, opt, page, str, text, time } from '../kit/schema.ts';
import { nodeTypes } from '../limits.ts';

export const JoinLine = obj({
  id: id(),
  createdAt: time(),
  /** that the node gets; null: its machine's */
  name: nullable(text(64)),
  /** that it joins; null: none yet */
  zoneID: nullable(id()),
  zoneName: nullable(text(64)),
  type: one(nodeTypes),
  /** who made it; null: the installation itself */
  maker: nullable(text(255)),
  expiredAt: time(),
});

export const joinLines = calls(
  { base: '/client', resource: 'nodes' },
  {
    'GET /nodes/joinTokens': { query: list({ keyword: opt(str(64)) }), answer: page(JoinLine) },
    /** Takes them back: nobody joins by them any more. */
    'DELETE /nodes/joinTokens': { body: obj({ ids: ids() }), errors: ['multiple'] },
  },
);
