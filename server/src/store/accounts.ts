/**
 * A system user for each part, so that no part can read, signal or impersonate another. They are made when Breakwater is started as root
 * and one is missing (useradd(8), as a Debian package would do it). Not started as root, everything runs as the user who starts it.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { StartError } from './start-error.ts';

export const partAccounts = ['postgres', 'nats', 'store', 'ingest', 'server', 'node', 'dns', 'demo'] as const;
export type PartAccount = (typeof partAccounts)[number];

export interface Account {
  name: string;
  uid: number;
  gid: number;
}

const known = new Map<PartAccount, Account>();

export const accountName = (part: PartAccount): string => `breakwater-${part}`;

/** The user of a part, made if it is missing; undefined when we are not root. Errors: StartError. */
export function accountOf(part: PartAccount): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const found = known.get(part) ?? lookUp(accountName(part)) ?? make(accountName(part));
  known.set(part, found);
  return found;
}

function lookUp(name: string): Account | undefined {
  const local = readFileSync('/etc/passwd', 'utf8');
  const line =
    local.split('\n').find(one => one.startsWith(`${name}:`)) ??
    // perhaps it lives in a directory service
    spawnSync('getent', ['passwd', name], { encoding: 'utf8' }).stdout?.trim();
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid && gid ? { name, uid: Number(uid), gid: Number(gid) } : undefined;
}

function make(name: string): Account {
  const args = [
    '--system',
    '--user-group',
    '--no-create-home',
    '--home-dir',
    '/nonexistent',
    '--shell',
    '/usr/sbin/nologin',
    name,
  ];
  const path = `${process.env.PATH ?? ''}:/usr/sbin:/sbin:/usr/bin:/bin`;
  let said = '';
  // somebody else may be changing /etc/passwd: useradd waits itself for its lock, and gives up
  for (let tries = 0; tries < 3; tries++) {
    const { error, stderr } = spawnSync('useradd', args, { encoding: 'utf8', env: { PATH: path, LC_ALL: 'C' } });
    const account = lookUp(name);
    if (account) return account;
    said = error?.message ?? stderr.trim().split('\n').at(-1) ?? '';
  }
  throw new StartError(`The user ${name} cannot be made (${said}): run as root \`useradd ${args.join(' ')}\`, then start again.`);
}
