/** `node agent/src/main.ts --data DIR [--server URL --join TOKEN]`: a node, until SIGTERM or SIGINT. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { settingOf } from '#host/secrets.ts';
import { startAgent } from './agent.ts';
import { joinOnly } from './join-only.ts';

const usage = `node agent/src/main.ts --data DIR [--server URL --join TOKEN]

  --data DIR       what the node keeps: its identity, its configuration, nginx's cache and logs
  --server URL     the control plane; needed once                     BREAKWATER_URL
  --ca FILE        who vouches for the control plane (PEM); needed once; default: whom every machine knows
  --join TOKEN     a join token of the operator; needed once          BREAKWATER_JOIN_TOKEN
  --join-only      join, say how it went, and end
  --bundle DIR     with it: what lies there must be signed by the installation
  --name NAME      name of the node; default: the machine's
  --http PORTS     ports for visitors, comma-separated                BREAKWATER_EDGE_HTTP   80
  --https PORTS                                                       BREAKWATER_EDGE_HTTPS  none
  --listen HOSTS   addresses for visitors, comma-separated            BREAKWATER_EDGE_HOST   every IPv4 and IPv6 address
  --health PORT    /healthz /readyz /metrics on 127.0.0.1             BREAKWATER_AGENT_PORT  9180`;

// whatever we and nginx write: for our group at most
process.umask(0o027);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: Object.fromEntries(
      ['data', 'server', 'ca', 'join', 'join-only', 'bundle', 'name', 'http', 'https', 'listen', 'health', 'help'].map(name => [
        name,
        { type: name === 'help' || name === 'join-only' ? ('boolean' as const) : ('string' as const) },
      ]),
    ),
  });
  const text = (name: string, variable?: string) =>
    (values[name] as string | undefined) ?? (variable && settingOf(variable, process.env));
  if (values.help) {
    console.log(usage);
    return;
  }
  const data = text('data', 'BREAKWATER_NODE_DATA');
  if (!data) throw new Error(`--data is missing\n\n${usage}`);
  const caFile = text('ca');
  const serverCA = caFile && readFileSync(caFile, 'utf8');
  if (values['join-only']) {
    const joinToken = text('join', 'BREAKWATER_JOIN_TOKEN');
    const server = text('server', 'BREAKWATER_URL');
    if (!joinToken || !server) throw new Error('--join-only needs --server and --join (or BREAKWATER_JOIN_TOKEN_FILE)');
    console.log(await joinOnly({ data, server, serverCA, joinToken, name: text('name'), bundle: text('bundle') }));
    return;
  }
  const ports = (value: string | undefined, name: string) =>
    (value ?? '')
      .split(',')
      .filter(Boolean)
      .map(one => {
        const port = Number(one);
        if (!Number.isInteger(port) || port < 1 || port > 65535) throw new Error(`${name}: ${one} is not a port`);
        return port;
      });
  // A start may wait for an nginx that is silent: who ends it then means nginx too.
  const ending = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => ending.abort());
  const stop = () =>
    agent.stop().then(
      () => process.exit(0),
      error => {
        console.error((error as Error).message);
        process.exit(1);
      },
    );
  /** The same process with a fresh memory and today's files: whoever watches over it by its id notices nothing. */
  const again = () =>
    process.execve!(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], process.env);
  const agent = await startAgent({
    data,
    restart: () =>
      void agent.stop().then(again, error => {
        console.error(String(error));
        again();
      }),
    ending: ending.signal,
    server: text('server', 'BREAKWATER_URL'),
    serverCA,
    joinToken: text('join', 'BREAKWATER_JOIN_TOKEN'),
    name: text('name'),
    httpPorts: ports(text('http', 'BREAKWATER_EDGE_HTTP') ?? '80', '--http'),
    httpsPorts: ports(text('https', 'BREAKWATER_EDGE_HTTPS'), '--https'),
    listen: text('listen', 'BREAKWATER_EDGE_HOST')?.split(',').filter(Boolean),
    healthPort: ports(text('health', 'BREAKWATER_AGENT_PORT') ?? '9180', '--health')[0]!,
    log: message => console.log(message),
  });
  if (ending.signal.aborted) await stop();
  else ending.signal.addEventListener('abort', () => void stop());
}

main().catch(error => {
  console.error((error as Error).message);
  process.exit(1);
});
