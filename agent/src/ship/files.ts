/**
 * The log folder. nginx writes `access.log`, which is a symbolic link to `access.<id>.log`: the id names a byte stream and stands in the
 * file's own name, so a line's identity survives the loss of everything else on the node. Rotation points the link at a new name.
 *
 *   access.log → access.<id>.log    being written
 *   access.<id>.log                 waiting to be stored
 *   access.<id>.hole                dropped for lack of room; holds its size until the loss is recorded
 *   access.marks.json               how far each is stored, as last heard: only saves sending twice after a restart
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { writeWhole } from '#host/files.ts';

export const linkName = 'access.log';
const marksName = 'access.marks.json';
const logName = /^access\.([a-z0-9]{12,32})\.log$/;
const holeName = /^access\.([a-z0-9]{12,32})\.hole$/;

/** Sorts by time of making. */
export const newFileID = () => Date.now().toString(36).padStart(9, '0') + randomBytes(6).toString('hex');

export class LogFolder {
  readonly dir: string;
  constructor(dir: string) {
    this.dir = dir;
    fs.mkdirSync(dir, { recursive: true });
  }

  pathOf = (id: string) => path.join(this.dir, `access.${id}.log`);
  #holeOf = (id: string) => path.join(this.dir, `access.${id}.hole`);

  /** The id nginx's log path points at now. Makes the link when there is none; takes a plain file of that name in as the first of its line. */
  active(): { id: string; adopted: boolean } {
    const link = path.join(this.dir, linkName);
    const stat = fs.lstatSync(link, { throwIfNoEntry: false });
    if (stat?.isSymbolicLink()) {
      const id = logName.exec(path.basename(fs.readlinkSync(link)))?.[1];
      if (id) return { id, adopted: false };
    }
    const id = newFileID();
    // Whoever writes to the plain file goes on writing to it under its new name.
    if (stat?.isFile()) fs.renameSync(link, this.pathOf(id));
    this.point(id);
    return { id, adopted: stat?.isFile() ?? false };
  }

  /** From now on whoever opens `access.log` writes to this file. Atomic. */
  point(id: string) {
    const fresh = path.join(this.dir, `${linkName}.new`);
    fs.rmSync(fresh, { force: true });
    fs.symlinkSync(path.basename(this.pathOf(id)), fresh);
    fs.renameSync(fresh, path.join(this.dir, linkName));
  }

  /** Ids of log files and holes, oldest first. */
  list(): { logs: string[]; holes: string[] } {
    const names = fs.readdirSync(this.dir).sort();
    const ids = (pattern: RegExp) => names.flatMap(name => pattern.exec(name)?.[1] ?? []);
    return { logs: ids(logName), holes: ids(holeName) };
  }

  remove(id: string) {
    fs.rmSync(this.pathOf(id), { force: true });
  }

  /** Drops a log file for good, remembering that `size` bytes of it were there. */
  dig(id: string, size: number) {
    writeWhole(this.#holeOf(id), String(size));
    this.remove(id);
  }
  holeSize = (id: string) => Number(fs.readFileSync(this.#holeOf(id), 'utf8')) || 0;
  fill(id: string) {
    fs.rmSync(this.#holeOf(id), { force: true });
  }

  /** From now on lines go to another file, if this one holds any. For when nobody knows what of its end is still there. */
  begin() {
    const { id } = this.active();
    if (fs.statSync(this.pathOf(id), { throwIfNoEntry: false })?.size) this.point(newFileID());
  }

  /** What is no position is left out: without one a file is sent from its start. */
  readMarks(): Record<string, number> {
    let read: unknown;
    try {
      read = JSON.parse(fs.readFileSync(path.join(this.dir, marksName), 'utf8'));
    } catch {
      return {};
    }
    if (typeof read !== 'object' || read === null) return {};
    return Object.fromEntries(Object.entries(read).filter(([, at]) => Number.isSafeInteger(at) && at >= 0));
  }
  writeMarks(marks: Record<string, number>) {
    const file = path.join(this.dir, marksName);
    writeWhole(file, JSON.stringify(marks), { durable: false }); // the control plane knows them better
  }
}

/** Whoever writes to our log was started by us, as us, while nobody else may write to it. */
function mayBeOurs(pid: string, file: fs.Stats): boolean {
  const isPrivate = file.uid === process.getuid?.() && (file.mode & 0o022) === 0;
  return !isPrivate || fs.statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === file.uid;
}

/**
 * Processes that hold a file open for writing, from /proc. `complete` is false when a process could not be looked into (the agent is not
 * root and somebody else's process runs): then an empty list proves nothing.
 */
export function writersOf(file: string): { pids: number[]; complete: boolean } {
  const target = fs.statSync(file, { throwIfNoEntry: false });
  const pids: number[] = [];
  let complete = true;
  if (!target) return { pids, complete };
  for (const name of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    let fds: string[];
    try {
      fds = fs.readdirSync(`/proc/${name}/fd`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' && mayBeOurs(name, target)) complete = false;
      continue;
    }
    for (const fd of fds) {
      try {
        const stat = fs.statSync(`/proc/${name}/fd/${fd}`);
        if (stat.ino !== target.ino || stat.dev !== target.dev) continue;
        const flags = Number.parseInt(
          /^flags:\s*(\d+)/m.exec(fs.readFileSync(`/proc/${name}/fdinfo/${fd}`, 'utf8'))?.[1] ?? '0',
          8,
        );
        if ((flags & 3) !== 0) pids.push(Number(name));
      } catch {
        // closed meanwhile
      }
    }
  }
  return { pids: [...new Set(pids)], complete };
}
