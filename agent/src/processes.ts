/** What /proc tells about processes (proc(5)); Linux only, as nginx's packages are. */
import { readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs';

export interface ProcessFacts {
  pid: number;
  name: string;
  parent: number;
  group: number;
  /** clock ticks since boot; with the pid it names a process for ever (until the next boot) */
  start: string;
}

/** undefined: there is no such process, or only its corpse */
export function processFacts(pid: number): ProcessFacts | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const close = line.lastIndexOf(')'); // the name may hold spaces and brackets
    const fields = line.slice(close + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return {
      pid,
      name: line.slice(line.indexOf('(') + 1, close),
      parent: Number(fields[1]),
      group: Number(fields[2]),
      start: fields[19]!,
    };
  } catch {
    return undefined;
  }
}

/** Does a process work in this folder? The folder itself is compared: another container may call another one by the same name. */
export function worksIn(pid: number, folder: string): boolean {
  try {
    const [theirs, ours] = [statSync(`/proc/${pid}/cwd`), statSync(folder)];
    return theirs.ino === ours.ino && theirs.dev === ours.dev;
  } catch {
    return false; // one of them is gone, or not ours to ask
  }
}

export function allProcesses(): ProcessFacts[] {
  return readdirSync('/proc').flatMap(name => (/^\d+$/.test(name) ? (processFacts(Number(name)) ?? []) : []));
}

/** Which boot of the machine this is: process ids of another one mean nothing. */
export function bootID(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}

/** Has a process a UDP socket at this port, of whatever address? One that is not ours to ask, or gone, has none. */
export function holdsUDP(pid: number, port: number): boolean {
  const at = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  try {
    const lines = ['udp', 'udp6'].flatMap(file => readFileSync(`/proc/${pid}/net/${file}`, 'latin1').split('\n').slice(1));
    const fields = lines.map(line => line.trim().split(/\s+/)).filter(([, local]) => local?.endsWith(at));
    const sockets = new Set(fields.map(line => `socket:[${line[9]}]`));
    return sockets.size > 0 && readdirSync(`/proc/${pid}/fd`).some(fd => sockets.has(linkOf(`/proc/${pid}/fd/${fd}`)));
  } catch {
    return false;
  }
}
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // closed meanwhile
  }
}

/** Sends a signal; a process that is gone is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // gone
  }
}

/** Sends a signal to all processes of the group that this one leads. */
export function signalGroup(leader: number, name: NodeJS.Signals): void {
  signal(processFacts(leader)?.group === leader ? -leader : leader, name);
}

/** For who looks again and again whether a process is gone. */
export const shortly = (): Promise<void> => new Promise(next => setTimeout(next, 20));
