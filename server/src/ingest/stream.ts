/** The LOGS stream: a plain log between nodes and ingest. Nothing in it is precious: what it loses, nodes send again from their files. */
import { JetStreamApiError, type JetStreamManager, type StreamConfig } from '@nats-io/jetstream';
import { streams, subjects } from '#contract/edge/subjects.ts';

export interface LogStreamFacts {
  /** creation time: which life of the stream the sequences count in */
  epoch: string;
  firstSeq: number;
  lastSeq: number;
}

/**
 * The stream as it is, made if it does not exist. When it is full it refuses (`discard: new`), and the lines wait on the nodes.
 * @param maxBytes size of the whole stream on the bus's disk
 */
export async function ensureLogStream(jsm: JetStreamManager, maxBytes = 4 * 2 ** 30): Promise<LogStreamFacts> {
  const config = {
    name: streams.logs,
    subjects: [subjects.logAll],
    storage: 'file',
    retention: 'limits',
    discard: 'new',
    max_bytes: maxBytes,
    max_age: 0,
    // Ranges are told apart by their positions; the bus need not look for twins.
    duplicate_window: 100_000_000,
    num_replicas: 1,
  } as Partial<StreamConfig> & { name: string };
  const info = await jsm.streams.info(streams.logs).catch(error => {
    if (error instanceof JetStreamApiError && error.code === 10059) return jsm.streams.add(config); // stream not found
    throw error;
  });
  return { epoch: String(info.created), firstSeq: info.state.first_seq, lastSeq: info.state.last_seq };
}
