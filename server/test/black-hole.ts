/** A way to a server that can swallow everything without closing anything, as a network that is split. */
import { once } from 'node:events';
import net from 'node:net';
import type { TestContext } from 'node:test';

export interface BlackHole {
  readonly port: number;
  /** where it leads */
  target: { host: string; port: number };
  /** What is said from now on reaches nobody, on connections of before, which stay so for good, and on new ones, which are taken. */
  swallow(): void;
  /** New connections lead on again. */
  open(): void;
  /** All connections are cut, and new ones refused until `open`. */
  cut(): void;
}

export async function blackHole(t: TestContext, port = 0): Promise<BlackHole> {
  const sockets = new Set<net.Socket>();
  let state: 'open' | 'swallows' | 'cut' = 'open';
  const keep = (socket: net.Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  };
  const server = net.createServer(socket => {
    keep(socket);
    if (state === 'cut') return socket.destroy();
    if (state === 'swallows') return void socket.resume();
    const there = net.connect(hole.target);
    keep(there);
    socket.pipe(there).pipe(socket);
    for (const [one, other] of [
      [socket, there],
      [there, socket],
    ] as const)
      one.once('close', () => state === 'open' && other.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  t.after(() => (server.close(), end()));
  const hole: BlackHole = {
    port: (server.address() as net.AddressInfo).port,
    target: { host: '127.0.0.1', port: 0 },
    swallow() {
      state = 'swallows';
      for (const socket of sockets) socket.unpipe().resume();
    },
    open: () => void (state = 'open'),
    cut() {
      state = 'cut';
      end();
    },
  };
  return hole;
}
