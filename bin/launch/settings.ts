/** What the environment and the command line of `npm start` say, checked once. */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { settingOf } from '#host/secrets.ts';
import { environmentRanges } from '#contract/rules/address-policy.ts';
import { StartError } from '#server/store/engine-process.ts';
import { type Addresses, readAddresses } from './addresses.ts';
import { dnsHosts } from './dns.ts';
import { helpText } from './environment.ts';

export const projectFolder = fileURLToPath(new URL('../../', import.meta.url));

/** The parts in the order in which they start; they end in the reverse order. */
export const partNames = ['postgres', 'nats', 'store', 'dns', 'ingest', 'server', 'agent'] as const;
export type PartName = (typeof partNames)[number];

export interface Settings {
  dataFolder: string;
  consolePort: number;
  edgeHttpPort: number;
  edgeHttpsPort: number;
  dnsPort: number;
  /** Addresses the embedded name server listens on. */
  dnsHosts: string[];
  /** Addresses the local edge node listens on. */
  edgeHosts: string[];
  demo: boolean;
  parts: ReadonlySet<PartName>;
  /** Engines somebody else runs. */
  databaseUrl?: string;
  clickhouseUrl?: string;
  natsUrl?: string;
  /** What other machines reach. */
  addresses: Addresses;
}

export const usage = `npm start -- [--demo] [--only=postgres,nats,…]

  --demo         also a site demo.breakwater.test on a local origin, with a trickle of real traffic
  --only=PARTS   start these parts alone: ${partNames.join(', ')}

Environment
${helpText()}`;

/** Reads the settings. Errors: StartError with the name of the variable. */
export function readSettings(args: readonly string[], env: NodeJS.ProcessEnv): Settings {
  let parts: ReadonlySet<PartName> = new Set(partNames);
  let demo = false;
  for (const arg of args) {
    if (arg === '--demo') demo = true;
    else if (arg.startsWith('--only=')) parts = new Set(arg.slice(7).split(',').map(partName));
    else throw new StartError(`Unknown argument ${arg}. \`npm start -- --help\` lists what there is.`);
  }
  const natsUrl = url(env, 'NATS_URL', ['nats:', 'tls:'], true);
  const settings: Settings = {
    dataFolder: resolve(env.BREAKWATER_DATA || join(projectFolder, 'data')),
    consolePort: port(env, 'BREAKWATER_PORT', 8080),
    edgeHttpPort: port(env, 'BREAKWATER_EDGE_HTTP', 8081),
    edgeHttpsPort: port(env, 'BREAKWATER_EDGE_HTTPS', 8443),
    dnsPort: port(env, 'BREAKWATER_DNS', 5353),
    dnsHosts: dnsHosts(env),
    edgeHosts: hosts(env),
    demo,
    parts,
    databaseUrl: url(env, 'DATABASE_URL', ['postgres:', 'postgresql:']),
    clickhouseUrl: url(env, 'CLICKHOUSE_URL', ['http:', 'https:']),
    natsUrl,
    addresses: readAddresses(env, natsUrl, (name, fallback) => port(env, name, fallback)),
  };
  try {
    environmentRanges(env.BREAKWATER_ORIGIN_ALLOW);
  } catch (error) {
    throw new StartError((error as Error).message);
  }
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
  const { outer, bus } = settings.addresses;
  return [
    ['BREAKWATER_PORT', settings.consolePort],
    ['BREAKWATER_EDGE_HTTP', settings.edgeHttpPort],
    ['BREAKWATER_EDGE_HTTPS', settings.edgeHttpsPort],
    ['BREAKWATER_DNS', settings.dnsPort],
    ...(outer ? [['BREAKWATER_TLS_PORT', outer.port] as [string, number]] : []),
    ...(bus?.port ? [['BREAKWATER_BUS_PORT', bus.port] as [string, number]] : []),
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

function hosts(env: NodeJS.ProcessEnv): string[] {
  const { lo = [] } = networkInterfaces();
  const loopback = lo.some(one => one.address === '::1') ? ['127.0.0.1', '::1'] : ['127.0.0.1'];
  if (!env.BREAKWATER_EDGE_HOST) return loopback; // where IPv6 is switched off, nobody can listen on ::1
  const list = env.BREAKWATER_EDGE_HOST.split(',').map(one => one.trim());
  for (const one of list)
    if (!isIP(one))
      throw new StartError(
        `BREAKWATER_EDGE_HOST must be IP addresses, comma-separated, for example 0.0.0.0,::; "${one}" is none.`,
      );
  return list;
}

/** @param several a comma-separated list of them is one too */
function url(env: NodeJS.ProcessEnv, name: string, protocols: readonly string[], several = false): string | undefined {
  const text = settingOf(name, env)?.replaceAll(/\s+/g, '');
  if (!text) return undefined;
  const isOne = (one: string) => URL.canParse(one) && protocols.includes(new URL(one).protocol);
  if (!(several ? text.split(',') : [text]).every(isOne)) {
    throw new StartError(`${name} must be a URL that begins with ${protocols.map(p => `${p}//`).join(' or ')}.`); // its value may hold a password
  }
  return text;
}
