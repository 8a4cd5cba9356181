/** Who holds a port: for the one sentence a person needs when it is taken. */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { StartError, allPids, portIsFree } from '#server/store/engine-process.ts';

/** Errors: StartError naming the port, its holder where we may see it, and the variable that changes it. */
export async function checkPort(port: number, variable: string, kind: 'tcp' | 'udp' = 'tcp', host = '127.0.0.1'): Promise<void> {
  if (kind === 'tcp' ? await portIsFree(port, host) : await udpIsFree(port, host)) return;
  if (port < 1024 && process.getuid?.() !== 0)
    throw new StartError(`Port ${port} needs root: start as root or set ${variable} to a port from 1024 on.`);
  const holder = holderOf(port, kind);
  throw new StartError(`Port ${port} is taken${holder ? ` by ${holder}` : ''}: end it, or set ${variable} to another port.`);
}

function udpIsFree(port: number, host: string): Promise<boolean> {
  return new Promise(done => {
    const probe = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
    probe.once('error', () => done(false));
    probe.bind(port, host, () => probe.close(() => done(true)));
  });
}

/** `nginx (process 812)`, or undefined when it cannot be seen. */
function holderOf(port: number, kind: 'tcp' | 'udp'): string | undefined {
  const inodes = new Set<string>();
  for (const table of [kind, `${kind}6`]) {
    for (const line of lines(`/proc/net/${table}`).slice(1)) {
      const fields = line.trim().split(/\s+/);
      const listens = kind === 'udp' || fields[3] === '0A';
      if (listens && Number.parseInt(fields[1]?.split(':')[1] ?? '', 16) === port) inodes.add(`socket:[${fields[9]}]`);
    }
  }
  for (const pid of allPids()) {
    for (const fd of list(`/proc/${pid}/fd`)) {
      if (inodes.has(link(`/proc/${pid}/fd/${fd}`))) return `${lines(`/proc/${pid}/comm`)[0] ?? 'a program'} (process ${pid})`;
    }
  }
  return undefined;
}

function lines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
