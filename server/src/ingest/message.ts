/** A message of a node's log as the bus hands it over. The subject says which node it is (the bus vouches for that); all else is the node's word and checked. */
import type { JsMsg } from '@nats-io/jetstream';
import { type LogKind, accessStream, logFileID, logHeaders } from '#contract/edge/log.ts';

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
  const from = position(header(logHeaders.from));
  const to = position(header(logHeaders.to));
  const sent = position(header(logHeaders.sent));
  if (!logFileID.test(file) || !(from <= to) || !['bytes', 'hole', 'gone'].includes(kind)) return;
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
    data: message.data,
  };
}

/** `7/k3j…` → `{nodeID: 7, file: 'k3j…'}` */
export function splitStream(stream: string) {
  const at = stream.indexOf('/');
  return { nodeID: Number(stream.slice(0, at)), file: stream.slice(at + 1) };
}
