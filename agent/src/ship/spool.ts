/** The log files of a node: which there are, how far each is written, sent and stored, and when one may go. */
import fs from 'node:fs';
import { logRangeMaxBytes } from '#contract/edge/log.ts';
import { type LogFolder, newFileID, writersOf } from './files.ts';
import type { ShipperOptions } from './types.ts';

export const newline = 0x0a;

export interface LogFile {
  id: string;
  /** undefined until nginx has made it, and for a hole */
  fd: number | undefined;
  hole: boolean;
  size: number;
  /** taken by the bus, or under way */
  sent: number;
  /** stored */
  mark: number;
  /** nobody writes to it any more: its size stands */
  final: boolean;
  /** its end was cut off: positions from its size on were given before and are not given again */
  cut: boolean;
  /** why it cannot be read, although it is there */
  trouble: string | null;
  /** where to go back to, once nothing is under way */
  rewind: number | undefined;
  /** when its writers were last looked for or told to leave */
  checkedAt: number;
  grownAt: number;
}

interface SpoolOptions {
  settings: { rotateBytes: number; rotateSeconds: number; diskBudgetBytes: number };
  reopen: ShipperOptions['reopen'];
  log: NonNullable<ShipperOptions['log']>;
}

/** @throws the file system's error, when the folder cannot be read */
export function openSpool(folder: LogFolder, { settings, reopen: tell, log }: SpoolOptions) {
  const files = new Map<string, LogFile>();
  const buffer = Buffer.allocUnsafe(logRangeMaxBytes);
  const figures = { lostBytes: 0, cutBytes: 0 };
  const marks = folder.readMarks();
  let marksChanged = false;
  let marksWrittenAt = -Infinity;
  let active = folder.active();
  let roomless = false;
  let activeSince = performance.now();

  const add = (id: string, hole: boolean) =>
    files.set(id, {
      id,
      fd: undefined,
      hole,
      size: hole ? folder.holeSize(id) : 0,
      sent: marks[id] ?? 0,
      mark: marks[id] ?? 0,
      final: hole,
      cut: false,
      trouble: null,
      rewind: undefined,
      checkedAt: -Infinity,
      grownAt: performance.now(),
    });
  const found = folder.list();
  for (const id of found.holes)
    try {
      add(id, true);
      // A crash may have come between the note and the deletion.
      folder.remove(id);
    } catch (error) {
      log('the note of a dropped log file cannot be read', { file: id, error: (error as Error).message });
    }
  for (const id of found.logs) if (!files.has(id)) add(id, false);
  if (!files.has(active.id)) add(active.id, false);
  if (active.adopted) reopen(files.get(active.id)!);

  function reopen(old: LogFile) {
    old.checkedAt = performance.now();
    if (tell)
      return void Promise.resolve(tell()).catch((error: Error) =>
        log('writers of the log could not be told to reopen it', { error: error.message }),
      );
    for (const pid of writersOf(folder.pathOf(old.id)).pids) {
      try {
        process.kill(pid, 'SIGUSR1');
      } catch {
        // gone meanwhile
      }
    }
  }

  /** @throws while the disk takes no new name */
  function begin() {
    const old = files.get(active.id)!;
    const id = newFileID();
    folder.point(id);
    active = { id, adopted: false };
    activeSince = performance.now();
    add(id, false);
    reopen(old);
  }
  function rotate() {
    if (files.get(active.id)!.size > 0) begin();
  }
  function rotateWhenDue() {
    const { size, cut: isCut } = files.get(active.id)!;
    if (isCut) return begin();
    const isOld = settings.rotateSeconds > 0 && performance.now() - activeSince >= settings.rotateSeconds * 1000;
    if (size >= settings.rotateBytes || isOld) rotate();
  }

  /** Does something with a file that may fail; what goes wrong stays with this file, which is kept, and is tried again. */
  function reading<T>(file: LogFile, act: () => T): T | undefined {
    try {
      return act();
    } catch (error) {
      const { message } = error as Error;
      if (file.trouble === null) log('a log file cannot be read: it is kept', { file: file.id, error: message });
      file.trouble = message;
      return undefined;
    }
  }

  /** nginx has not made it, it was rotated away before anybody wrote to it, or somebody deleted it. */
  function isMissing(file: LogFile) {
    file.trouble = null;
    if (file.id !== active.id) file.final = true;
    // made anew, it would begin with positions that are stored already
    else if (file.mark > 0) cut(file, 0, file.mark);
  }

  /** Looks at a file's size; opens it when nginx has made it. */
  function look(file: LogFile) {
    if (file.hole || file.final) return;
    if (file.fd === undefined) {
      try {
        file.fd = fs.openSync(folder.pathOf(file.id), 'r');
        file.trouble = null;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return isMissing(file);
        return reading(file, () => {
          throw error;
        });
      }
    }
    const { size } = fs.fstatSync(file.fd);
    if (file.cut) return;
    const was = Math.max(file.size, file.mark);
    if (size < was) return cut(file, size, was);
    if (size > file.size) file.grownAt = performance.now();
    file.size = size;
  }

  /**
   * It was longer once. Lines that are written to it now get positions that others had, which are stored already: nobody would count
   * them. So it ends here, and a new one begins.
   */
  function cut(file: LogFile, size: number, was: number) {
    if (file.cut) return;
    log('a log file is shorter than it was: another is begun', { file: file.id, bytes: size, was });
    figures.cutBytes += was - size;
    file.cut = true;
    file.size = size;
    file.sent = Math.min(file.sent, size);
  }

  /** A file that was rotated away is final once nobody can write to it. */
  function settle(file: LogFile) {
    const now = performance.now();
    if (file.final || file.id === active.id || now - file.checkedAt < 1000) return;
    // unread, its size says nothing
    if (file.trouble !== null || file.sent < (reading(file, () => lastLineEnd(file)) ?? Infinity)) return;
    file.checkedAt = now;
    const { pids, complete } = writersOf(folder.pathOf(file.id));
    if (pids.length > 0) return reopen(file);
    if (!complete && now - file.grownAt < 600_000) return;
    look(file);
    file.final = file.trouble === null;
  }
  /** While somebody may write, a line without its end is left alone: what is before it is all there is to send. */
  const lastLineEnd = (file: LogFile) => (file.sent < file.size && !file.final ? endOfLines(file) : file.size);
  function endOfLines(file: LogFile) {
    const length = fs.readSync(file.fd!, buffer, 0, Math.min(logRangeMaxBytes, file.size - file.sent), file.sent);
    const end = buffer.lastIndexOf(newline, length - 1);
    return end >= 0 && length > 0 ? file.sent + end + 1 : file.sent;
  }

  /** What is stored as a whole goes. */
  function tidy() {
    for (const file of files.values()) {
      settle(file);
      if (file.final && file.mark >= file.size && file.id !== active.id) forget(file);
    }
  }
  function forget(file: LogFile) {
    if (file.fd !== undefined) fs.closeSync(file.fd);
    if (file.hole) folder.fill(file.id);
    else folder.remove(file.id);
    files.delete(file.id);
    marksChanged = true;
  }

  function keepBudget() {
    let total = 0;
    for (const file of files.values()) if (!file.hole) total += file.size;
    if (total <= settings.diskBudgetBytes) return;
    const oldest = [...files.values()].find(file => file.final && !file.hole && file.fd !== undefined);
    if (!oldest) {
      if (files.get(active.id)!.size > settings.diskBudgetBytes / 4) rotate();
      return;
    }
    const lost = oldest.size - Math.max(oldest.mark, oldest.sent);
    log('the log files outgrew their room: the oldest is dropped', { file: oldest.id, bytes: lost });
    folder.dig(oldest.id, oldest.size);
    fs.closeSync(oldest.fd!);
    oldest.fd = undefined;
    oldest.hole = true;
    figures.lostBytes += lost;
  }

  /** So far a file is stored, as the server says. */
  function stored(file: LogFile, at: number) {
    // Of another life of this file, which is not ours any more.
    if (at > file.size && file.fd !== undefined) cut(file, file.size, at);
    file.mark = at;
    marksChanged = true;
  }

  function saveMarks(now = false) {
    if (!marksChanged || (!now && performance.now() - marksWrittenAt < 2000)) return;
    marksChanged = false;
    marksWrittenAt = performance.now();
    try {
      folder.writeMarks(Object.fromEntries([...files.values()].filter(file => file.mark > 0).map(file => [file.id, file.mark])));
    } catch (error) {
      log('marks could not be saved', { error: (error as Error).message });
    }
  }

  return {
    files,
    figures,
    /** Sizes, rotation, room: before anything is sent. */
    look: () => {
      for (const file of files.values()) look(file);
      try {
        rotateWhenDue();
        keepBudget();
        roomless = false;
      } catch (error) {
        // what stands can be sent all the same, and makes room
        if (!roomless) log('the log cannot be rotated', { error: (error as Error).message });
        roomless = true;
      }
    },
    rotate,
    reading,
    tidy,
    stored,
    saveMarks,
    unread: () => {
      const file = [...files.values()].find(one => one.trouble !== null);
      return file ? `access.${file.id}.log: ${file.trouble}` : null;
    },
    close: () => {
      for (const file of files.values()) if (file.fd !== undefined) fs.closeSync(file.fd);
    },
  };
}
