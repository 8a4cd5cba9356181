/** What /proc tells about processes (proc(5)); Linux only, as nginx's packages are. */
import { readFileSync, readdirSync, statSync } from 'node:fs';

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
