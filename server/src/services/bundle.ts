/**
 * The archives of the bundle, for nodes that are told to become it: by a ticket of the command (bus/offer.ts), as long as the node is one of
 * ours, and on from any byte.
 */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Queryable } from '../compile/load.ts';
import type { Offer } from '../bus/offer.ts';
import { Seldom } from '../kit/seldom.ts';

const told = new Seldom(60_000);
/** Whoever asks again may come to a machine that has it. */
export const lacking = 'This machine of the control plane has another bundle, or none: run `npm run bundle` there.\n';

export function serveBundle(app: FastifyInstance, offer: Offer, db: Queryable, log: (message: string) => void = () => {}): void {
  const isNode = async (id: number) =>
    (await db.query('select 1 from node where id = $1 and "deletedAt" is null', [id])).rows.length > 0;
  for (const name of ['application', 'runtime'] as const)
    app.get<{ Params: { ticket: string } }>(`/bundle/:ticket/${name}`, async (request, reply) => {
      const opens = offer.opens(request.params.ticket);
      const isOurs = opens !== undefined && (await isNode(opens.nodeID));
      if (isOurs && !opens.isHeld) {
        if (told.isTime('lacking'))
          log(`a node was sent here for a bundle that is not in ${offer.folder}: run \`npm run bundle\` here`);
        return reply.code(503).header('Retry-After', 2).type('text/plain').send(lacking);
      }
      const part = isOurs ? offer.bundle()?.[name] : undefined;
      if (!part) return reply.callNotFound();
      const asked = Number(/^bytes=(\d{1,12})-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
      const from = asked < part.bytes ? asked : 0;
      if (from) reply.code(206).header('Content-Range', `bytes ${from}-${part.bytes - 1}/${part.bytes}`);
      return reply
        .type('application/gzip')
        .header('Cache-Control', 'no-store')
        .header('Content-Length', part.bytes - from)
        .send(createReadStream(join(offer.folder, part.file), { start: from }));
    });
}
