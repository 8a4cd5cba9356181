/**
 * Ships a node's access log: raw byte ranges of its log files, in order, zstd-compressed, a few at a time, to the bus. A file is deleted
 * only when the server has said that all of it is stored; until then it is the spool, and whatever is lost on the way is sent again
 * from it. Nothing is parsed here.
 */
import fs from 'node:fs';
import zlib from 'node:zlib';
import { setImmediate as breath } from 'node:timers/promises';
import { headers } from '@nats-io/transport-node';
import { type LogKind, LogMark, logHeaders, logRangeMaxBytes } from '#contract/edge/log.ts';
import { own, streams } from '#contract/edge/subjects.ts';
import { LogFolder, newFileID, writersOf } from './files.ts';
import type { Shipper, ShipperOptions } from './types.ts';

export type { Shipper, ShipperOptions, ShipperStats } from './types.ts';

/** Of this life of the agent. */
const runID = newFileID();

/** A range takes about two milliseconds. */
const packing = { chunkSize: 1 << 19, params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };

const window = 8;
const pollMs = 200;
const publishTimeoutMs = 5000;
const backoffMs = { least: 100, most: 5000 };
const newline = 0x0a;

interface LogFile {
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
  /** where to go back to, once nothing is under way */
  rewind: number | undefined;
  /** when its writers were last looked for or told to leave */
  checkedAt: number;
  grownAt: number;
}

