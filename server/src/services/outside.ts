/** Console and API for other machines: the same application as on loopback, with TLS. */
import { createServer } from 'node:https';
import type { FastifyInstance } from 'fastify';
import type { Settings } from '../settings.ts';

/** Answers on their way get this long at the end. */
const graceMs = 400;
/** Who comes and says nothing is let go after this long (usual: two minutes), and so many may be here at once: strangers hold memory. */
const handshakeTimeout = 10_000;
const connectionsMost = 10_000;

/**
 * @param app that listens on loopback already: it is ready
 * @throws when the port is taken, or the pair is none
 */
export async function listenOutside(
  app: FastifyInstance,
  { host, port, cert, key }: NonNullable<Settings['outer']>,
): Promise<{ stop(): Promise<void> }> {
  const { requestTimeout, keepAliveTimeout, headersTimeout, maxRequestsPerSocket } = app.server;
  const server = createServer(
    { cert, key, minVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'], handshakeTimeout },
    (request, response) => app.routing(request, response),
  );
  server.maxConnections = connectionsMost;
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
