/** The CFG stream: it keeps the last document of each subject, so a node that asks from anywhere gets whole states. */
import {
  type JetStreamManager,
  type MsgRequest,
  type StreamConfig,
  JetStreamApiError,
  jetstreamManager,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { streams, subjects } from '#contract/edge/subjects.ts';

const config = {
  name: streams.config,
  subjects: [subjects.configAll],
  storage: 'file',
  retention: 'limits',
  discard: 'old',
  max_msgs_per_subject: 1,
  num_replicas: 1,
} as Partial<StreamConfig> & { name: string };

export interface StreamFacts {
  /** creation time: which life of the stream the sequences count in */
  epoch: string;
  lastSeq: number;
}

/** The stream as it is, made if it does not exist. */
export async function ensureConfigStream(nc: NatsConnection): Promise<StreamFacts> {
  const jsm = await jetstreamManager(nc);
  const info = await jsm.streams.info(streams.config).catch(error => {
    if (error instanceof JetStreamApiError && error.code === 10059) return jsm.streams.add(config); // stream not found
    throw error;
  });
  return { epoch: String(info.created), lastSeq: info.state.last_seq };
}

/** A new life for the stream: every node reads all of it again. */
export async function renewConfigStream(nc: NatsConnection): Promise<StreamFacts> {
  const jsm = await jetstreamManager(nc);
  await jsm.streams.delete(streams.config);
  return ensureConfigStream(nc);
}

/** Subjects of the messages after a sequence, each with its sequence, in stream order. */
export async function* subjectsAfter(nc: NatsConnection, after: number): AsyncGenerator<{ subject: string; seq: number }> {
  const jsm: JetStreamManager = await jetstreamManager(nc);
  for (let seq = after + 1; ; seq++) {
    // The client's type knows only the plain forms; the server takes "the next one from here on" since 2.9 (NATS ADR-31).
    const query = { seq, next_by_subj: subjects.configAll } as MsgRequest;
    const message = await jsm.streams.getMessage(streams.config, query);
    if (!message) return;
    seq = message.seq;
    yield { subject: message.subject, seq };
  }
}
