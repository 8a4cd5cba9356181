/** A message of a node's log as the bus hands it over. The subject says which node it is (the bus vouches for that); all else is the node's word and checked. */
import zlib from 'node:zlib';
import type { JsMsg } from '@nats-io/jetstream';
import { logBounds } from '#contract/limits.ts';
import { type LogKind, accessStream, logFileID, logHeaders, logRangeMaxBytes, logRunID } from '#contract/edge/log.ts';

export interface LogMessage {
  nodeID: number;
  file: string;
  /** key of the byte stream in the ledger */
  stream: string;
  kind: LogKind;
  from: number;
  to: number;
  skewMs: number;
  receivedAt: number;
  /** which life of the agent sent it; empty when it does not say */
  run: string;
  data: Uint8Array;
}

const position = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : NaN);

/** Undefined for anything that is not a well-formed message of the access log. */
export function readMessage(message: JsMsg): LogMessage | undefined {
  const subject = /^log\.(\d{1,10})\.(\w+)$/.exec(message.subject);
  if (!subject || subject[2] !== accessStream || !message.headers) return;
  const header = (name: string) => message.headers!.get(name);
  const file = header(logHeaders.file);
  const kind = header(logHeaders.kind) as LogKind;
  const run = header(logHeaders.run);
  const from = position(header(logHeaders.from));
  const to = position(header(logHeaders.to));
  const sent = position(header(logHeaders.sent));
  const most = { bytes: logRangeMaxBytes, hole: logBounds.holeMaxBytes, gone: 0 }[kind];
  // What a range may say of itself is bounded: a part of it that is given up counts as lost.
  if (!logFileID.test(file) || most === undefined || !(from <= to && to - from <= most)) return;
  const nodeID = Number(subject[1]);
  const receivedMs = Number(message.timestampNanos / 1_000_000n);
  return {
    nodeID,
    file,
    stream: `${nodeID}/${file}`,
    kind,
    from,
    to,
    skewMs: Number.isNaN(sent) ? 0 : receivedMs - sent,
    receivedAt: receivedMs / 1000,
    run: logRunID.test(run) ? run : '',
    data: message.data,
  };
}

/** One range is at most 1 MB and takes under a millisecond; through the thread pool it takes five times the CPU. */
const whole = { chunkSize: logRangeMaxBytes, maxOutputLength: logRangeMaxBytes };

/** The bytes `[at, end)` of a message, or undefined when they are not what the message says. */
export function unpack(message: LogMessage, at: number, end = message.to): Buffer | undefined {
  const size = message.to - message.from;
  try {
    const raw = zlib.zstdDecompressSync(message.data, whole);
    return raw.length === size ? raw.subarray(at - message.from, end - message.from) : undefined;
  } catch {
    return undefined;
  }
}

/** `7/k3j…` → `{nodeID: 7, file: 'k3j…'}` */
export function splitStream(stream: string) {
  const at = stream.indexOf('/');
  return { nodeID: Number(stream.slice(0, at)), file: stream.slice(at + 1) };
}
