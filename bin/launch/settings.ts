/** What the environment and the command line of `npm start` say, checked once. */
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartError } from '#server/store/engine-process.ts';

export const projectFolder = fileURLToPath(new URL('../../', import.meta.url));

/** The parts in the order in which they start; they end in the reverse order. */
export const partNames = ['postgres', 'nats', 'store', 'ingest', 'server', 'agent'] as const;
export type PartName = (typeof partNames)[number];

export interface Settings {
  dataFolder: string;
  consolePort: number;
  edgeHttpPort: number;
  edgeHttpsPort: number;
  dnsPort: number;
  demo: boolean;
  parts: ReadonlySet<PartName>;
  /** Engines somebody else runs. */
  databaseUrl?: string;
  clickhouseUrl?: string;
  natsUrl?: string;
}

export const usage = `npm start -- [--demo] [--only=postgres,nats,…]

  --demo         also a site demo.breakwater.test on a local origin, with a trickle of real traffic
  --only=PARTS   start these parts alone: ${partNames.join(', ')}

Environment
  BREAKWATER_DATA        where everything is kept            data/ in this folder
  BREAKWATER_PORT        console and API                     8080
  BREAKWATER_EDGE_HTTP   the local edge node, HTTP           8081
  BREAKWATER_EDGE_HTTPS  the local edge node, HTTPS          8443
  BREAKWATER_DNS         the DNS server                      5353
  BREAKWATER_PASSWORD    password of the first accounts      made at the first start and printed once
  DATABASE_URL, CLICKHOUSE_URL, NATS_URL (with NATS_CREDS)   use these engines instead of the embedded ones`;

/** Reads the settings. Errors: StartError with the name of the variable. */
export function readSettings(args: readonly string[], env: NodeJS.ProcessEnv): Settings {
  let parts: ReadonlySet<PartName> = new Set(partNames);
  let demo = false;
  for (const arg of args) {
    if (arg === '--demo') demo = true;
    else if (arg.startsWith('--only=')) parts = new Set(arg.slice(7).split(',').map(partName));
    else throw new StartError(`Unknown argument ${arg}. \`npm start -- --help\` lists what there is.`);
  }
  const settings: Settings = {
    dataFolder: resolve(env.BREAKWATER_DATA || join(projectFolder, 'data')),
    consolePort: port(env, 'BREAKWATER_PORT', 8080),
    edgeHttpPort: port(env, 'BREAKWATER_EDGE_HTTP', 8081),
    edgeHttpsPort: port(env, 'BREAKWATER_EDGE_HTTPS', 8443),
    dnsPort: port(env, 'BREAKWATER_DNS', 5353),
    demo,
    parts,
    databaseUrl: url(env, 'DATABASE_URL', ['postgres:', 'postgresql:']),
    clickhouseUrl: url(env, 'CLICKHOUSE_URL', ['http:', 'https:']),
    natsUrl: url(env, 'NATS_URL', ['nats:', 'tls:']),
  };
  const seen = new Map<number, string>();
  for (const [name, value] of portVariables(settings)) {
    const other = seen.get(value);
    if (other) throw new StartError(`${other} and ${name} are both ${value}: give one of them another port.`);
    seen.set(value, name);
  }
  return settings;
}

/** The public ports with the variable that changes each. */
export function portVariables(settings: Settings): [variable: string, port: number][] {
  return [
    ['BREAKWATER_PORT', settings.consolePort],
    ['BREAKWATER_EDGE_HTTP', settings.edgeHttpPort],
    ['BREAKWATER_EDGE_HTTPS', settings.edgeHttpsPort],
    ['BREAKWATER_DNS', settings.dnsPort],
  ];
}

function partName(text: string): PartName {
  const name = partNames.find(part => part === text);
  if (!name) throw new StartError(`--only knows no part "${text}": it takes ${partNames.join(', ')}.`);
  return name;
}

function port(env: NodeJS.ProcessEnv, name: string, fallback: number): number {
  const text = env[name];
  if (!text) return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 65_535)
    throw new StartError(`${name} must be a port from 1 to 65535, it is "${text}".`);
  return value;
}

function url(env: NodeJS.ProcessEnv, name: string, protocols: readonly string[]): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (!parsed || !protocols.includes(parsed.protocol)) {
    throw new StartError(`${name} must be a URL that begins with ${protocols.map(p => `${p}//`).join(' or ')}.`); // its value may hold a password
  }
  return text;
}
