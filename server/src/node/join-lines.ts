/** Join lines that are still open, and how they are taken back. */
import { joinLines } from '#contract/node/join-lines.ts';
import { implement } from '../kit/implement.ts';
import { removeEach } from '../kit/removal.ts';
import { unknownID } from '../kit/store.ts';
import { isOpenLine, joinLineTable } from './tables.ts';

export const joinLineCalls = implement(
  joinLines,
  {
    'GET /nodes/joinTokens': ({ ctx, query }) => ctx.store(joinLineTable).page(query, [isOpenLine]),
    'DELETE /nodes/joinTokens': ({ ctx, body }) =>
      removeEach(
        ctx,
        ctx.store(joinLineTable),
        body.ids,
        line => line.name ?? String(line.id),
        async ({ isOpen }) => {
          // a machine that has joined by it may still ask for an answer that was lost
          if (!isOpen) throw unknownID('ids');
        },
      ),
  },
  { rows: { 'GET /nodes/joinTokens': joinLineTable } },
);
