/** Console and API for other machines: the same application as on loopback, with TLS. */
import { createServer } from 'node:https';
import type { FastifyInstance } from 'fastify';
import type { Socket } from 'node:net';
import { eventOf } from '../kit/metrics.ts';
import { loopback, neighbourhoods, type Networks } from '../kit/networks.ts';
import { Seldom } from '../kit/seldom.ts';
import { logger } from '../log.ts';
import type { Settings } from '../settings.ts';

/** Answers on their way get this long at the end. */
const graceMs = 400;
/** Who comes and says nothing is let go after this long (usual: two minutes), and so many may be here at once: strangers hold memory. */
const handshakeTimeout = 10_000;
const connectionsMost = 10_000;
/** Of these one address (of IPv6 its /64), and the network that one holder may have all of (/24, /48). A browser has six; many may share an address. */
const most = { address: 500, network: 2000 } as const;
export type Bounds = { readonly [K in keyof typeof most]: number };

const refused = eventOf('outside', 'connectionRefused');
const troubles = new Seldom(300_000);

/** Counts who is here. Behind a proxy stand many, and this machine is nobody's stranger. */
function bounded({ address, network }: Bounds, free: readonly Networks[]) {
  const here = new Map<string, number>();
  return (socket: Socket) => {
    const { remoteAddress: from } = socket;
    // gone already
    if (from === undefined) return void socket.destroy();
    if (free.some(one => one.has(from))) return;
    const [wide, narrow] = neighbourhoods(from);
    if ((here.get(narrow) ?? 0) >= address || (here.get(wide) ?? 0) >= network) {
      refused();
      if (troubles.isTime(wide))
        logger.warn({ address: from }, 'a connection was refused: its address, or its network, has as many as it may');
      return void socket.destroy();
    }
    for (const name of [wide, narrow]) here.set(name, (here.get(name) ?? 0) + 1);
    socket.once('close', () => {
      for (const name of [wide, narrow]) {
        const left = here.get(name)! - 1;
        if (left) here.set(name, left);
        else here.delete(name);
      }
    });
  };
}

/**
 * @param app that listens on loopback already: it is ready
 * @param trustedProxies whose connections are those of many
 * @throws when the port is taken, or the pair is none
 */
export async function listenOutside(
  app: FastifyInstance,
  { host, port, cert, key }: NonNullable<Settings['outer']>,
  trustedProxies: Networks,
  { bounds = most, free = [loopback] }: { bounds?: Bounds; free?: readonly Networks[] } = {},
): Promise<{ stop(): Promise<void> }> {
  const { requestTimeout, keepAliveTimeout, headersTimeout, maxRequestsPerSocket } = app.server;
  const server = createServer(
    { cert, key, minVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'], handshakeTimeout },
    (request, response) => app.routing(request, response),
  );
  server.maxConnections = connectionsMost;
  server.prependListener('connection', bounded(bounds, [...free, trustedProxies]));
  Object.assign(server, { requestTimeout, keepAliveTimeout, headersTimeout, maxRequestsPerSocket });
  // what the inner one does with who speaks no HTTP, and with connections on which many calls wait
  for (const listener of app.server.listeners('clientError')) server.on('clientError', listener as () => void);
  server.on('secureConnection', socket => socket.setMaxListeners(0));
  server.on('tlsClientError', (_, socket) => socket.destroy());
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen({ host, port }, () => {
      server.off('error', fail);
      done();
    });
  });
  return {
    stop: () =>
      new Promise(done => {
        const timer = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close(() => {
          clearTimeout(timer);
          done();
        });
      }),
  };
}
