/**
 * The streams of the bus, each defined here and nowhere else.
 *
 *   CFG    the last document of each subject; what it stores it sends out again as `live.…`
 *   UP     what nodes say: in memory, the newest of each kind of each node
 *   LOGS   ranges of nodes' logs on their way to ingest
 *
 * UP and LOGS are the only ways from a node to us, and each answers by itself: nothing of ours listens to what nodes send, so a flood ends
 * in a stream that keeps one message (or 64) of each node and refuses the rest.
 */
import {
  type ConsumerConfig,
  type JetStreamManager,
  type MsgRequest,
  type StreamConfig,
  type StreamInfo,
  AckPolicy,
  DeliverPolicy,
  JetStreamApiError,
  jetstreamManager,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { streams, subjects, words } from '#contract/edge/subjects.ts';
import { nodePayloadMax } from './credentials.ts';

type Definition = Partial<StreamConfig> & { name: string };
/** Nanoseconds. The default of two minutes would take messages of different nodes with the same id for twins. */
const duplicateWindow = 100_000_000;

const configStream: Definition = {
  name: streams.config,
  subjects: [subjects.configAll],
  storage: 'file',
  retention: 'limits',
  discard: 'old',
  max_msgs_per_subject: 1,
  duplicate_window: duplicateWindow,
  republish: { src: subjects.configAll, dest: subjects.liveAll },
} as Definition;

const upStream: Definition = {
  name: streams.up,
  subjects: words.map(word => subjects.said(word, 0).replace(/0$/, '*')),
  storage: 'memory',
  retention: 'limits',
  discard: 'old',
  max_msgs_per_subject: 1,
  max_msg_size: 65_536,
  max_bytes: 128 * 2 ** 20,
  max_age: 60e9,
  duplicate_window: duplicateWindow,
} as Definition;

/** All server processes read through this one, so each message is taken by one of them. */
const upConsumer = 'server';
const upConsumerConfig = {
  durable_name: upConsumer,
  ack_policy: AckPolicy.None,
  deliver_policy: DeliverPolicy.All,
  mem_storage: true,
  // as many copies as its stream has
  num_replicas: 0,
} as ConsumerConfig;

/** A node that ships faster than ingest stores is refused alone beyond so many ranges; they wait in its files. */
export const logMessagesPerNode = 64;
/** @param maxBytes size of the whole stream on the bus's disk */
const logStream = (maxBytes: number): Definition =>
  ({
    name: streams.logs,
    subjects: [subjects.logAll],
    storage: 'file',
    retention: 'limits',
    discard: 'new',
    max_msgs_per_subject: logMessagesPerNode,
    discard_new_per_subject: true,
    max_msg_size: nodePayloadMax,
    max_bytes: maxBytes,
    max_age: 0,
    // Ranges are told apart by their positions; the bus need not look for twins.
    duplicate_window: duplicateWindow,
  }) as Definition;
export const logBytesDefault = 4 * 2 ** 30;

export interface StreamFacts {
  /** creation time: which life of the stream the sequences count in */
  epoch: string;
  firstSeq: number;
  lastSeq: number;
}

/** "This cannot be changed in place" (stream configuration, stream update); anything else is a trouble that passes. */
const unchangeable: readonly number[] = [10052, 10069];
const isMissing = (error: unknown) => error instanceof JetStreamApiError && error.code === 10059;

/** Each stream stands on as many servers of a cluster, so that one that dies takes nothing along. */
const copiesMost = 3;
/** "No suitable peers", "not enough resources", "replicas in a bus of one server": fewer servers than copies. */
const tooFewServers: readonly number[] = [10005, 10023, 10074];

/** Tries the most copies first. @throws what it was refused for, unless servers are lacking; then with one copy as well */
async function withCopies<T>(most: number, least: number, act: (copies: number) => Promise<T>): Promise<T> {
  for (let copies = most; ; copies--) {
    try {
      return await act(copies);
    } catch (error) {
      if (copies <= least || !(error instanceof JetStreamApiError) || !tooFewServers.includes(error.code)) throw error;
    }
  }
}

const add = (jsm: JetStreamManager, definition: Definition) =>
  withCopies(copiesMost, 1, copies =>
    jsm.streams.add({ ...definition, num_replicas: copies } as StreamConfig & { name: string }),
  );

/** More servers may be there than when it was made. */
async function raised(jsm: JetStreamManager, info: StreamInfo): Promise<StreamInfo> {
  const { name, num_replicas: has } = info.config;
  if (has >= copiesMost || !info.cluster?.name) return info;
  return withCopies(copiesMost, has + 1, copies => jsm.streams.update(name, { num_replicas: copies })).catch(error => {
    if (error instanceof JetStreamApiError) return info; // it is as it was, and is looked at again
    throw error;
  });
}

/** Gives UP and LOGS the copies they may have by now; CFG gets its own when it is looked at. */
export async function raiseCopies(nc: NatsConnection): Promise<void> {
  if (!nc.info?.cluster) return;
  const jsm = await jetstreamManager(nc);
  for (const name of [streams.up, streams.logs]) {
    const info = await jsm.streams.info(name).catch(error => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (info) await raised(jsm, info);
  }
}

/** What a definition says and the stream does not. JetStream adds fields and defaults of its own, so only ours are compared. */
function differs(definition: Definition, actual: StreamConfig): boolean {
  const same = (a: unknown, b: unknown): boolean =>
    typeof a === 'object' && a !== null
      ? typeof b === 'object' &&
        b !== null &&
        Object.entries(a).every(([key, value]) => same(value, (b as Record<string, unknown>)[key]))
      : a === b || (!a && b === undefined);
  return !same(definition, actual);
}

/**
 * The stream as it is, made if it does not exist and brought to its definition if it differs; what cannot be changed in place is made
 * anew. Nothing in a stream is precious: documents are published again, nodes send again what they say and log.
 */
async function ensure(jsm: JetStreamManager, definition: Definition): Promise<StreamFacts> {
  let info = await jsm.streams.info(definition.name).catch(error => {
    if (isMissing(error)) return add(jsm, definition);
    throw error;
  });
  if (differs(definition, info.config))
    info = await jsm.streams.update(definition.name, definition).catch(async error => {
      if (!(error instanceof JetStreamApiError) || !unchangeable.includes(error.code)) throw error; // it is as it was
      await jsm.streams.delete(definition.name);
      return add(jsm, definition);
    });
  info = await raised(jsm, info);
  return { epoch: String(info.created), firstSeq: info.state.first_seq, lastSeq: info.state.last_seq };
}

export async function ensureConfigStream(nc: NatsConnection): Promise<StreamFacts> {
  return ensure(await jetstreamManager(nc), configStream);
}

/** A new life for the stream: every document is published again. */
export async function renewConfigStream(nc: NatsConnection): Promise<StreamFacts> {
  const jsm = await jetstreamManager(nc);
  await jsm.streams.delete(streams.config);
  return ensure(jsm, configStream);
}

/** When it is full it refuses, and the lines wait on the nodes. */
export function ensureLogStream(jsm: JetStreamManager, maxBytes = logBytesDefault): Promise<LogStreamFacts> {
  return ensure(jsm, logStream(maxBytes));
}
export type LogStreamFacts = StreamFacts;

/** UP and its consumer: both are in memory, so a bus that was started again knows neither. @returns the consumer's name */
export async function ensureUpStream(nc: NatsConnection): Promise<string> {
  const jsm = await jetstreamManager(nc);
  await ensure(jsm, upStream);
  await jsm.consumers.add(streams.up, upConsumerConfig); // the same again is no error
  return upConsumer;
}

export interface StoredMessage {
  subject: string;
  seq: number;
  header(name: string): string;
  data: Uint8Array;
}

/** The messages of CFG after a sequence, in stream order. */
export async function* configAfter(nc: NatsConnection, after: number): AsyncGenerator<StoredMessage> {
  const jsm = await jetstreamManager(nc);
  for (let seq = after + 1; ; seq++) {
    // The client's type knows only the plain forms; the server takes "the next one from here on" since 2.9 (NATS ADR-31).
    const query = { seq, next_by_subj: subjects.configAll } as MsgRequest;
    const message = await jsm.streams.getMessage(streams.config, query);
    if (!message) return;
    seq = message.seq;
    yield { subject: message.subject, seq, header: name => message.header?.get(name) ?? '', data: message.data };
  }
}

/** Removes a message of CFG that is on no subject of ours. */
export async function removeConfigMessage(nc: NatsConnection, seq: number): Promise<void> {
  const jsm = await jetstreamManager(nc);
  await jsm.streams.deleteMessage(streams.config, seq);
}
