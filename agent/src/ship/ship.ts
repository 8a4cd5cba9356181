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
import { LogFolder, newFileID } from './files.ts';
import { type LogFile, newline, openSpool } from './spool.ts';
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

export function startShipper(options: ShipperOptions): Shipper {
  const { nc, names = own } = options;
  const settings = {
    rotateBytes: options.rotateBytes ?? 64 << 20,
    rotateSeconds: options.rotateSeconds ?? 0,
    diskBudgetBytes: options.diskBudgetBytes ?? 4 * 2 ** 30,
  };
  const log = options.log ?? (() => undefined);
  const folder = new LogFolder(options.logDir);
  const buffer = Buffer.allocUnsafe(logRangeMaxBytes);
  let problem: string | null = null;
  let stopping = false;
  let sentBytes = 0;
  let backoff = 0;
  let quietUntil = 0;
  let movedAt = performance.now();
  let probeWait = 3000;

  const spool = openSpool(folder, { settings, reopen: options.reopen, log });
  const { files } = spool;

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
    file.trouble = null;
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
    spool.look();
    if (performance.now() >= quietUntil && !nc.isClosed() && connected)
      for (const file of files.values()) {
        while (underWay < window && performance.now() >= quietUntil && spool.reading(file, () => step(file))) {
          some = true;
          await breath(); // the node's other work comes between two ranges
        }
        if (underWay >= window) break;
      }
    spool.tidy();
    if (connected && performance.now() >= quietUntil) probe();
    spool.saveMarks();
    return some;
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
        spool.stored(file, at);
        // Stored from an earlier life of this process: need not be sent again.
        if (file.sent < at && file.rewind === undefined && underWay === 0) file.sent = Math.min(at, file.size);
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
      spool.saveMarks(true);
      spool.close();
    },
    stats() {
      let waitingBytes = 0;
      for (const file of files.values()) waitingBytes += file.size - Math.min(file.mark, file.size);
      return { waitingBytes, files: files.size, sentBytes, ...spool.figures, problem, unread: spool.unread() };
    },
    rotate: spool.rotate,
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
