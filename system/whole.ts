/** The whole product as a user starts it, in a folder and on ports of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allPids, freePort, poll } from '#server/store/engine-process.ts';
import { testFolder } from './engines.ts';
import { noteAnswer } from './sent.ts';

const projectFolder = fileURLToPath(new URL('../', import.meta.url));

export const password = 'only for this test';

export interface Reply {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect
  body: any;
}

export class Whole {
  readonly folder: string;
  readonly origin: string;
  readonly edgePort: number;
  readonly edgeHttpsPort: number;
  readonly #env: NodeJS.ProcessEnv;
  readonly #args: string[];
  #child: ChildProcess | undefined;
  #output = '';

  private constructor(folder: string, ports: number[], args: string[], more: Record<string, string>) {
    const [console_, http_, https, dns] = ports;
    this.folder = folder;
    this.origin = `http://127.0.0.1:${console_}`;
    this.edgePort = http_!;
    this.edgeHttpsPort = https!;
    this.#args = args;
    this.#env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      TEST_PORTS: portsOfNext(),
      // making them takes six seconds of CPU; the demo that others start on has them (demo-folder.ts)
      ...(existsSync(join(folder, 'geo')) || process.env.TEST_DEMO === undefined ? {} : { BREAKWATER_GEO: 'own' }),
      BREAKWATER_DATA: folder,
      BREAKWATER_PASSWORD_FILE: `${folder}.password`,
      // origins of these tests listen on loopback; with the demo its zone may have them there anyway
      ...(args.includes('--demo') ? {} : { BREAKWATER_ORIGIN_ALLOW: '127.0.0.0/8' }),
      BREAKWATER_PORT: String(console_),
      BREAKWATER_EDGE_HTTP: String(http_),
      BREAKWATER_EDGE_HTTPS: String(https),
      BREAKWATER_DNS: String(dns),
      ...more,
    };
  }

  /** Starts and waits for the `ready` line; in a folder of its own unless one is given. `more` are settings beside its own. */
  static async start(
    args: string[] = [],
    folder = join(testFolder('whole'), 'data'),
    more: Record<string, string> = {},
  ): Promise<Whole> {
    const ports: number[] = [];
    while (ports.length < 4) {
      const port = await freePort();
      if (!ports.includes(port)) ports.push(port);
    }
    const whole = new Whole(folder, ports, args, more);
    writeFileSync(`${whole.folder}.password`, password, { mode: 0o600 });
    await whole.up();
    return whole;
  }

  /** Starts on the folder as it is. */
  async up(): Promise<void> {
    this.#output = '';
    // it ends with whoever started it: one that was left behind went on for hours, beside all other tests
    const program = [process.execPath, join(projectFolder, 'bin/launch.ts'), ...this.#args];
    const child = spawn('setpriv', ['--pdeathsig', 'TERM', '--', ...program], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    const up = await poll(() => /^ready http/m.test(this.#output) || child.exitCode !== null, 120_000, 50);
    if (!up || child.exitCode !== null) {
      await this.stop();
      throw new Error(`npm start did not become ready:\n${this.#output}`);
    }
  }

  /** What it was started with. */
  get env(): NodeJS.ProcessEnv {
    return this.#env;
  }

  get output() {
    return this.#output;
  }

  /** Ends it as ctrl-C would; answers the exit code. */
  async stop(): Promise<number | null> {
    const child = this.#child;
    if (!child || child.exitCode !== null) return child?.exitCode ?? null;
    const ended = new Promise<number | null>(done => child.once('close', done));
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
    const code = await ended;
    clearTimeout(timer);
    return code;
  }

  /** Processes of this installation whose command line matches: the launcher's tree, and whoever names or works in its folder. */
  pids(pattern: RegExp): number[] {
    const facts = allPids().flatMap(pid => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
        return [{ pid, parent, line: readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ') }];
      } catch {
        return [];
      }
    });
    const ours = ({ pid, line }: { pid: number; line: string }) => {
      try {
        return line.includes(`${this.folder}/`) || readlinkSync(`/proc/${pid}/cwd`).startsWith(this.folder);
      } catch {
        return false;
      }
    };
    const tree = new Set([this.#child!.pid!, ...facts.filter(ours).map(({ pid }) => pid)]);
    tree.delete(process.pid);
    for (let grown = true; grown;) {
      grown = false;
      for (const { pid, parent } of facts)
        if (tree.has(parent) && !tree.has(pid)) {
          tree.add(pid);
          grown = true;
        }
    }
    return facts.filter(({ pid, line }) => tree.has(pid) && pattern.test(line)).map(({ pid }) => pid);
  }

  /** A call of the API; a connection that breaks answers status 0. */
  async call(method: string, path: string, token?: string, body?: unknown): Promise<Reply> {
    try {
      const response = await fetch(`${this.origin}/api/v1${path}`, {
        method,
        headers: {
          'Accept-Language': 'en',
          ...(token ? { Authorization: `Bearer ${token}` } : {}),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(20_000),
      });
      const answer: unknown = await response.json();
      noteAnswer(answer);
      return { status: response.status, body: answer };
    } catch (error) {
      return { status: 0, body: { message: (error as Error).message } };
    }
  }

  async signIn(area: 'user' | 'client' | 'admin'): Promise<string> {
    return (await this.credentials(area)).accessToken;
  }

  async credentials(area: 'user' | 'client' | 'admin'): Promise<{ accessToken: string; refreshToken: string }> {
    const email = `${area}@breakwater.test`;
    const { status, body } = await this.call('POST', `/${area}/verify`, undefined, { email, password });
    if (status !== 200) throw new Error(`cannot sign in: ${JSON.stringify(body)}`);
    const { accessToken, refreshToken } = body as { accessToken: string; refreshToken: string };
    return { accessToken, refreshToken };
  }

  /** A visitor's request of the local node; status 0: no whole answer came. */
  visit(host: string, path: string, agent?: http.Agent): Promise<Visit> {
    return visitAt('127.0.0.1', this.edgePort, host, path, agent);
  }
}

export interface Visit {
  status: number;
  headers: http.IncomingHttpHeaders;
}
/** The same of any node. */
export function visitAt(address: string, port: number, host: string, path: string, agent?: http.Agent): Promise<Visit> {
  return new Promise(done => {
    const request = http.get({ host: address, port, path, headers: { Host: host }, agent, timeout: 10_000 }, response => {
      response.on('error', () => done({ status: 0, headers: {} }));
      response.on('end', () => done({ status: response.complete ? response.statusCode! : 0, headers: response.headers }));
      response.resume();
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => done({ status: 0, headers: {} }));
  });
}

let installations = 0;
/**
 * Fifty ports for the engines of the file's next installation, behind those of the file (bin/test.ts). Chosen among the file's own, one in
 * twenty starts gave an engine the port that the node had been told to serve at.
 */
function portsOfNext(): string | undefined {
  const { TEST_PORTS } = process.env;
  if (TEST_PORTS === undefined) return undefined;
  const from = Number(TEST_PORTS.split('-')[1]) + 50 * (installations++ % 10);
  return `${from}-${from + 50}`;
}

/** An origin of the test's own. */
export async function originServer(answer: http.RequestListener): Promise<{ port: number; stop(): Promise<void> }> {
  const server = http.createServer(answer);
  const port = await freePort();
  await new Promise<void>(done => server.listen(port, '127.0.0.1', done));
  return {
    port,
    stop: () =>
      new Promise(ended => {
        server.closeAllConnections();
        server.close(() => ended());
      }),
  };
}
