/** What a version that is tried beside the one that serves is given: the records of now, doors of its own, and who is to be asked for. */
import { once } from 'node:events';
import { cpSync, existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { parseConfigSubject } from '#contract/edge/subjects.ts';
import type { AgentOptions } from './agent-options.ts';
import { DocumentStore } from './store.ts';
import type { Identity } from './identity.ts';
import type { Door } from './upgrade/probe.ts';
import { programs } from './upgrade/programs.ts';
import { Upgrade } from './upgrade/upgrade.ts';
import { Verifier } from './verify.ts';

const Domain = z.object({ host: z.string(), enabled: z.boolean() });

/** Enabled domains, any of them. */
function hostsOf(store: DocumentStore, most: number): string[] {
  const subjects = [...store.held.keys()].filter(subject => parseConfigSubject(subject)?.kind === 'domain');
  const hosts = new Set<string>();
  while (subjects.length && hosts.size < most) {
    const [subject] = subjects.splice(Math.floor(Math.random() * subjects.length), 1);
    const read = Domain.safeParse(JSON.parse(store.held.get(subject!)!.body));
    if (read.success && read.data.enabled) hosts.add(read.data.host);
  }
  return [...hosts];
}

type Doors = Pick<AgentOptions, 'httpPorts' | 'httpsPorts' | 'listen'>;
const everywhere = ['0.0.0.0', '::'];

/** One for each scheme. */
function doorsOf({ httpPorts, httpsPorts, listen }: Doors): Door[] {
  const first = listen?.[0];
  const address = !first || everywhere.includes(first) ? '127.0.0.1' : first;
  return [
    ...httpPorts.slice(0, 1).map(port => ({ address, port, isTLS: false })),
    ...httpsPorts.slice(0, 1).map(port => ({ address, port, isTLS: true })),
  ];
}

/** Its documents as they are held now, and what it would otherwise have to find out. */
async function copyFor(folder: string, data: string, store: DocumentStore): Promise<void> {
  const theirs = await DocumentStore.open(join(folder, 'config'));
  const held = [...store.held].map(([subject, { seq, body }]) => ({ kind: 'set' as const, subject, seq, body }));
  await Promise.race([
    theirs.write(held, store.at),
    new Promise<never>((_, fail) => setTimeout(() => fail(new Error(`${folder} cannot be written`)), 60_000).unref()),
  ]).finally(() => theirs.close());
  for (const name of ['identity.json', 'addresses.json', 'trusts'])
    if (existsSync(join(data, name))) cpSync(join(data, name), join(folder, name), { recursive: true });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

/** A loopback door for each of ours. */
const shadowArguments =
  (options: Doors) =>
  async (folder: string): Promise<{ args: string[]; doors: Door[] }> => {
    const doors = await Promise.all(
      doorsOf(options).map(async ({ isTLS }) => ({ isTLS, address: '127.0.0.1', port: await freePort() })),
    );
    const ports = (isTLS: boolean) => doors.filter(door => door.isTLS === isTLS).map(({ port }) => port);
    const args = ['--shadow', '--data', folder, '--listen', '127.0.0.1', '--health', '0'];
    args.push('--http', ports(false).join(), '--https', ports(true).join());
    return { args, doors };
  };

export type { Upgrade };

type Options = AgentOptions & Required<Pick<AgentOptions, 'log'>>;
interface Node {
  identity: Identity;
  store: DocumentStore;
  isConnected(): boolean;
  changed(): void;
}
export const upgradeOf = (options: Options, { identity, store, ...node }: Node): Upgrade =>
  new Upgrade({
    ...node,
    data: options.data,
    programs,
    server: () => {
      const { grant, server, ca } = identity;
      if (!grant) return undefined;
      return { url: server, ca, isSigned: (list, signature) => new Verifier(grant.documentKey).bundle(list, signature) };
    },
    hosts: most => hostsOf(store, most),
    doors: () => doorsOf(options),
    copy: folder => copyFor(folder, options.data, store),
    shadow: shadowArguments(options),
    change: options.change,
    become: options.become,
    log: options.log,
  });