export function startShipper(options: ShipperOptions): Shipper {
  const { nc, names = own } = options;
  const settings = {
    rotateBytes: options.rotateBytes ?? 64 << 20,
    rotateSeconds: options.rotateSeconds ?? 0,
    diskBudgetBytes: options.diskBudgetBytes ?? 4 * 2 ** 30,
  };
  const log = options.log ?? (() => undefined);
  const folder = new LogFolder(options.logDir);
  const files = new Map<string, LogFile>();
  const buffer = Buffer.allocUnsafe(logRangeMaxBytes);
  let problem: string | null = null;
  let stopping = false;
  let sentBytes = 0;
  let lostBytes = 0;
  let backoff = 0;
  let quietUntil = 0;
  let movedAt = performance.now();
  let probeWait = 3000;
  let marksChanged = false;
  let marksWrittenAt = -Infinity;

  // ── what is on disk ────────────────────────────────────────────────────────────────────────────────────────────

  const marks = folder.readMarks();
  let active = folder.active();
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
      rewind: undefined,
      checkedAt: -Infinity,
      grownAt: performance.now(),
    });
  const found = folder.list();
  for (const id of found.holes) {
    // A crash may have come between the note and the deletion.
    folder.remove(id);
    add(id, true);
  }
  for (const id of found.logs) if (!files.has(id)) add(id, false);
  if (!files.has(active.id)) add(active.id, false);
  if (active.adopted) reopen(files.get(active.id)!);

  function reopen(old: LogFile) {
    old.checkedAt = performance.now();
    if (options.reopen)
      return void Promise.resolve(options.reopen()).catch((error: Error) =>
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

  function rotate() {
    const old = files.get(active.id)!;
    if (old.size === 0) return;
    active = { id: newFileID(), adopted: false };
    activeSince = performance.now();
    add(active.id, false);
    folder.point(active.id);
    reopen(old);
  }

  /** Looks at a file's size; opens it when nginx has made it. */
  function look(file: LogFile) {
    if (file.hole || file.final) return;
    try {
      file.fd ??= fs.openSync(folder.pathOf(file.id), 'r');
    } catch {
      if (file.id !== active.id) file.final = true; // rotated away before anybody wrote to it, or deleted by hand
      return;
    }
    const size = fs.fstatSync(file.fd).size;
    if (size > file.size) file.grownAt = performance.now();
    if (size < file.size) log('a log file was cut short from outside: its rest counts as lost', { file: file.id });
    file.size = size;
  }

  /** A file that was rotated away is final once nobody can write to it. */
  function settle(file: LogFile) {
    const now = performance.now();
    if (file.final || file.id === active.id || file.sent < lastLineEnd(file) || now - file.checkedAt < 1000) return;
    file.checkedAt = now;
    const { pids, complete } = writersOf(folder.pathOf(file.id));
    if (pids.length > 0) return reopen(file);
    if (!complete && now - file.grownAt < 600_000) return;
    look(file);
    file.final = true;
  }
  /** While somebody may write, a line without its end is left alone: what is before it is all there is to send. */
  const lastLineEnd = (file: LogFile) => (file.sent < file.size && !file.final ? endOfLines(file) : file.size);
  function endOfLines(file: LogFile) {
    const length = fs.readSync(file.fd!, buffer, 0, Math.min(logRangeMaxBytes, file.size - file.sent), file.sent);
    const end = buffer.lastIndexOf(newline, length - 1);
    return end >= 0 && length > 0 ? file.sent + end + 1 : file.sent;
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
    lostBytes += lost;
  }

  // ── sending ────────────────────────────────────────────────────────────────────────────────────────────────────

  let underWay = 0;
  let wake = () => {};
  const sleep = (ms: number) =>
    new Promise<void>(resolve => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function publish(file: string, kind: LogKind, from: number, to: number, data: Uint8Array) {
    const h = headers();
    h.set('Nats-Expected-Stream', streams.logs);
    h.set(logHeaders.file, file);
    h.set(logHeaders.kind, kind);
    h.set(logHeaders.run, runID);
    h.set(logHeaders.from, String(from));
    h.set(logHeaders.to, String(to));
    h.set(logHeaders.sent, String(Date.now()));
    const answer = await nc.request(names.log, data, { headers: h, timeout: publishTimeoutMs });
    const ack = answer.json<{ seq?: number; error?: { description?: string } }>();
    if (ack.error || !ack.seq) throw new Error(ack.error?.description ?? 'the bus did not take it');
  }

  /** Sends without waiting. A failure takes the file back to where the failed range began, since what follows it is of no use. */
  function send(file: LogFile, kind: LogKind, from: number, to: number, data: Uint8Array) {
    underWay++;
    file.sent = to;
    movedAt = performance.now();
    publish(file.id, kind, from, to, data)
      .then(
        () => {
          sentBytes += to - from;
          problem = null;
          backoff = 0;
        },
        (error: Error) => {
          file.rewind = Math.min(file.rewind ?? from, from);
          problem = error.message;
          backoff = Math.min(Math.max(backoff * 2, backoffMs.least), backoffMs.most);
          quietUntil = performance.now() + backoff;
        },
      )
      .finally(() => {
        underWay--;
        wake();
      });
  }

  /** Sends the next range of a file; false when it has none. */
  function step(file: LogFile): boolean {
    const from = file.sent;
    if (from >= file.size || file.rewind !== undefined) return false;
    if (file.hole) {
      send(file, 'hole', from, file.size, new Uint8Array());
      return true;
    }
    const length = fs.readSync(file.fd!, buffer, 0, Math.min(logRangeMaxBytes, file.size - from), from);
    let end = buffer.subarray(0, length).lastIndexOf(newline) + 1;
    // No end of line in sight: the rest of a finished file, or a line longer than any range.
    if (end === 0 && (file.final || length === logRangeMaxBytes)) end = length;
    if (file.final && from + length === file.size) end = length;
    if (end === 0) return false;
    send(file, 'bytes', from, from + end, zlib.zstdCompressSync(buffer.subarray(0, end), packing));
    return true;
  }

  /** All is sent but not known to be stored: the answer to an empty range says how far it is, or asks for it again. */
  function probe() {
    const waiting = [...files.values()].find(file => file.sent > file.mark);
    if (!waiting || underWay > 0 || performance.now() - movedAt < probeWait) return;
    probeWait = Math.min(probeWait * 2, 30_000);
    for (const file of files.values())
      if (file.sent > file.mark && underWay < window) send(file, 'bytes', file.sent, file.sent, new Uint8Array());
  }

  async function round(): Promise<boolean> {
    let some = false;
    if (underWay === 0)
      for (const file of files.values()) {
        if (file.rewind === undefined) continue;
        file.sent = Math.min(file.rewind, file.size);
        file.rewind = undefined;
      }
    for (const file of files.values()) look(file);
    const current = files.get(active.id)!;
    const old = settings.rotateSeconds > 0 && performance.now() - activeSince >= settings.rotateSeconds * 1000;
    if (current.size >= settings.rotateBytes || (old && current.size > 0)) rotate();
    keepBudget();
    if (performance.now() >= quietUntil && !nc.isClosed() && connected)
      for (const file of files.values()) {
        while (underWay < window && performance.now() >= quietUntil && step(file)) {
          some = true;
          await breath(); // the node's other work comes between two ranges
        }
        if (underWay >= window) break;
      }
    for (const file of files.values()) {
      settle(file);
      if (file.final && file.mark >= file.size && file.id !== active.id) forget(file);
    }
    if (connected && performance.now() >= quietUntil) probe();
    saveMarks();
    return some;
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

  // ── what the server says ───────────────────────────────────────────────────────────────────────────────────────

  const said = nc.subscribe(names.mark, {
    callback: (error, message) => {
      if (error) return;
      const mark = LogMark.safeParse(safeJson(message.string()));
      if (!mark.success) return;
      for (const [id, at] of Object.entries(mark.data.marks ?? {})) {
        const file = files.get(id);
        if (!file || at <= file.mark) continue;
        file.mark = at;
        // Stored from an earlier life of this process: need not be sent again.
        if (file.sent < at && file.rewind === undefined && underWay === 0) file.sent = Math.min(at, file.size);
        marksChanged = true;
        movedAt = performance.now();
        probeWait = 3000;
      }
      for (const [id, at] of Object.entries(mark.data.rewind ?? {})) {
        const file = files.get(id);
        if (file) file.rewind = Math.min(file.rewind ?? at, at);
        else publish(id, 'gone', at, at, new Uint8Array()).catch(() => undefined);
      }
      wake();
    },
  });

  // While the connection is down, what is published would wait in the client and arrive late, with an old clock on it.
  let connected = true;
  void (async () => {
    for await (const status of nc.status()) {
      if (status.type === 'disconnect') connected = false;
      if (status.type === 'reconnect') connected = true;
    }
  })();

  const running = (async () => {
    while (!stopping) {
      let some = false;
      try {
        some = await round();
      } catch (error) {
        problem = (error as Error).message;
        log('the log cannot be shipped', { error: problem });
        await sleep(1000);
      }
      if (!some || underWay >= window) await sleep(pollMs);
    }
  })();

  return {
    async stop() {
      if (stopping) return running;
      stopping = true;
      wake();
      await running;
      if (!nc.isClosed()) said.unsubscribe();
      saveMarks(true);
      for (const file of files.values()) if (file.fd !== undefined) fs.closeSync(file.fd);
    },
    stats() {
      let waitingBytes = 0;
      for (const file of files.values()) waitingBytes += file.size - Math.min(file.mark, file.size);
      return { waitingBytes, files: files.size, sentBytes, lostBytes, problem };
    },
    rotate,
    configure: changes => void Object.assign(settings, changes),
  };
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
