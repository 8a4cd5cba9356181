/** A real node for tests: an agent as a process of its own, joined over HTTP to a control plane made of the server's own parts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { errors } from '#contract/errors.ts';
import { type Bus, type BusOptions, startBus } from '#server/bus/bus.ts';
import { joinTokenHash } from '#server/bus/join-token.ts';
import { freePort } from '#server/store/engine-process.ts';
import { testFolder } from '#system/engines.ts';
import { Rig, until } from '../../server/test/bus/rig.ts';

export { Rig, until };

/** The rig with relay, acknowledgements and the two calls of a node on HTTP. */
export class Plane {
  readonly rig: Rig;
  bus: Bus;
  readonly http: http.Server;
  readonly url: string;
  #tokens = 0;

  private constructor(rig: Rig, bus: Bus, server: http.Server, url: string) {
    this.rig = rig;
    this.bus = bus;
    this.http = server;
    this.url = url;
  }

  static async start(
    t?: TestContext,
    more: Pick<BusOptions, 'floodLimits' | 'tokenSeconds' | 'log' | 'sealing' | 'toldUrl'> = {},
  ): Promise<Plane> {
    const rig = await Rig.start(t);
    const { url: databaseUrl, pool: db, nc: nats, engine } = rig;
    const options = () => ({ databaseUrl, db, nats, keys: engine.keys, natsUrl: engine.url, ...more });
    const server = http.createServer((request, answer) => {
      let text = '';
      request.on('data', part => (text += part));
      request.on('end', () => {
        const call = request.url === '/api/v1/node/join' ? plane.bus.join : plane.bus.renew;
        call(JSON.parse(text), act => act()).then(
          grant => answer.end(JSON.stringify(grant)),
          error =>
            answer.writeHead(401).end(JSON.stringify({ isError: true, code: errors.invalidToken.code, message: error.message })),
        );
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const plane = new Plane(rig, startBus(options()), server, `http://127.0.0.1:${(server.address() as { port: number }).port}`);
    rig.onEnd(async () => {
      server.close();
      server.closeAllConnections();
      await plane.bus.stop();
    });
    return plane;
  }

  async token(zoneID: number | null): Promise<string> {
    const token = `token-${++this.#tokens}`;
    await this.rig.pool.query(
      `insert into "joinToken" (hash, "clientID", "zoneID", "expiredAt") values ($1, 1, $2, now() + interval '1 hour')`,
      [joinTokenHash(token), zoneID],
    );
    return token;
  }

  /** A node that joins this zone (null: none yet). */
  async node(t: TestContext | undefined, zoneID: number | null, name = 'n'): Promise<TestNode> {
    const node = new TestNode(this, await this.token(zoneID), name);
    node.httpPort = await freePort();
    node.healthPort = await freePort();
    t?.after(() => node.end());
    node.start();
    await until('the node is up', async () => (await node.get('/')).status === 903, 60_000);
    return node;
  }
}

export class TestNode {
  data = testFolder('node');
  httpPort = 0;
  healthPort = 0;
  /** 0: it speaks no https */
  httpsPort = 0;
  /** for edges of its zone, while it is a relay; 0: the usual one */
  relayPort = 0;
  /** further words for the agent */
  more: string[] = [];
  /** a program that starts the agent, with its words */
  through: string[] = [];
  log = '';
  process: ChildProcess | undefined;
  readonly #plane: { url: string };
  readonly #token: string;
  readonly #name: string;

  /** @param plane whatever has the address of a control plane */
  constructor(plane: { url: string }, token: string, name: string) {
    this.#plane = plane;
    this.#token = token;
    this.#name = name;
  }

  start(): void {
    const args = ['--data', this.data, '--server', this.#plane.url, '--join', this.#token, '--name', this.#name];
    const ports = ['--http', String(this.httpPort), '--health', String(this.healthPort)];
    if (this.httpsPort) ports.push('--https', String(this.httpsPort));
    if (this.relayPort) ports.push('--relay', String(this.relayPort));
    const main = new URL('../src/main.ts', import.meta.url).pathname;
    const [program, ...words] = [...this.through, process.execPath, main, ...args, ...ports, ...this.more];
    this.process = spawn(program!, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.process.stdout!, this.process.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.log += text;
        if (process.env.TEST_ENGINE_LOG) console.error(`${this.#name}: ${text.trimEnd()}`);
      });
  }

  /** Ends the agent alone: SIGKILL leaves nginx serving. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    const child = this.process!;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }

  async end(): Promise<void> {
    await this.kill('SIGTERM');
    const pid = this.nginx();
    if (!pid) return;
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      // it ended with the agent
    }
  }

  /** Process id of nginx's master, as the agent remembers it. */
  nginx(): number | undefined {
    try {
      return JSON.parse(readFileSync(join(this.data, 'run', 'nginx.json'), 'utf8')).pid;
    } catch {
      return undefined;
    }
  }

  get(
    path: string,
    port = this.httpPort,
    host = '127.0.0.1',
    address = '127.0.0.1',
    headers: http.OutgoingHttpHeaders = {},
  ): Promise<{ status: number; body: string; headers: http.IncomingHttpHeaders }> {
    return new Promise((done, fail) => {
      const request = http.get(
        { host: address, port, path, headers: { host, ...headers }, agent: false, timeout: 5000 },
        answer => {
          let body = '';
          answer.setEncoding('utf8').on('data', part => (body += part));
          answer.on('end', () => done({ status: answer.statusCode!, body, headers: answer.headers }));
          answer.on('error', fail);
        },
      );
      request.on('timeout', () => request.destroy(new Error('no answer')));
      // one that did not start says why
      request.on('error', error => fail(this.process?.exitCode ? new Error(`the agent ended: ${this.log.slice(-2000)}`) : error));
    });
  }
  /** What a visitor of this host gets: the body of a 200, else the status. */
  async visit(host: string, path = '/'): Promise<string | number> {
    const { status, body } = await this.get(path, this.httpPort, host);
    return status === 200 ? body : status;
  }
}

/** An origin that answers its name and is never cached. */
export async function origin(t: TestContext | undefined, name: string): Promise<number> {
  const server = http.createServer((_, answer) => answer.setHeader('cache-control', 'no-store').end(name));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t?.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as { port: number }).port;
}
