/**
 * The configuration stream as this node may see it: an ordered push consumer on `cfg.<zone>.>`, with its own place.
 *
 * JetStream's own ordered consumers keep their place in memory; ours is the durable cursor of the store, so a node that was
 * away goes on where it stopped. Ordered means: no acknowledgements, one delivery, and whenever the consumer sequence has a
 * gap, the heartbeat says we missed something, or the connection was lost, the consumer is thrown away and made anew from
 * the cursor (NATS ADR-17). The epoch is the creation time of the stream: another epoch, or a cursor beyond the stream's
 * end, means the sequences we know mean nothing, and everything is read from the start.
 */
import { randomBytes } from 'node:crypto';
import { type Msg, type NatsConnection, createInbox } from '@nats-io/transport-node';
import { streams, subjects } from '#contract/edge/subjects.ts';

export interface ConfigMessage {
  subject: string;
  /** sequence in the stream */
  seq: number;
  /** JSON text of a document; '' = gone */
  body: string;
  /** messages of the zone still to come */
  pending: number;
}

export interface FeedOptions {
  zoneID: number;
  inboxPrefix: string;
  /** How far the node is; asked at each start of a consumer. */
  position(): { epoch: string; cursor: number };
  /** The stream is read from its start: what is not mentioned from here on is gone. */
  restart(epoch: string): void;
  /** The consumer is made; so many messages are on their way. */
  following(pending: number): void;
  /** A message in stream order. Never throws. */
  take(message: ConfigMessage): void;
  /** null: the feed runs; else why it does not. */
  status(problem: string | null): void;
}

/** The server says it is alive this often when there is nothing to send; three missed ones are a lost consumer. */
const heartbeatMs = 2000;
const retryMs = 500;

interface StreamInfo {
  created: string;
  state: { last_seq: number };
}

/** Follows the stream until `stop` is called. Problems are told to `status` and tried again for ever. */
export function followConfig(nc: NatsConnection, options: FeedOptions): { stop(): Promise<void>; renew(): void } {
  const api = async <T>(verb: string, body: unknown): Promise<T> => {
    const request = nc.request(`$JS.API.${verb}`, JSON.stringify(body), { timeout: 5000 });
    // A request that a lost connection swallowed need not be waited for.
    const answer = await Promise.race([request, ended.then(why => Promise.reject(new Error(why)))]);
    const parsed = answer.json<T & { error?: { code: number; description: string } }>();
    if (parsed.error) throw new Error(`${verb.split('.').slice(0, 2).join('.')}: ${parsed.error.description}`);
    return parsed;
  };
  const streamInfo = () => api<StreamInfo>(`STREAM.INFO.${streams.config}`, {});

  let stopped = false;
  let endRound: (why: string) => void = () => {};
  let ended: Promise<string>;

  async function round(): Promise<string> {
    ended = new Promise<string>(done => (endRound = done));
    const info = await streamInfo();
    const place = options.position();
    const fresh = place.epoch !== info.created || place.cursor > info.state.last_seq;
    const name = `node_${randomBytes(9).toString('hex')}`;
    const inbox = createInbox(options.inboxPrefix);
    let open = false;
    let expected = 1;
    let heard = Date.now();
    const early: Msg[] = [];
    const receive = (msg: Msg) => {
      heard = Date.now();
      const code = msg.headers?.code;
      if (code === 100) {
        const last = msg.headers!.get('Nats-Last-Consumer');
        // Flow control asks for an answer; a heartbeat tells how far we should be.
        if (msg.reply) msg.respond();
        else if (last && Number(last) !== expected - 1) endRound('messages were missed');
        return;
      }
      if (code) return endRound(`the bus ended the consumer: ${msg.headers!.description}`);
      const meta = parseMeta(msg.reply);
      if (!meta || meta.consumerSeq !== expected) return endRound('messages were missed');
      expected++;
      options.take({ subject: msg.subject, seq: meta.streamSeq, body: msg.string(), pending: meta.pending });
    };
    const subscription = nc.subscribe(inbox, {
      callback: (error, msg) => {
        if (error) endRound(error.message);
        else if (open) receive(msg);
        else early.push(msg);
      },
    });
    const watch = setInterval(() => {
      if (Date.now() - heard > 3 * heartbeatMs) endRound('the bus is silent');
    }, heartbeatMs);
    let made = false;
    try {
      const filter = subjects.configOfZone(options.zoneID);
      const consumer = await api<{ num_pending: number }>(`CONSUMER.CREATE.${streams.config}.${name}.${filter}`, {
        stream_name: streams.config,
        config: {
          name,
          deliver_subject: inbox,
          filter_subject: filter,
          deliver_policy: 'by_start_sequence',
          opt_start_seq: fresh ? 1 : place.cursor + 1,
          ack_policy: 'none',
          replay_policy: 'instant',
          max_deliver: 1,
          idle_heartbeat: heartbeatMs * 1e6,
          flow_control: true,
          inactive_threshold: 30e9,
          mem_storage: true,
          num_replicas: 1,
        },
      });
      made = true;
      // The stream may have been made anew in between; the consumer would then count in another world.
      if ((await streamInfo()).created !== info.created) return 'the stream was made anew';
      if (fresh) options.restart(info.created);
      open = true;
      options.status(null);
      options.following(consumer.num_pending);
      for (const msg of early) receive(msg);
      return await ended;
    } finally {
      clearInterval(watch);
      subscription.unsubscribe();
      if (made && !nc.isClosed()) nc.publish(`$JS.API.CONSUMER.DELETE.${streams.config}.${name}`);
    }
  }

  const running = (async () => {
    while (!stopped && !nc.isClosed()) {
      let problem: string;
      try {
        problem = await round();
      } catch (error) {
        problem = (error as Error).message;
        if (!stopped)
          await Promise.race([new Promise(next => setTimeout(next, retryMs)), new Promise<string>(done => (endRound = done))]);
      }
      if (!stopped) options.status(problem);
    }
  })();

  return {
    /** The connection was made anew: read on from the cursor now instead of waiting for the heartbeat to miss. */
    renew: () => endRound('the connection was lost'),
    stop: async () => {
      stopped = true;
      endRound('stopped');
      await running;
    },
  };
}

/**
 * The reply subject of a JetStream delivery:
 * `$JS.ACK.[domain.account.]stream.consumer.delivered.streamSeq.consumerSeq.time.pending[.token]` (NATS ADR-15).
 */
function parseMeta(reply: string | undefined) {
  const tokens = reply?.split('.') ?? [];
  if (tokens.length < 9) return undefined;
  const at = tokens.length === 9 ? 5 : 7;
  return { streamSeq: Number(tokens[at]), consumerSeq: Number(tokens[at + 1]), pending: Number(tokens[at + 3]) };
}
